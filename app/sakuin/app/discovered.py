"""What a search offers beside the exact answer, from the same generation of the index.

Nothing of this is mixed into what the exact search finds.
"""

from dataclasses import dataclass

from sakuin.app.refused import Refused
from sakuin.indexer.closest import search_closest
from sakuin.indexer.did_you_mean import did_you_mean
from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Hits, Searcher
from sakuin.indexer.query import Query
from sakuin.indexer.similar import search_similar
from sakuin.indexer.suggestion import Suggestion

MOST_MEANT = 3


@dataclass(frozen=True, slots=True)
class Instead:
    """What to offer where nothing was found: other queries, which find something, and the closest.

    `closest` has the exact total of documents that have any of the words.
    """

    meant: tuple[Suggestion, ...]
    closest: Hits


def similar_to(
    searcher: Searcher,
    fields: Fields,
    document: str,
    *,
    within: Query | None,
    offset: int,
    limit: int,
) -> Hits:
    """Return documents similar to one; Refused where the generation has no such document."""
    try:
        return search_similar(searcher, fields, document, within=within, offset=offset, limit=limit)
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
