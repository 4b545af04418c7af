"""A search as people and programs see it: its hits, what is true of their rows now, freshness (S6).

The index alone answers; the database is asked one bounded question about the rows of the page,
and when it is away the results are shown all the same.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from sakuin.app.asked import Asked
from sakuin.app.assemble import Parts
from sakuin.app.page import DEFAULT_PER_PAGE, Page
from sakuin.app.refused import Refused
from sakuin.app.search_generation import search_page
from sakuin.app.searched import Searched, highlights
from sakuin.indexer.diagnostic import Diagnostic
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Document
from sakuin.indexer.engine import Hit, Order
from sakuin.indexer.facet import Counts
from sakuin.indexer.freshness import Freshness, freshness
from sakuin.indexer.highlight import Piece
from sakuin.indexer.suggestion import Suggestion
from sakuin.queue import QueueError


@dataclass(frozen=True, slots=True)
class Item:
    """One document of a page. `is_stale`: its row was edited since it was indexed."""

    document: Document
    score: float
    highlights: dict[str, tuple[Piece, ...]]
    is_stale: bool


@dataclass(frozen=True, slots=True)
class Closest:
    """What is closest to a search that found nothing: the best, and how many have any word."""

    total: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """One page of one search.

    `asked` is what was asked for in the beginning.
    `diagnostics` are about its text, `filter_diagnostics` about its filter.
    `removed` are the ids that the page hides because their rows are gone; the total counts the
    generation, so it still includes them. `freshness` is None when the database could not be
    asked, and `trouble` says why.
    `restarted`: the generation asked for is gone, so this is page 1 of the current one; after
    an id it is simply the current one, behind that id.
    `next_after`: in the order of ids, what `after` must be for what follows; None at the end.
    `counts` are those of the facets. Where nothing was found, and help was asked for: `meant`
    are queries that find something, `closest` what has any of the words.
    """

    asked: Asked
    diagnostics: tuple[Diagnostic, ...]
    filter_diagnostics: tuple[Diagnostic, ...]
    next_after: str | None
    generation: int
    page: Page[Item]
    removed: tuple[str, ...]
    freshness: Freshness | None
    trouble: str
    restarted: bool
    counts: tuple[Counts, ...]
    meant: tuple[Suggestion, ...]
    closest: Closest | None
    seconds: float

    @property
    def was_searched(self) -> bool:
        """Tell whether text and filter were searched; a remark says why not."""
        remarks = (*self.diagnostics, *self.filter_diagnostics)
        return not any(each.code.refuses for each in remarks)


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
    """Answer a search that is told by its parts; BadPage for a page that cannot be."""
    asked = Asked(
        text=text,
        filter=filter,
        dialect=dialect,
        order=order,
        after=after,
        generation=generation,
    )
    return answer_to(parts, asked.at_page(page, per_page))


def answer_to(parts: Parts, asked: Asked) -> Answer:
    """Search the current generation, or the one that a page link named while it is kept.

    Raises Refused for a page beyond MOST_OFFSET hits, an order that the index does not have, or
    an `after` that does not fit; the indexer's errors when the index cannot be read; never for
    what text and filter say.
    """
    start = time.perf_counter()
    if asked.after is not None and asked.offset:
        raise Refused("after", "counts from the id that it names: leave page out")
    found = search_page(parts.reader, parts.index, asked, parts.current_synonyms())
    instead = found.instead
    hits = found.hits + (instead.closest.hits if instead else ())
    there, fresh, trouble = _ask_database(parts, [hit.document for hit in hits])
    items = _items(parts, found, hits, there)
    return Answer(
        asked=asked,
        diagnostics=found.parsed.diagnostics,
        filter_diagnostics=found.filtered.diagnostics if found.filtered else (),
        next_after=found.next_after,
        generation=found.generation,
        page=Page(
            items=() if instead else items,
            page=found.asked.page,
            per_page=asked.limit,
            total=found.total,
        ),
        removed=_removed(found.hits, there),
        freshness=fresh,
        trouble=trouble,
        restarted=found.restarted,
        counts=found.counts,
        meant=instead.meant if instead else (),
        closest=Closest(instead.closest.total, items) if instead else None,
        seconds=time.perf_counter() - start,
    )


def _removed(hits: Sequence[Hit], there: Mapping[str, int] | None) -> tuple[str, ...]:
    ids = (hit.document.id for hit in hits)
    return () if there is None else tuple(one for one in ids if one not in there)


def _items(
    parts: Parts, found: Searched, hits: Sequence[Hit], there: Mapping[str, int] | None
) -> tuple[Item, ...]:
    """Make the items of the hits whose rows are there, by the rows' digests (None: unknown)."""
    fields = parts.index.fields
    marked = found.marked(fields)
    return tuple(
        Item(
            hit.document,
            hit.score,
            highlights(fields, hit.document, marked),
            is_stale=there is not None and there[hit.document.id] != hit.document.digest,
        )
        for hit in hits
        if there is None or hit.document.id in there
    )


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
