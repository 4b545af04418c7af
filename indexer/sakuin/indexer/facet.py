"""Facets: how many of a search's documents have which value, exactly (promise S4)."""

from dataclasses import dataclass
from enum import StrEnum


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
