"""A search as people and programs see it: parse → pin → query → page → mark (S4, S6).

The index alone answers; the database is asked one bounded question about the rows of the page,
and when it is away the results are shown all the same.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.assemble import Parts
from sakuin.app.page import DEFAULT_PER_PAGE, Page
from sakuin.indexer.diagnostic import Diagnostic
from sakuin.indexer.document import Document
from sakuin.indexer.engine import Hits, Order
from sakuin.indexer.errors import (
    GenerationBroken,
    GenerationGone,
    GenerationMismatch,
    QueryTooLarge,
)
from sakuin.indexer.freshness import Freshness, freshness
from sakuin.indexer.highlight import Snippet, snippet
from sakuin.indexer.parse import parse, too_large
from sakuin.indexer.query import Query
from sakuin.queue import QueueError

SNIPPET_WIDTH = 320
_DEEPEST = 2**31


@dataclass(frozen=True, slots=True)
class Item:
    """One document of a page. `is_stale`: its row was edited since it was indexed."""

    document: Document
    score: float
    snippets: dict[str, Snippet]
    is_stale: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """One page of one search.

    `removed` are the ids that the page hides because their rows are gone; the total counts the
    generation, so it still includes them. `freshness` is None when the database could not be
    asked, and `trouble` says why.
    `restarted`: the generation asked for is gone, so this is page 1 of the current one.
    """

    query: str
    diagnostics: tuple[Diagnostic, ...]
    order: Order
    generation: int
    page: Page[Item]
    removed: tuple[str, ...]
    freshness: Freshness | None
    trouble: str
    restarted: bool
    seconds: float


def answer(
    parts: Parts,
    text: str,
    *,
    page: int = 1,
    per_page: int = DEFAULT_PER_PAGE,
    order: Order = Order.RELEVANCE,
    generation: int | None = None,
) -> Answer:
    """Search the current generation, or the one that a page link named while it is kept.

    `page` and `per_page` must be checked already. Raises the indexer's errors when the index
    cannot be read; never for what the text says.
    """
    start = time.perf_counter()
    parsed = parse(text)
    restarted = False
    try:
        number, hits = _search(parts, parsed.query, page, per_page, order, generation)
    except (GenerationGone, GenerationMismatch, GenerationBroken):
        if generation is None:
            raise
        page, restarted = 1, True
        number, hits = _search(parts, parsed.query, page, per_page, order, None)
    except QueryTooLarge:
        parsed = too_large(text)
        number, hits = _search(parts, parsed.query, page, per_page, order, generation)
    there, fresh, trouble = _ask_database(parts, [hit.document for hit in hits.hits])
    items = _items(parts, hits, parsed.query, there)
    removed = [h.document.id for h in hits.hits if there is not None and h.document.id not in there]
    return Answer(
        query=text,
        diagnostics=parsed.diagnostics,
        order=order,
        generation=number,
        page=Page(items=tuple(items), page=page, per_page=per_page, total=hits.total),
        removed=tuple(removed),
        freshness=fresh,
        trouble=trouble,
        restarted=restarted,
        seconds=time.perf_counter() - start,
    )


def _search(
    parts: Parts, query: Query, page: int, per_page: int, order: Order, generation: int | None
) -> tuple[int, Hits]:
    offset = (page - 1) * per_page
    limit = per_page if offset < _DEEPEST else 0
    with parts.reader.open(generation) as opened:
        if opened is None:
            return 0, Hits(0, ())
        hits = opened.searcher.search(query, order=order, offset=min(offset, _DEEPEST), limit=limit)
        if hits.total > per_page:
            parts.reader.keep(opened)
        return opened.number, hits


def _items(parts: Parts, hits: Hits, query: Query, there: Mapping[str, int] | None) -> list[Item]:
    """Make the items of the hits whose rows are there, by the rows' digests (None: unknown)."""
    return [
        Item(
            hit.document,
            hit.score,
            _snippets(parts, hit.document, query),
            is_stale=there is not None and there[hit.document.id] != hit.document.digest,
        )
        for hit in hits.hits
        if there is None or hit.document.id in there
    ]


def _ask_database(
    parts: Parts, documents: Sequence[Document]
) -> tuple[dict[str, int] | None, Freshness | None, str]:
    """Return the digests that the page's rows have now, and the freshness; None, and why not."""

    def look(connection: Connection) -> tuple[Sequence[Document], Freshness]:
        ids = [document.id for document in documents]
        rows = parts.index.loader.load(connection, ids) if ids else []
        return rows, freshness(connection, parts.index, parts.copy.generations)

    try:
        rows, fresh = parts.row_check.ask(look)
    except (SQLAlchemyError, QueueError) as error:
        return None, None, str(error)
    return {row.id: row.digest for row in rows}, fresh, ""


def _snippets(parts: Parts, document: Document, query: Query) -> dict[str, Snippet]:
    return {
        name: snippet(document.text[name], query, SNIPPET_WIDTH)
        for name in parts.index.fields.searched
    }
