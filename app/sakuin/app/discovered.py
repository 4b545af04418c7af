"""What a search offers beside the exact answer, from the same generation of the index.

Nothing of this is mixed into what the exact search finds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sakuin.app.asked import Asked
from sakuin.app.refused import Refused
from sakuin.indexer.closest import closest_query, search_closest
from sakuin.indexer.did_you_mean import did_you_mean
from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Hits, Searcher
from sakuin.indexer.query import Query
from sakuin.indexer.similar import search_similar, similar_query
from sakuin.indexer.suggestion import Suggestion

MOST_MEANT = 3


@dataclass(frozen=True, slots=True)
class Instead:
    """What to offer where nothing was found: other queries, which find something, and the closest.

    `closest` has the exact total of documents that have any of the words.
    """

    meant: tuple[Suggestion, ...]
    closest: Hits


def search_ranked(
    searcher: Searcher, fields: Fields, asked: Asked, within: Query | None, offset: int, limit: int
) -> Hits:
    """Return what is close to the words, or similar to a document.

    Refused where the generation has no such document.
    """
    if asked.like is None:
        return search_closest(
            searcher, fields, asked.text, within=within, offset=offset, limit=limit
        )
    with _known(asked.like):
        return search_similar(
            searcher, fields, asked.like, within=within, offset=offset, limit=limit
        )


def ranked_query(searcher: Searcher, fields: Fields, asked: Asked, within: Query | None) -> Query:
    """Return the query for all that `search_ranked` finds, to be counted."""
    if asked.like is None:
        return closest_query(searcher, fields, asked.text, within=within)
    with _known(asked.like):
        return similar_query(searcher, fields, asked.like, within=within)


@contextmanager
def _known(document: str) -> Iterator[None]:
    try:
        yield
    except KeyError:
        raise Refused(
            "like", f"names document {document[:40]!r}, which the index does not have"
        ) from None


def instead_of(
    searcher: Searcher,
    fields: Fields,
    text: str,
    *,
    within: Query | None,
    limit: int,
) -> Instead:
    """Return what to offer to those who looked for a text and found nothing."""
    return Instead(
        did_you_mean(searcher, fields, text, most=MOST_MEANT, within=within),
        search_closest(searcher, fields, text, within=within, offset=0, limit=limit),
    )
