"""From a query tree to the plan of a search: cut, flattened, bounded, without constant parts.

Every engine answers a plan, so that none of them meets an empty clause, a clause of negations
only, or a tree deep enough to exhaust a stack. Nothing here recurses: any tree may come.

A phrase that ends in a prefix stands for as many phrases as there are words that begin so. Those
words are counted here, the same way for every engine, so that all refuse the same queries.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.query import And, Everything, Not, Nothing, Or, Phrase, Query
from sakuin.indexer.tokens import QueryCut, cut_query

MOST_LEAVES = 1_000
MOST_TOKENS = 10_000
DEEPEST = 50
MOST_EXPANSIONS = 2_000
"""Words that the open ends of all phrases of a query (`"no w"*`) may stand for together.

A prefix that is no part of a phrase is answered without making a phrase of each word, and knows
no limit.
"""

_Word = TypeVar("_Word")


@dataclass(frozen=True, slots=True)
class Leaf:
    """At least one token, to be found in any searched field."""

    cut: QueryCut
    depth: int = 0


@dataclass(frozen=True, slots=True)
class AllOf:
    """Matches what every `wanted` and no `unwanted` matches; `wanted` may be empty."""

    wanted: tuple["Clause", ...]
    unwanted: tuple["Clause", ...]
    depth: int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Matches what at least one of two or more clauses matches."""

    clauses: tuple["Clause", ...]
    depth: int


Clause = Leaf | AllOf | AnyOf
Plan = Clause | Everything | Nothing


def plan(query: Query) -> Plan:
    """Return the plan; raise QueryTooLarge beyond MOST_LEAVES, MOST_TOKENS or DEEPEST."""
    done: list[Plan] = []
    todo: list[tuple[Query, bool]] = [(query, False)]
    budget = _Budget()
    while todo:
        node, visited = todo.pop()
        if isinstance(node, Everything | Nothing):
            done.append(node)
        elif isinstance(node, Phrase):
            done.append(budget.leaf(node))
        elif visited:
            first = len(done) - len(_children(node))
            done[first:] = [_joined(node, done[first:])]
        else:
            todo.append((node, True))
            todo.extend((child, False) for child in reversed(_children(node)))
    return done[0]


def expand(
    planned: Plan, words: Callable[[str, int], Collection[_Word]]
) -> dict[str, Collection[_Word]]:
    """Return, for the open end of each phrase, the words that it stands for.

    `words(start, most)` must give the different words that begin with `start` in any searched
    field of any document (not of one that was deleted or replaced), or `most` of them; it is
    asked once for each start. Raises QueryTooLarge beyond MOST_EXPANSIONS in all.
    """
    found: dict[str, Collection[_Word]] = {}
    left = MOST_EXPANSIONS
    for start in dict.fromkeys(_starts(planned, alone=False)):
        found[start] = words(start, left + 1)
        left -= len(found[start])
        if left < 0:
            raise QueryTooLarge(
                f"too many words begin with {start!r}, the end of a phrase: write more of the word"
            )
    return found


def lone_starts(planned: Plan) -> list[str]:
    """Return what the prefixes outside phrases begin with, without what another one covers."""
    widest: list[str] = []
    for start in sorted(set(_starts(planned, alone=True))):
        if not widest or not start.startswith(widest[-1]):
            widest.append(start)
    return widest


def _starts(planned: Plan, *, alone: bool) -> Iterator[str]:
    """Yield the last token of every leaf that is a prefix, in order: alone, or ending a phrase."""
    todo = [planned]
    while todo:
        each = todo.pop()
        if isinstance(each, Leaf):
            if each.cut.open_end and alone == (len(each.cut.tokens) == 1):
                yield each.cut.tokens[-1]
        elif isinstance(each, AnyOf):
            todo += reversed(each.clauses)
        elif isinstance(each, AllOf):
            todo += reversed(each.wanted + each.unwanted)


class _Budget:
    def __init__(self) -> None:
        self._leaves, self._tokens = MOST_LEAVES, MOST_TOKENS
        self._made: dict[QueryCut, Leaf] = {}

    def leaf(self, node: Phrase) -> Plan:
        cut = cut_query(node.text, open_end=node.open_end)
        self._leaves -= 1
        self._tokens -= len(cut.tokens)
        if self._leaves < 0 or self._tokens < 0:
            raise QueryTooLarge(
                f"the query has more than {MOST_LEAVES} terms or {MOST_TOKENS} characters: "
                "look for less at once"
            )
        return self._made.setdefault(cut, Leaf(cut)) if cut.tokens else Nothing()


def _children(node: And | Or | Not) -> tuple[Query, ...]:
    return (node.child,) if isinstance(node, Not) else node.children


def _joined(node: And | Or | Not, plans: Sequence[Plan]) -> Plan:
    if isinstance(node, And):
        return _all_of(plans)
    if isinstance(node, Or):
        return _any_of(plans)
    return _none_of(plans[0])


def _all_of(plans: Sequence[Plan]) -> Plan:
    wanted: list[Clause] = []
    unwanted: list[Clause] = []
    for each in plans:
        if isinstance(each, Nothing):
            return each
        if isinstance(each, AllOf):
            wanted += each.wanted
            unwanted += each.unwanted
        elif not isinstance(each, Everything):
            wanted.append(each)
    wanted, unwanted = _once(wanted), _once(unwanted)
    if not unwanted and len(wanted) < 2:
        return wanted[0] if wanted else Everything()
    return AllOf(tuple(wanted), tuple(unwanted), _depth_above(wanted + unwanted))


def _any_of(plans: Sequence[Plan]) -> Plan:
    clauses: list[Clause] = []
    for each in plans:
        if isinstance(each, Everything):
            return each
        if isinstance(each, AnyOf):
            clauses += each.clauses
        elif not isinstance(each, Nothing):
            clauses.append(each)
    clauses = _once(clauses)
    if len(clauses) < 2:
        return clauses[0] if clauses else Nothing()
    return AnyOf(tuple(clauses), _depth_above(clauses))


def _none_of(each: Plan) -> Plan:
    if isinstance(each, Everything | Nothing):
        return Nothing() if isinstance(each, Everything) else Everything()
    if isinstance(each, AllOf) and not each.wanted:
        return _any_of(each.unwanted)
    return AllOf((), (each,), _depth_above([each]))


def _once(clauses: Sequence[Clause]) -> list[Clause]:
    """Leave out leaves that come again: equal leaves of a plan are one object."""
    return list({id(each): each for each in clauses}.values())


def _depth_above(clauses: Sequence[Clause]) -> int:
    depth = max(each.depth for each in clauses) + 1
    if depth > DEEPEST:
        raise QueryTooLarge(f"the query is nested more than {DEEPEST} deep: use fewer parentheses")
    return depth
