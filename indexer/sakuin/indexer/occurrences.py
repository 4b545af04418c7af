"""Where a query's terms stand in a text, by the rules of the search itself (promise S1, rule 6)."""

from collections.abc import Iterator
from dataclasses import dataclass

from sakuin.indexer.fold import DEFAULT_FOLDING, Folding, fold
from sakuin.indexer.query import And, Not, Or, Phrase, Query
from sakuin.indexer.tokens import is_spaced

MOST_OCCURRENCES = 20_000
_MOST_LOOKS = 100_000


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """The settled text's characters start..end are term number `term`."""

    start: int
    end: int
    term: int


def occurrences(
    settled: str, query: Query, folding: Folding = DEFAULT_FOLDING, field: str | None = None
) -> list[Occurrence]:
    """Return where the terms that a query asks for stand in a settled text, ascending.

    What the query excludes is left out. Overlapping places are all there. Time is bounded: the
    first 20,000 places, and 100,000 looks, of all terms together.
    """
    terms = positive_terms(query, folding, field)
    found: list[Occurrence] = []
    looks = _MOST_LOOKS
    for number, (term, prefix) in enumerate(terms):
        for start, fits in _places(settled, term, prefix=prefix):
            looks -= 1
            if fits:
                found.append(Occurrence(start, start + len(term), number))
            if looks <= 0 or len(found) >= MOST_OCCURRENCES:
                return sorted(found)
    return sorted(found)


def positive_terms(
    query: Query, folding: Folding = DEFAULT_FOLDING, field: str | None = None
) -> list[tuple[str, bool]]:
    """Return the settled terms a query asks for of a field (None: of any), each once.

    As (text, whether it is a prefix).
    """
    terms: dict[tuple[str, bool], None] = {}
    waiting: list[tuple[Query, bool]] = [(query, True)]
    while waiting:
        node, positive = waiting.pop()
        match node:
            case Not(child):
                waiting.append((child, not positive))
            case And(children) | Or(children):
                waiting += [(child, positive) for child in reversed(children)]
            case Phrase(text) if positive and (field is None or node.field in (None, field)):
                if settled := " ".join(fold(text, folding).split()):
                    terms[settled, node.open_end] = None
    return list(terms)


def _places(settled: str, term: str, *, prefix: bool) -> Iterator[tuple[int, bool]]:
    """Yield each place of the characters, and whether it is at the word edges it needs."""
    edge_before = is_spaced(term[0])
    edge_after = is_spaced(term[-1]) and not prefix
    at = settled.find(term)
    while at >= 0:
        end = at + len(term)
        yield (
            at,
            not (edge_before and at > 0 and is_spaced(settled[at - 1]))
            and not (edge_after and end < len(settled) and is_spaced(settled[end])),
        )
        at = settled.find(term, at + 1)
