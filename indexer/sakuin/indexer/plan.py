"""From a query tree to the plan of a search: cut, flattened, bounded, without constant parts.

Every engine answers a plan, so that none of them meets an empty clause, a clause of negations
only, a name that is no field, or a tree deep enough to exhaust a stack. Nothing here recurses:
any tree may come.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sakuin.indexer.document import Fields
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.plan_leaves import Asked, Leaves, Single
from sakuin.indexer.query import And, Everything, Near, Not, Nothing, Or, Query

DEEPEST = 50


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


Clause = Single | AllOf | AnyOf
Plan = Clause | Everything | Nothing


def plan(query: Query, fields: Fields, near: Callable[[Near], Query] | None = None) -> Plan:
    """Return the plan of a search in an index of these fields.

    `near` gives for each `Near` what is searched in its place. Raises QueryTooLarge beyond
    MOST_LEAVES, MOST_TOKENS or DEEPEST, and ValueError for a name that is no field, or no filter,
    of the index.
    """
    done: list[Plan] = []
    todo: list[tuple[Query, bool]] = [(query, False)]
    leaves = Leaves(fields)
    while todo:
        node, visited = todo.pop()
        if isinstance(node, Everything | Nothing):
            done.append(node)
        elif isinstance(node, Asked):
            done.append(leaves.make(node))
        elif isinstance(node, Near):
            if near is None:
                raise ValueError("what stands near each other can only be found in an index")
            todo.append((near(node), False))
        elif visited:
            first = len(done) - len(_children(node))
            done[first:] = [_joined(node, done[first:])]
        else:
            todo.append((node, True))
            todo.extend((child, False) for child in reversed(_children(node)))
    return done[0]


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
