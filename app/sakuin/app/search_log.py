"""Keeping what is searched for, and what is opened, without ever standing in a search's way.

Notes are gathered in memory and written by a thread of the log's own, within a second, with
time-outs of its own. What the database does not take then is dropped, and counted.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.asked import Asked
from sakuin.app.redact import redact
from sakuin.app.search_log_rows import EXACT, Click, Search, Times
from sakuin.app.search_log_writer import LogWriter
from sakuin.app.settings import Settings
from sakuin.indexer.dialect import Dialect
from sakuin.queue import QueueError, open_engine
from sakuin.queue.replay import CANNOT_CONNECT

_LOG = logging.getLogger("sakuin.search_log")

EVERY_SECONDS = 1.0
"""How often notes are written; of one result's clicks in between one counts."""
PAUSE_SECONDS = 5.0
"""How long the database is left alone after a failure."""
MOST_SECONDS = 1
"""How long one answer of the database is waited for."""
MOST_PENDING = 1_000
"""How many different searches, and how many clicks, wait in memory at most."""


def logged_text(asked: Asked) -> str | None:
    """Return what the log knows a search by, or None for one that it does not keep.

    Kept are searches by words alone: what a filter left over says nothing about the words, and
    another way of writing would mislead whom it is suggested to.
    """
    if asked.filter.strip() or asked.within.strip():
        return None
    return redact(asked.text) if asked.dialect is Dialect.SAKUIN else None


class SearchLog:
    """Takes notes; safe for threads. Raises nothing for a database that cannot be used."""

    def __init__(self, engine: Engine, days: int, most: int) -> None:
        self._writer = LogWriter(engine, days, most)
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._searches: dict[Search, Times] = {}
        self._clicks: dict[Click, int] = {}
        self._dropped = 0
        self._is_away = False

    @property
    def dropped(self) -> int:
        """How many notes and clicks were lost: too many at once, or the database was away."""
        return self._dropped

    def note(self, index: str, asked: Asked, total: int, mode: str = EXACT) -> None:
        """Count a search, and remember its total; `logged_text` says which are kept.

        Only the first page counts, and no link of an answer (`generation`). Waits for nothing.
        """
        if asked.offset or asked.after is not None or asked.generation is not None:
            return
        text = logged_text(asked)
        if text is None:
            return
        search = Search(index, text, mode)
        with self._lock:
            known = self._searches.get(search, Times(0, 0))
            if not known.asked and len(self._searches) >= MOST_PENDING:
                self._dropped += 1
            else:
                self._searches[search] = Times(known.asked + 1, total)

    def click(self, click: Click, position: int) -> None:
        """Count that a result was opened; `position` is its place among the results, from 1.

        A click for a search that is not in the log counts nothing, nor one of a document whose
        id is very long. Waits for nothing.
        """
        if not click.fits():
            return
        with self._lock:
            if click not in self._clicks and len(self._clicks) >= MOST_PENDING:
                self._dropped += 1
            else:
                self._clicks.setdefault(click, position)

    def flush(self) -> bool:
        """Write what was noted so far; False where the database could not be used."""
        with self._writing:
            with self._lock:
                searches, self._searches = self._searches, {}
                clicks, self._clicks = self._clicks, {}
            left = sum(times.asked for times in searches.values()) + len(clicks)
            try:
                if left:
                    for written in self._writer.write(searches, clicks):
                        left -= written
                self._writer.tidy()
            except (SQLAlchemyError, QueueError, *CANNOT_CONNECT) as error:
                self._drop(left, error)
                return False
            self._is_away = False
            return True

    def _drop(self, left: int, error: Exception) -> None:
        with self._lock:
            self._dropped += left
        if not self._is_away:
            _LOG.warning("the search log cannot be written; what it misses is dropped: %s", error)
        self._is_away = True

    def run(self, stop: threading.Event) -> None:
        """Write every second until told to stop, and once more then."""
        pause = EVERY_SECONDS
        while not stop.wait(pause):
            pause = EVERY_SECONDS if self.flush() else PAUSE_SECONDS
        self.flush()


@contextmanager
def search_log(settings: Settings) -> Iterator[SearchLog | None]:
    """Lend the search log of a process, or None where it is off. Connects only to write."""
    if not settings.search_log:
        yield None
        return
    engine = open_impatiently(settings.database_url)
    log, stop = (
        SearchLog(engine, settings.search_log_days, settings.search_log_queries),
        threading.Event(),
    )
    writer = threading.Thread(target=log.run, args=(stop,), name="search log", daemon=True)
    writer.start()
    try:
        yield log
    finally:
        stop.set()
        writer.join()
        engine.dispose()


def open_impatiently(database_url: str) -> Engine:
    """Open the database with time-outs of MOST_SECONDS."""
    url = make_url(database_url)
    if url.get_backend_name() == "mysql":
        names = ("connect_timeout", "read_timeout", "write_timeout")
        url = url.update_query_dict({name: str(MOST_SECONDS) for name in names})
    elif "timeout" not in url.query:
        url = url.update_query_dict({"timeout": str(MOST_SECONDS)})
    return open_engine(url.render_as_string(hide_password=False))
