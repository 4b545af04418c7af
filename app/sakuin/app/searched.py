"""One search of one index: parse → pin → query → one page of hits (S4). Asks no database."""

from dataclasses import dataclass, replace

from sakuin.app.asked import Asked
from sakuin.app.refused import Refused
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit, Order, Searcher
from sakuin.indexer.errors import (
    GenerationBroken,
    GenerationGone,
    GenerationMismatch,
    QueryTooLarge,
)
from sakuin.indexer.highlight import Piece, snippet
from sakuin.indexer.index import Index
from sakuin.indexer.parse import Parsed, parse, too_large
from sakuin.indexer.query import And, Nothing, Query
from sakuin.indexer.reader import Reader

MOST_OFFSET = 100_000
"""How many hits can be skipped; further on, `after` goes on in the order of ids."""

SNIPPET_WIDTH = 320


@dataclass(frozen=True, slots=True)
class Searched:
    """What was found.

    `asked` is what was searched for in the end: where its generation is gone (`restarted`), the
    beginning of the current one. `filtered` is None where no filter was given. `generation` is 0
    where nothing was indexed yet. `next_after`: in the order of ids, what `after` must be for
    what follows; None at the end.
    """

    asked: Asked
    parsed: Parsed
    filtered: Parsed | None
    within: Query | None
    generation: int = 0
    total: int = 0
    hits: tuple[Hit, ...] = ()
    next_after: str | None = None
    restarted: bool = False

    @property
    def tree(self) -> Query:
        """What must match. A query or a filter that was refused keeps anything from it."""
        if self.parsed.refused or (self.filtered and self.filtered.refused):
            return Nothing()
        parts = [self.filtered.query] if self.filtered else []
        if self.asked.text.strip() or not parts:
            parts.insert(0, self.parsed.query)
        if self.within is not None:
            parts.append(self.within)
        return parts[0] if len(parts) == 1 else And(tuple(parts))


def search_page(reader: Reader, index: Index, asked: Asked) -> Searched:
    """Search the generation that is asked for while it is kept, otherwise the current one.

    Raises Refused for what does not fit the index, and for an offset beyond MOST_OFFSET that has
    hits; ValueError for a `within` that cannot be searched; the indexer's errors when the index
    cannot be read; never for what text and filter say.
    """
    asked.check(index)
    fields = index.fields
    found = Searched(
        asked=asked,
        parsed=parse(asked.text, fields=fields, dialect=asked.dialect),
        filtered=parse(asked.filter, fields=fields, strict=True) if asked.filter.strip() else None,
        within=own_filter(index, asked.within),
    )
    try:
        return _search(reader, found)
    except (GenerationGone, GenerationMismatch, GenerationBroken):
        if not asked.generation:
            raise
    anew = replace(asked, offset=0, generation=None)
    return replace(_search(reader, replace(found, asked=anew)), restarted=True)


def own_filter(index: Index, text: str) -> Query | None:
    """Parse a filter of the program's own; ValueError where it could only ever find nothing."""
    if not text.strip():
        return None
    parsed = parse(text, fields=index.fields, strict=True)
    if parsed.refused:
        raise ValueError(f"filter: {parsed.diagnostics[0].message}")
    return parsed.query


def highlights(fields: Fields, document: Document, query: Query) -> dict[str, tuple[Piece, ...]]:
    """Cut what to show of each searched field: the pieces, joined, are the cut text."""
    return {
        name: snippet(
            document.text[name], query, SNIPPET_WIDTH, folding=fields.folding, field=name
        ).pieces
        for name in fields.searched
    }


def _search(reader: Reader, found: Searched) -> Searched:
    with reader.open(found.asked.generation) as opened:
        if opened is None:
            return found
        found = _hits(opened.searcher, replace(found, generation=opened.number))
        if found.total > found.asked.limit > 0:
            reader.keep(opened)
        return found


def _hits(searcher: Searcher, found: Searched) -> Searched:
    """Search; in the order of ids for one hit more, which tells that there are more."""
    asked = found.asked
    limit = asked.limit + (asked.order is Order.ID and asked.limit > 0)
    try:
        hits = searcher.search(
            found.tree,
            order=asked.order,
            offset=min(asked.offset, MOST_OFFSET),
            limit=limit if asked.offset <= MOST_OFFSET else 0,
            after=asked.after,
        )
    except QueryTooLarge as why:
        return _too_large(searcher, found, why)
    if MOST_OFFSET < asked.offset < hits.total:
        raise Refused(
            "page",
            f"numbers reach {MOST_OFFSET:,} hits: further on use order=id and after=, "
            "which each answer in that order gives as next_after",
        )
    shown = hits.hits[: asked.limit]
    last = shown[-1].document.id if len(hits.hits) > len(shown) else None
    return replace(found, total=hits.total, hits=shown, next_after=last)


def _too_large(searcher: Searcher, found: Searched, why: QueryTooLarge) -> Searched:
    """Return that nothing was searched, because of the filter or otherwise of the query."""
    if found.filtered is not None:
        try:
            searcher.search(found.filtered.query, order=Order.ID, offset=0, limit=0)
        except QueryTooLarge as its_own:
            return replace(found, filtered=too_large(found.asked.filter, its_own))
    return replace(found, parsed=too_large(found.asked.text, why))
