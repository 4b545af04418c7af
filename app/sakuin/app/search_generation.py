"""One search of one index: parse → pin → query → one page of hits (S4). Asks no database.

All that is told comes from one generation: hits, total, facets, and what to offer instead.
"""

from dataclasses import replace

from sakuin.app.asked import Asked
from sakuin.app.discovered import Ranked, exact_pages, instead_of, ranked_search
from sakuin.app.refused import Refused
from sakuin.app.searched import Searched
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.errors import (
    GenerationBroken,
    GenerationGone,
    GenerationMismatch,
    QueryTooLarge,
    TooManySteps,
)
from sakuin.indexer.facet import Counts, Step
from sakuin.indexer.index import Index
from sakuin.indexer.limits import DEFAULT_LIMITS
from sakuin.indexer.parse import Parsed, parse, too_large
from sakuin.indexer.query import Nothing, Query
from sakuin.indexer.reader import Reader
from sakuin.indexer.synonyms import Synonyms

_LONGER = {Step.DAY: Step.MONTH, Step.MONTH: Step.YEAR}

MOST_OFFSET = 100_000
"""How many hits can be skipped; further on, `after` goes on in the order of ids."""


def search_page(
    reader: Reader, index: Index, asked: Asked, synonyms: Synonyms | None = None
) -> Searched:
    """Search the generation that is asked for while it is kept, otherwise the current one.

    `synonyms` widen the words (of what is exact), never a filter; a remark says so.

    Raises Refused for what does not fit the index, and for an offset beyond MOST_OFFSET that has
    hits; ValueError for a `within` that cannot be searched; the indexer's errors when the index
    cannot be read; never for what text and filter say.
    """
    asked.check(index)
    fields = index.fields
    found = Searched(
        asked=asked,
        parsed=_parsed(fields, asked, synonyms),
        filtered=parse(asked.filter, fields=fields, strict=True) if asked.filter.strip() else None,
        within=own_filter(index, asked.within),
    )
    try:
        return _search(reader, fields, found, synonyms)
    except (GenerationGone, GenerationMismatch, GenerationBroken):
        if not asked.generation:
            raise
    anew = replace(asked, offset=0, generation=None)
    return replace(_search(reader, fields, replace(found, asked=anew), synonyms), restarted=True)


def _parsed(fields: Fields, asked: Asked, synonyms: Synonyms | None) -> Parsed:
    """Parse the words; where they only are to be close, nothing in them is an operator."""
    if asked.is_ranked and len(asked.text) <= DEFAULT_LIMITS.length:
        return Parsed(Nothing(), ())
    return parse(asked.text, fields=fields, dialect=asked.dialect, synonyms=synonyms)


def own_filter(index: Index, text: str) -> Query | None:
    """Parse a filter of the program's own; ValueError where it could only ever find nothing."""
    if not text.strip():
        return None
    parsed = parse(text, fields=index.fields, strict=True)
    if parsed.refused:
        raise ValueError(f"filter: {parsed.diagnostics[0].message}")
    return parsed.query


def _search(reader: Reader, fields: Fields, found: Searched, synonyms: Synonyms | None) -> Searched:
    with reader.open(found.asked.generation) as opened:
        if opened is None:
            return found
        found = replace(found, generation=opened.number)
        found = _look(opened.searcher, fields, found, synonyms)
        if found.total > found.asked.limit > 0:
            reader.keep(opened)
        return found


def _look(
    searcher: Searcher, fields: Fields, found: Searched, synonyms: Synonyms | None
) -> Searched:
    """Search, count, and offer something instead of nothing."""
    asked = found.asked
    if found.refused:
        return found
    try:
        search = _search_of(searcher, fields, found)
        found = _page(search, found)
        counts = _counted(searcher, search.query, asked) if asked.facets else ()
    except QueryTooLarge as why:
        return _too_large(searcher, found, why)
    found = replace(found, counts=counts)
    if not asked.helps or found.total or asked.is_ranked or not _is_plain(found):
        return found
    offer = instead_of(
        searcher,
        fields,
        asked.text,
        within=found.condition,
        limit=asked.limit,
        synonyms=synonyms,
    )
    return replace(found, instead=offer)


def _search_of(searcher: Searcher, fields: Fields, found: Searched) -> Ranked:
    """Return the search, whichever way documents are found."""
    asked = found.asked
    if asked.is_ranked:
        return ranked_search(searcher, fields, asked, found.condition)
    return Ranked(found.tree, exact_pages(searcher, found.tree, asked.order, asked.after))


def _counted(searcher: Searcher, query: Query, asked: Asked) -> tuple[Counts, ...]:
    """Count; where steps of time are too many, longer ones are taken if that is allowed."""
    facets = asked.facets
    while True:
        try:
            return searcher.count(query, facets)
        except TooManySteps as error:
            if not asked.coarsens:
                raise Refused("facets", f"cannot be counted: {error}") from None
        facets = tuple(
            replace(each, step=_LONGER[each.step]) if each.step else each
            for each in facets
            if each.step is not Step.YEAR
        )


def _is_plain(found: Searched) -> bool:
    """Whether there are words, in our own language, that were searched for."""
    asked = found.asked
    return bool(asked.text.strip()) and asked.dialect is Dialect.SAKUIN and asked.after is None


def _page(search: Ranked, found: Searched) -> Searched:
    """Search; in the order of ids for one hit more, which tells that there are more."""
    asked = found.asked
    limit = asked.limit + (asked.order is Order.ID and asked.limit > 0)
    hits = search.page(min(asked.offset, MOST_OFFSET), limit if asked.offset <= MOST_OFFSET else 0)
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
