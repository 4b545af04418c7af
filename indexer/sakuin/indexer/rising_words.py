"""Words that come up: more documents hold them since a time than their share before lets expect.

Words are ranked by (observed + 1) / (expected + 1) documents, where expected is what their share
before would give. It is the ratio of shares with a constant added to both, of one document here:
Adam Kilgarriff, Simple maths for keywords, Proceedings of Corpus Linguistics 2009. The constant
keeps words that three documents hold by chance behind those that many do.
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.query import And, Query, Range

_LEAST_DOCUMENTS = 3
_MOST_ALIKE = 100_000  # words that may begin as one does


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many words are read at once, of each time, and how many are asked for one by one."""

    recent: int = 2_000
    before: int = 5_000
    asked: int = 60


_USUAL = Bounds()


@dataclass(frozen=True, slots=True)
class RisingWord:
    """A word, folded, and how many documents hold it: of those since the time, and before."""

    word: str
    documents: int
    before: int


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    rank: float
    word: str
    documents: int
    before: int
    is_exact: bool


def rising_words(
    searcher: Searcher,
    fields: Fields,
    *,
    since: int,
    within: Query | None = None,
    most: int = 20,
    bounds: Bounds = _USUAL,
) -> tuple[RisingWord, ...]:
    """Return the words that rise most since a time (microseconds since 1970 UTC), with counts.

    Only words that at least three documents of `within` (None: all) hold since then. Looked at
    are the 2,000 most frequent of them; of those that are not among the 5,000 most frequent ones of
    before, only the 60 that may rise most, so that others of these may be missing. None is wrong.
    Time is that of a document's `created`: ValueError for an index without it.
    """
    if not fields.timed:
        raise ValueError("the documents of this index have no time: no word can rise")
    recent = _among(Range("created", since, None), within)
    earlier = _among(Range("created", None, since - 1), within)
    old, new = (_count(searcher, each) for each in (earlier, recent))
    growth = new / old if old else 0.0
    read = searcher.words("", among=earlier, most=bounds.before)
    before = {each.word: each.documents for each in read}
    knows_all = len(read) < bounds.before
    waiting = [
        _candidate(each.word, each.documents, before.get(each.word), growth, knows_all)
        for each in searcher.words("", among=recent, most=bounds.recent)
        if each.documents >= _LEAST_DOCUMENTS
    ]
    heapify(waiting)
    rising: list[RisingWord] = []
    asked = 0
    while waiting and len(rising) < most:
        best = heappop(waiting)
        if best.is_exact:
            rising.append(RisingWord(best.word, best.documents, best.before))
        elif asked < bounds.asked:
            asked += 1
            exact = _held(searcher, best.word, earlier)
            heappush(waiting, _candidate(best.word, best.documents, exact, growth, True))
    return tuple(each for each in rising if each.documents > each.before * growth)


def _candidate(
    word: str, documents: int, before: int | None, growth: float, is_exact: bool
) -> _Candidate:
    """Return a word with its rank, the best one lowest; of an unknown word as if it were new."""
    rank = -(documents + 1) / ((before or 0) * growth + 1)
    return _Candidate(rank, word, documents, before or 0, is_exact or before is not None)


def _held(searcher: Searcher, word: str, among: Query) -> int:
    """Return how many documents hold exactly this word."""
    alike = searcher.words(word, among=among, most=_MOST_ALIKE)
    return next((each.documents for each in alike if each.word == word), 0)


def _among(time: Range, within: Query | None) -> Query:
    return time if within is None else And((time, within))


def _count(searcher: Searcher, query: Query) -> int:
    return searcher.search(query, order=Order.ID, offset=0, limit=0).total
