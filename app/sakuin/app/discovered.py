"""What a search offers beside the exact answer, from the same generation of the index.

Nothing of this is mixed into what the exact search finds.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sakuin.app.asked import Asked
from sakuin.app.refused import Refused
from sakuin.indexer.closest import closest_search, search_closest
from sakuin.indexer.did_you_mean import did_you_mean
from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Hits, Order, Searcher
from sakuin.indexer.query import Query
from sakuin.indexer.similar import similar_query
from sakuin.indexer.suggestion import Suggestion
from sakuin.indexer.synonyms import Synonyms

MOST_MEANT = 3


@dataclass(frozen=True, slots=True)
class Instead:
    """What to offer where nothing was found: other queries, which find something, and the closest.

    `closest` has the exact total of documents that have any of the words.
    """

    meant: tuple[Suggestion, ...]
    closest: Hits


@dataclass(frozen=True, slots=True)
class Ranked:
    """A search for what is close or similar: the query for all of it, and its pages."""

    query: Query
    page: Callable[[int, int], Hits]


def ranked_search(searcher: Searcher, fields: Fields, asked: Asked, within: Query | None) -> Ranked:
    """Return the search for what is close to the words, or similar to a document.

    Refused where the generation has no such document.
    """
    if asked.like is None:
        closest = closest_search(searcher, fields, asked.text, within=within)
        return Ranked(closest.query, closest.page)
    try:
        query = similar_query(searcher, fields, asked.like, within=within)
    except KeyError:
        raise Refused(
            "like", f"names document {asked.like[:40]!r}, which the index does not have"
        ) from None
    return Ranked(query, exact_pages(searcher, query, Order.RELEVANCE))


def exact_pages(
    searcher: Searcher, query: Query, order: Order, after: str | None = None
) -> Callable[[int, int], Hits]:
    """Return the pages of an exact search: hits from an offset, so many."""

    def page(offset: int, limit: int) -> Hits:
        return searcher.search(query, order=order, offset=offset, limit=limit, after=after)

    return page


def instead_of(
    searcher: Searcher,
    fields: Fields,
    text: str,
    *,
    within: Query | None,
    limit: int,
    synonyms: Synonyms | None,
) -> Instead:
    """Return what to offer to those who looked for a text and found nothing."""
    return Instead(
        did_you_mean(searcher, fields, text, most=MOST_MEANT, within=within, synonyms=synonyms),
        search_closest(searcher, fields, text, within=within, offset=0, limit=limit),
    )
