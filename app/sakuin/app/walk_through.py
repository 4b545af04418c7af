"""The whole way in one go, as `sakuin up` and `sakuin demo` show it: load, index, search, serve."""

import os
import re
import sys
import webbrowser
from collections.abc import Sequence

import typer

from sakuin.app.assemble import Parts, assemble, initialise
from sakuin.app.child_worker import child_worker
from sakuin.app.commands.options import put, say
from sakuin.app.listen import address_of, listen
from sakuin.app.load_files import Reading, load_files
from sakuin.app.load_report import print_report
from sakuin.app.search_times import time_searches
from sakuin.app.settings import Settings
from sakuin.indexer.engine import Order
from sakuin.indexer.query import Everything

_WORD = re.compile(r"[\u4e00-\u9fff々]{2,4}|[\u30a1-\u30faー]{3,}|[A-Za-z]{4,}")
_START_SECONDS = 30.0
"""How long the worker may take to start."""


def walk_through(
    settings: Settings, reading: Reading, *, words: Sequence[str] | None, serves: bool
) -> None:
    """Load, make searchable, time some searches, and serve until Ctrl-C if asked to.

    Without `words` the searches are for words of the text itself.
    """
    listener = listen(settings) if serves else None
    try:
        with assemble(settings) as parts:
            initialise(parts)
            with child_worker(settings):
                report = load_files(
                    parts, reading, append=False, wait=True, patience_seconds=_START_SECONDS
                )
                print_report(report)
                if not report.is_searchable:
                    raise typer.Exit(1)
                put("")
                put(str(time_searches(parts, words or _words_of(parts))))
                if listener is None:
                    return
                # The web framework takes a while to import; the first searches need not wait.
                from sakuin.app.web_server import serve

                address = address_of(listener, settings)
                serve(settings, listener, on_ready=lambda: _tell(address))
    finally:
        if listener is not None:
            listener.close()


def _tell(address: str) -> None:
    say(f"Serving {address} (Ctrl-C ends)")
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


def _words_of(parts: Parts) -> list[str]:
    """Return a word from each of the first documents: something that is surely found."""
    with parts.reader.open() as opened:
        if opened is None:
            return []
        found = opened.searcher.search(Everything(), order=Order.ID, offset=0, limit=3)
    words = []
    for hit in found.hits:
        body = hit.document.text[parts.index.fields.searched[0]]
        found_word = _WORD.search(body)
        words.append(found_word[0] if found_word else body.split()[0][:4])
    return list(dict.fromkeys(words))
