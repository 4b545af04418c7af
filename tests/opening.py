"""Small indexes of plain texts, opened and closed again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import engine_named
from sakuin.indexer.fold import Folding
from small_index import BODY, build, documents

Opened = Callable[..., Searcher]
"""Takes texts, and a `folding`; returns what searches them."""


@contextmanager
def opening_texts(engine_name: str, root: Path) -> Iterator[Opened]:
    """Index some texts with an engine at each call, and close all at the end."""
    engine = engine_named(engine_name)
    searchers: list[Searcher] = []

    def open_texts(*texts: str, folding: Folding | None = None) -> Searcher:
        fields = Fields(("body",), folding=folding) if folding else BODY
        place = build(engine, root / str(len(searchers)), documents(texts), fields=fields)
        searchers.append(engine.open_searcher(place, fields))
        return searchers[-1]

    yield open_texts
    for each in searchers:
        each.close()
