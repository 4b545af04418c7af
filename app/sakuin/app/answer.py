"""A search as people and programs see it: parse → pin → query → page → mark (S4, S6).

The index alone answers; the database is asked one bounded question about the rows of the page,
and when it is away the results are shown all the same.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.asked import MOST_OFFSET, Asked, ask
from sakuin.app.assemble import Parts
from sakuin.app.page import DEFAULT_PER_PAGE, Page
from sakuin.app.refused import Refused
from sakuin.indexer.diagnostic import Diagnostic
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Document
from sakuin.indexer.engine import Hit, Order
from sakuin.indexer.errors import (
    GenerationBroken,
    GenerationGone,
    GenerationMismatch,
    QueryTooLarge,
)
from sakuin.indexer.freshness import Freshness, freshness
from sakuin.indexer.highlight import Snippet, snippet
from sakuin.indexer.parse import too_large
from sakuin.indexer.query import Query
from sakuin.queue import QueueError

SNIPPET_WIDTH = 320


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

    `diagnostics` are about `query`, `filter_diagnostics` about `filter`.
    `removed` are the ids that the page hides because their rows are gone; the total counts the
    generation, so it still includes them. `freshness` is None when the database could not be
    asked, and `trouble` says why.
    `restarted`: the generation asked for is gone, so this is page 1 of the current one; after
    an id it is simply the current one, behind that id.
    `next_after`: in the order of ids, what `after` must be for what follows; None at the end.
    """

    query: str
    diagnostics: tuple[Diagnostic, ...]
    filter: str
    filter_diagnostics: tuple[Diagnostic, ...]
    order: Order
    after: str | None
    next_after: str | None
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
    filter: str = "",  # noqa: A002  the name of the parameter in addresses
    dialect: Dialect = Dialect.SAKUIN,
    after: str | None = None,
) -> Answer:
    """Search the current generation, or the one that a page link named while it is kept.

    `filter` is a second query, which must match too and is never highlighted; alone it finds
    all that match it. `after`, in the order of ids, asks for what follows that id.

    `page` and `per_page` must be checked already. Raises Refused for a page beyond MOST_OFFSET
    hits, an order that the index does not have, or `after` in another one; the indexer's errors
    when the index cannot be read; never for what the texts say.
    """
    start = time.perf_counter()
    asked = ask(
        parts.index,
        text,
        filter,
        page=page,
        per_page=per_page,
        order=order,
        dialect=dialect,
        after=after,
    )
    asked, number, hits, restarted = _find(parts, asked, generation)
    there, fresh, trouble = _ask_database(parts, [hit.document for hit in hits.hits])
    items = _items(parts, hits, asked.parsed.query, there)
    removed = [h.document.id for h in hits.hits if there is not None and h.document.id not in there]
    return Answer(
        query=text,
        diagnostics=asked.parsed.diagnostics,
        filter=filter,
        filter_diagnostics=asked.filtered.diagnostics if asked.filtered else (),
        order=order,
        after=after,
        next_after=hits.next_after,
        generation=number,
        page=Page(items=tuple(items), page=asked.page, per_page=per_page, total=hits.total),
        removed=tuple(removed),
        freshness=fresh,
        trouble=trouble,
        restarted=restarted,
        seconds=time.perf_counter() - start,
    )


@dataclass(frozen=True, slots=True)
class _PageOfHits:
    """The hits of one page, and the last of them where more follow in the order of ids."""

    total: int
    hits: tuple[Hit, ...]
    next_after: str | None = None


def _find(
    parts: Parts, asked: Asked, generation: int | None
) -> tuple[Asked, int, _PageOfHits, bool]:
    """Search; return what was searched for in the end, where, the hits, and if it began anew."""
    restarted = False
    while True:
        try:
            number, hits = _search(parts, asked, generation)
        except (GenerationGone, GenerationMismatch, GenerationBroken):
            if generation is None:
                raise
            asked, generation, restarted = replace(asked, page=1), None, True
        except QueryTooLarge:
            asked = replace(asked, parsed=too_large(asked.text))
        else:
            return asked, number, hits, restarted


def _search(parts: Parts, asked: Asked, generation: int | None) -> tuple[int, _PageOfHits]:
    """Search one page; in the order of ids one hit more, which tells that there are more."""
    offset = asked.offset
    limit = asked.per_page + (asked.order is Order.ID) if offset <= MOST_OFFSET else 0
    with parts.reader.open(generation) as opened:
        if opened is None:
            return 0, _PageOfHits(0, ())
        hits = opened.searcher.search(
            asked.tree,
            order=asked.order,
            offset=min(offset, MOST_OFFSET),
            limit=limit,
            after=asked.after,
        )
        if MOST_OFFSET < offset < hits.total:
            raise Refused(
                "page",
                f"numbers reach {MOST_OFFSET:,} hits: further on use order=id and after=, "
                "which each answer in that order gives as next_after",
            )
        if hits.total > asked.per_page:
            parts.reader.keep(opened)
        shown = hits.hits[: asked.per_page]
        last = shown[-1].document.id if len(hits.hits) > len(shown) else None
        return opened.number, _PageOfHits(hits.total, shown, last)


def _items(
    parts: Parts, hits: _PageOfHits, query: Query, there: Mapping[str, int] | None
) -> list[Item]:
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
    except (SQLAlchemyError, QueueError, ValueError, TypeError) as error:
        # The last two: a row that cannot be a document any more. The index answers all the same.
        return None, None, str(error)
    return {row.id: row.digest for row in rows}, fresh, ""


def _snippets(parts: Parts, document: Document, query: Query) -> dict[str, Snippet]:
    fields = parts.index.fields
    return {
        name: snippet(document.text[name], query, SNIPPET_WIDTH, folding=fields.folding, field=name)
        for name in fields.searched
    }
