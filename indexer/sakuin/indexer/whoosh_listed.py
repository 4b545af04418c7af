"""Matches that are known before anybody asks: documents and their scores, behind whoosh's calls.

Lists are joined as dictionaries: with whoosh's tree of matchers, one document at a time, a search
for 64 common characters took twice as long.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any


class Listed:
    """A matcher of the documents that have a score; what whoosh asks of one in a tree."""

    def __init__(self, scores: Mapping[int, float]) -> None:
        self.scores = scores
        self._ids, self._i = sorted(scores), 0

    @classmethod
    def alike(cls, ids: Iterable[int]) -> "Listed":
        """Match these documents at a constant score."""
        return cls(dict.fromkeys(ids, 1.0))

    def is_active(self) -> bool:
        """Tell whether there is a document left."""
        return self._i < len(self._ids)

    def id(self) -> int:
        """Return the document that it stands at."""
        return self._ids[self._i]

    def score(self) -> float:
        """Return the score of that document."""
        return self.scores[self._ids[self._i]]

    def next(self) -> None:
        """Go to the next document."""
        self._i += 1

    def skip_to(self, number: int) -> None:
        """Go to the first document from this one on."""
        self._i = bisect_left(self._ids, number, self._i)

    def weighted(self, weight: float) -> "Listed":
        """Match the same, at these times the score."""
        return Listed({at: score * weight for at, score in self.scores.items()})

    def without(self, others: Collection[int]) -> "Listed":
        """Match what is not among these documents."""
        return Listed({at: score for at, score in self.scores.items() if at not in others})


def in_any(matchers: Iterable[Any]) -> list[Any]:
    """Return the active ones, what is listed as one: its score is the sum of all that match."""
    listed, others = _parted(matcher for matcher in matchers if matcher.is_active())
    if len(listed) > 1:
        scores = dict(listed[0].scores)
        for each in listed[1:]:
            for at, score in each.scores.items():
                scores[at] = scores.get(at, 0.0) + score
        listed = [Listed(scores)]
    return [*listed, *others]


def in_all(matchers: Sequence[Any]) -> list[Any]:
    """Return them, what is listed as one: it matches where all do, and its score is their sum."""
    listed, others = _parted(matchers)
    if len(listed) > 1:
        places = [each.scores for each in listed]
        common = set(places[0]).intersection(*places[1:])
        listed = [Listed({at: sum(scores[at] for scores in places) for at in common})]
    return [*listed, *others]


def _parted(matchers: Iterable[Any]) -> tuple[list[Listed], list[Any]]:
    listed: list[Listed] = []
    others: list[Any] = []
    for matcher in matchers:
        (listed if isinstance(matcher, Listed) else others).append(matcher)
    return listed, others
