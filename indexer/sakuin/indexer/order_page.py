"""One page of hits in an order by several columns, from an engine that sorts by one at a time.

Page by page it costs as many sorted searches as there are columns in which hits are equal. Knows
no engine: `Sorter` is what it needs of one.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol, TypeVar

_Query = TypeVar("_Query")
_Place = TypeVar("_Place", covariant=True)
_NEAR = 64  # how many hits a sort by text may skip: each costs 40 µs in tantivy


@dataclass(frozen=True, slots=True)
class Column:
    """Numbers, or texts of ASCII letters, of which every document has one."""

    name: str
    is_text: bool = False
    is_descending: bool = False


class Sorter(Protocol[_Query, _Place]):
    """What an engine can do. Bounds are inclusive; None is open."""

    def count(self, query: _Query) -> int:
        """Return how many documents match."""
        ...

    def sorted(
        self, query: _Query, column: Column, offset: int, limit: int
    ) -> Sequence[tuple[Any, _Place]]:
        """Return hits offset..offset+limit by this column, each with its value."""
        ...

    def within(self, query: _Query, column: Column, low: Any, high: Any) -> _Query:
        """Return a query for those matches whose value lies between."""
        ...

    def beyond(self, query: _Query, column: Column, value: Any) -> _Query:
        """Return a query for those matches whose value comes after this one in the order."""
        ...

    def some_values(self, column: Column) -> Sequence[str]:
        """Return some thousands of the values of a column of texts at most, in order."""
        ...


def sorted_page(
    sorter: Sorter[_Query, _Place],
    query: _Query,
    columns: Sequence[Column],
    offset: int,
    limit: int,
) -> list[_Place]:
    """Return where the hits offset..offset+limit are; the last column has no value twice."""
    find = _far_page if columns[0].is_text and offset > _NEAR else _near_page
    return find(sorter, query, columns, offset, limit)


def _near_page(
    sorter: Sorter[_Query, _Place],
    query: _Query,
    columns: Sequence[Column],
    offset: int,
    limit: int,
) -> list[_Place]:
    """Sort by the first column, and what is equal there by the others."""
    column, rest = columns[0], columns[1:]
    if not rest:
        return [place for _, place in sorter.sorted(query, column, offset, limit)]
    before = 1 if offset else 0  # a hit more on either side tells what goes on beyond the page
    found = sorter.sorted(query, column, offset - before, limit + before + 1)
    earlier = [value for value, _ in found[:before]]
    later = [value for value, _ in found[before + limit :]]
    places: list[_Place] = []
    for value, group in groupby(found[before : before + limit], lambda each: each[0]):
        members = [place for _, place in group]
        begins_earlier = value in earlier
        if begins_earlier or value in later or len(members) > 1:
            same = sorter.within(query, column, value, value)
            skipped = 0
            if begins_earlier:
                beyond = sorter.count(sorter.beyond(query, column, value))
                skipped = offset - (sorter.count(query) - beyond - sorter.count(same))
            members = sorted_page(sorter, same, rest, skipped, len(members))
        places += members
    return places


def _far_page(
    sorter: Sorter[_Query, _Place],
    query: _Query,
    columns: Sequence[Column],
    offset: int,
    limit: int,
) -> list[_Place]:
    """Skip nearly all of the offset by counting: sorting by text is slow far from its start."""
    column, rest = columns[0], columns[1:]
    values, total = sorter.some_values(column), sorter.count(query)

    def before(at: int) -> int:
        return total - sorter.count(sorter.within(query, column, values[at], None))

    start = values[bisect_right(range(len(values)), offset, key=before) - 1]
    left = offset - before(values.index(start))
    if not rest:
        return _near_page(sorter, sorter.within(query, column, start, None), columns, left, limit)
    same = sorter.within(query, column, start, start)
    places = sorted_page(sorter, same, rest, left, limit)
    if missing := limit - len(places):
        left = max(0, left - sorter.count(same))
        following = sorter.beyond(query, column, start)
        places += _near_page(sorter, following, columns, left, missing)
    return places
