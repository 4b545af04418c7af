"""The words that the open ends of a plan stand for: which to read, and how many are too many.

A phrase that ends in an open word (`"no w"*`) stands for as many phrases as there are words that
begin so; with an open start it is the words that end so. They are counted here, the same way for
every engine, so that all refuse the same queries. What stands alone (`w*`, `*w`, `*w*`, `w*m`) is
answered without making a clause of each word, and knows no limit.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.plan import AllOf, AnyOf, Plan
from sakuin.indexer.plan_leaves import Gaps, Keyword, Leaf

MOST_EXPANSIONS = 2_000
"""Words that the open ends of all phrases of a query may stand for together.

An end that comes again in a query counts once. A phrase that is open at both ends counts every
pair of a word at its start and a word at its end.
"""

_Word = TypeVar("_Word")


@dataclass(frozen=True, slots=True)
class End:
    """An open end of a phrase: the words that begin with `start`, `backwards` for an open start."""

    start: str
    backwards: bool = False

    def __str__(self) -> str:
        """Say it as a message to people does."""
        return f"end with {self.start[::-1]!r}" if self.backwards else f"begin with {self.start!r}"


@dataclass(frozen=True, slots=True)
class Alone:
    """Words to be read: those that begin with `start`; of these only what fits gaps, if any."""

    start: str
    backwards: bool = False
    gaps: tuple[Gaps, ...] = ()


def ends(leaf: Leaf) -> tuple[End, ...]:
    """Return the open ends of a phrase, the start first; none for a single token."""
    cut = leaf.cut
    if len(cut.tokens) == 1:
        return ()
    start = (End(cut.tokens[0][::-1], backwards=True),) if cut.open_start else ()
    end = (End(cut.tokens[-1], leaf.backwards),) if cut.open_end else ()
    return start + end


def expand(
    planned: Plan, words: Callable[[End, int], Collection[_Word]]
) -> dict[End, Collection[_Word]]:
    """Return, for each open end of a phrase, the words that it stands for.

    `words(end, most)` must give the different words that begin so in any searched field of any
    document (not of one that was deleted or replaced), or `most` of them. Raises QueryTooLarge
    beyond MOST_EXPANSIONS in all.
    """
    found: dict[End, Collection[_Word]] = {}
    left = MOST_EXPANSIONS
    for open_ends in dict.fromkeys(ends(leaf) for leaf in _leaves(planned, Leaf)):
        for end in open_ends:
            if end not in found:
                found[end] = words(end, MOST_EXPANSIONS + 1)
        if open_ends:
            left -= len(found[open_ends[0]]) * len(found[open_ends[-1]]) ** (len(open_ends) - 1)
        if left < 0:
            widest = max(open_ends, key=lambda end: len(found[end]))
            raise QueryTooLarge(
                f"too many words {widest}, an open end of a phrase: write more of the word"
            )
    return found


def alone(planned: Plan) -> list[Alone]:
    """Return what open words outside phrases stand for, without what another one covers."""
    wanted = {
        Alone(leaf.cut.tokens[0], leaf.backwards)
        for leaf in _leaves(planned, Leaf)
        if leaf.cut.open_end and len(leaf.cut.tokens) == 1
    }
    widest: list[Alone] = []
    for each in sorted(wanted, key=lambda each: (each.backwards, each.start)):
        last = widest[-1] if widest else None
        if not (last and last.backwards == each.backwards and each.start.startswith(last.start)):
            widest.append(each)
    alike: dict[tuple[str, bool], list[Gaps]] = {}
    for gaps in dict.fromkeys(_leaves(planned, Gaps)):
        alike.setdefault((gaps.pieces[0], gaps.backwards), []).append(gaps)
    return widest + [Alone(*key, tuple(some)) for key, some in alike.items()]


def open_keywords(planned: Plan) -> list[Keyword]:
    """Return the filters that ask for values that begin so."""
    return list(dict.fromkeys(each for each in _leaves(planned, Keyword) if each.open_end))


_Kind = TypeVar("_Kind", Leaf, Gaps, Keyword)


def _leaves(planned: Plan, kind: type[_Kind]) -> Iterator[_Kind]:
    """Yield the leaves of a kind, in order."""
    todo = [planned]
    while todo:
        each = todo.pop()
        if isinstance(each, kind):
            yield each
        elif isinstance(each, AnyOf):
            todo += reversed(each.clauses)
        elif isinstance(each, AllOf):
            todo += reversed(each.wanted + each.unwanted)
