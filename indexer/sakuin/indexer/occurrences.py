"""Where a query's terms stand in a text, by the rules of the search itself (promise S1, rule 6)."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sakuin.indexer.fold import DEFAULT_FOLDING, Folding, fold
from sakuin.indexer.near import NearParts
from sakuin.indexer.query import And, Near, Not, Or, Phrase, Query, Wildcard
from sakuin.indexer.standing import standing
from sakuin.indexer.tokens import cut_wildcard, is_spaced

MOST_OCCURRENCES = 20_000
_MOST_LOOKS = 100_000


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """The settled text's characters start..end are term number `term`."""

    start: int
    end: int
    term: int


@dataclass(frozen=True, slots=True)
class Term:
    """What a leaf of a query looks for: one piece, or the pieces of a word with gaps in it.

    With a `distance`, pieces near each other: marked is what is part of a small enough window.
    """

    pieces: tuple[str, ...]
    open_start: bool = False
    open_end: bool = False
    distance: int | None = None


def positive_terms(
    query: Query, folding: Folding = DEFAULT_FOLDING, field: str | None = None
) -> list[Term]:
    """Return what a query asks for in the text of a field (None: of any), each once."""
    terms: dict[Term, None] = {}
    waiting: list[tuple[Query, bool]] = [(query, True)]
    while waiting:
        node, positive = waiting.pop()
        match node:
            case Not(child):
                waiting.append((child, not positive))
            case And(children) | Or(children):
                waiting += [(child, positive) for child in reversed(children)]
            case Phrase() | Wildcard() | Near():
                asked = positive and field in (None, node.field or field)
                if asked and (term := _term(node, folding)):
                    terms[term] = None
    return list(terms)


class Occurrences:
    """Finds terms in one settled text, in bounded time: each answer after 100,000 looks at most."""

    def __init__(self, settled: str, terms: Sequence[Term]) -> None:
        self._settled, self._terms = settled, terms
        self._looks = 0
        self._near: dict[int, list[tuple[int, int]]] = {}

    def between(self, start: int, end: int) -> list[Occurrence]:
        """Return what begins or ends within this part of the text, ascending; 20,000 at most."""
        found: list[Occurrence] = []
        self._looks = _MOST_LOOKS
        for number, term in enumerate(self._terms):
            is_word = len(term.pieces) > 1 and term.distance is None
            longest = max(map(len, term.pieces))
            early = self._word_edge(start, -1) if is_word else start - longest
            for place in self._places(number, max(early, 0)):
                if place.start >= end or len(found) >= MOST_OCCURRENCES:
                    break
                if place.end > start:
                    found.append(place)
        return sorted(found)

    def firsts(self) -> list[Occurrence]:
        """Return the first place of each term that has one, ascending."""
        self._looks = _MOST_LOOKS
        places = (next(self._places(number, 0), None) for number in range(len(self._terms)))
        return sorted(place for place in places if place)

    def first_from(self, start: int) -> Occurrence | None:
        """Return the first place of any term that begins there or later."""
        self._looks = _MOST_LOOKS
        places = (next(self._places(number, start), None) for number in range(len(self._terms)))
        return min((place for place in places if place), default=None)

    def _places(self, number: int, start: int) -> Iterator[Occurrence]:
        term = self._terms[number]
        if term.distance is not None:
            if number not in self._near:
                self._near[number] = NearParts(term.pieces, term.distance).spans_in(self._settled)
            near = self._near[number]
            return (Occurrence(*place, number) for place in near[bisect_left(near, (start, 0)) :])
        find = self._phrases if len(term.pieces) == 1 else self._words
        return (Occurrence(*place, number) for place in find(term, start))

    def _phrases(self, term: Term, start: int) -> Iterator[tuple[int, int]]:
        """Yield each place from `start` on that is at the word edges it needs."""
        found = standing(
            self._settled,
            term.pieces[0],
            start,
            open_start=term.open_start,
            open_end=term.open_end,
        )
        while self._looks > 0 and (place := next(found, None)):
            self._looks -= 1
            at, end, fits = place
            if fits:
                yield at, end

    def _words(self, term: Term, start: int) -> Iterator[tuple[int, int]]:
        """Yield each word from `start` on that the term describes."""
        text, longest = self._settled, max(term.pieces, key=len)
        at = text.find(longest, start)
        while at >= 0 and self._looks > 0:
            first, last = self._word_edge(at, -1), self._word_edge(at, 1)
            if self._looks > 0 and first >= start and _fits(text[first:last], term.pieces):
                yield first, last
            at = text.find(longest, last)

    def _word_edge(self, at: int, step: int) -> int:
        """Go back (-1) or on (1) to where the word around this place begins or ends."""
        text, beside = self._settled, at - 1 if step < 0 else at
        while 0 <= beside < len(text) and self._looks > 0 and is_spaced(text[beside]):
            beside += step
            self._looks -= 1
        return beside + 1 if step < 0 else beside


def _term(node: Phrase | Wildcard | Near, folding: Folding) -> Term | None:
    if isinstance(node, Near):
        parts = tuple(" ".join(fold(part.text, folding).split()) for part in node.parts)
        return Term(parts, distance=node.distance) if all(parts) else None
    if isinstance(node, Phrase):
        settled = " ".join(fold(node.text, folding).split())
        return Term((settled,), node.open_start, node.open_end) if settled else None
    pieces = cut_wildcard(node.pieces, folding)
    is_word = any(pieces) and all(is_spaced(one) for piece in pieces for one in piece)
    return Term(pieces) if is_word else None


def _fits(word: str, pieces: Sequence[str]) -> bool:
    """Tell whether a word begins and ends so and holds the rest between, none overlapping."""
    first, *between, last = pieces
    at, limit = len(first), len(word) - len(last)
    for piece in between:
        found = word.find(piece, at, max(limit, 0))
        if found < 0:
            return False
        at = found + len(piece)
    return at <= limit and word.startswith(first) and word.endswith(last)
