"""Facets: how many of a search's documents have which value, exactly (promise S4)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import nsmallest
from typing import Final, TypeVar

from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.limits import DEFAULT_LIMITS
from sakuin.indexer.query import Value
from sakuin.indexer.unparse import unparse

MOST_STEPS: Final = 1_000
"""Buckets that a facet of time may have."""

_LAST_CONTROL: Final = 0x9F
V = TypeVar("V", int, str)


class Step(StrEnum):
    """What a facet of a time counts by; all times are UTC."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Facet:
    """What to count: the values of a keyword or number filter, or the steps of a time.

    `name` is a filter of the index, or `created`. Values come the most frequent first (equal
    counts: the smaller value first, numbers as numbers, texts by code points), `most` of them.
    With a `step` (of times only, and always of times) every step from the first that has a
    document to the last comes in the order of time, those without any too; `most` counts not.
    A time beyond the years 1 to 9999, which no filter can name, is among the others.
    """

    name: str
    most: int = 10
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class Bucket:
    """One value, and how many of the documents found have it.

    `value` is what a filter takes: `name:value` finds exactly these (a text that holds blanks or
    signs needs quotation marks); of a step `2024`, `2024-01` or `2024-01-15`. `label` is for
    people: the value as one of the documents has it, before folding.
    """

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one facet.

    `missing` of the documents found have no value, `others` have one that is not among the
    buckets: the counts of the buckets, these two, make the total.
    """

    facet: Facet
    buckets: tuple[Bucket, ...]
    others: int
    missing: int


def require_facets(fields: Fields, facets: Sequence[Facet]) -> None:
    """Raise ValueError for a name that is no filter, or a step that does not fit it."""
    known = [each.name for each in fields.filters] + ["created"] * fields.timed
    for facet in facets:
        if facet.name not in known:
            raise ValueError(
                f"{facet.name!r} is no filter to count by; there are {', '.join(known)}"
            )
        is_time = fields.kind_of(facet.name) is FilterKind.TIME
        if is_time and facet.step is None:
            raise ValueError(
                f"{facet.name!r} is a time: count it by a step, one of {', '.join(Step)}"
            )
        if facet.step and not is_time:
            raise ValueError(f"{facet.name!r} is no time: count its values, without a step")


def filter_of(facet: Facet, bucket: Bucket) -> str | None:
    """Return the filter of a query, `name:value`, that finds exactly the documents of a bucket.

    None for a value that no query text can hold: one with a control character, or longer than a
    query may be.
    """
    text = unparse(Value(facet.name, bucket.value))
    if facet.step or bucket.value.lstrip("-").isdecimal():
        text = f"{facet.name}:{bucket.value}"
    if len(text) > DEFAULT_LIMITS.length or not all(
        one.isprintable() or one.isspace() or ord(one) > _LAST_CONTROL for one in bucket.value
    ):
        return None
    return text


def most_frequent(
    facet: Facet,
    counts: Iterable[tuple[V, int]],
    label: Callable[[V], str],
    *,
    total: int,
    unseen: int = 0,
) -> Counts:
    """Return the counts of a facet of values, of which each comes once.

    `unseen` documents have other values, of which none belongs to the most frequent.
    """
    having = unseen
    ordered: list[tuple[int, V]] = []
    for value, count in counts:
        having += count
        ordered.append((-count, value))
    first = nsmallest(facet.most, ordered)
    buckets = tuple(Bucket(str(value), label(value), -count) for count, value in first)
    return Counts(facet, buckets, having - sum(each.count for each in buckets), total - having)
