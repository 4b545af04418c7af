"""The steps of a facet of time: years, months or days of UTC, from the first to the last."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from sakuin.indexer.errors import TooManySteps
from sakuin.indexer.facet import MOST_STEPS, Bucket, Counts, Facet, Step

_DAY: Final = 86_400_000_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
FIRST_MOMENT: Final = (date.min.toordinal() - _EPOCH) * _DAY
LAST_MOMENT: Final = (date.max.toordinal() + 1 - _EPOCH) * _DAY - 1
"""Microseconds since 1970: what has a name as a time lies between."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Steps that follow each other: their names, and the microsecond at which each begins.

    `edges` has one more, that at which the last one ends; all lie on midnights.
    """

    names: tuple[str, ...]
    edges: tuple[int, ...]


def steps_between(facet: Facet, first: int, last: int) -> Spans:
    """Return the steps from that of the first moment to that of the last (both have a name).

    Raises TooManySteps.
    """
    step = facet.step or Step.DAY
    start, end = _number(step, first), _number(step, last)
    if end - start >= MOST_STEPS:
        raise TooManySteps(facet.name, step, end - start + 1, MOST_STEPS)
    numbers = range(start, end + 1)
    edges = (*(_begin(step, number) for number in numbers), _begin(step, end + 1))
    return Spans(tuple(_name(step, number) for number in numbers), edges)


def stepped(
    facet: Facet, names: Sequence[str], counts: Sequence[int], *, having: int, total: int
) -> Counts:
    """Return the counts of a facet of time, without empty steps at either end."""
    filled = [at for at, count in enumerate(counts) if count]
    within = range(filled[0], filled[-1] + 1) if filled else ()
    buckets = tuple(Bucket(names[at], names[at], counts[at]) for at in within)
    return Counts(facet, buckets, having - sum(counts), total - having)


def _number(step: Step, moment: int) -> int:
    """Return the running number of the step of a moment."""
    day = date.fromordinal(moment // _DAY + _EPOCH)
    if step is Step.DAY:
        return day.toordinal()
    return day.year if step is Step.YEAR else day.year * 12 + day.month - 1


def _begin(step: Step, number: int) -> int:
    if step is Step.DAY:
        return (number - _EPOCH) * _DAY
    year, month = (number, 0) if step is Step.YEAR else divmod(number, 12)
    if year > date.max.year:
        return LAST_MOMENT + 1
    return (date(year, month + 1, 1).toordinal() - _EPOCH) * _DAY


def _name(step: Step, number: int) -> str:
    if step is Step.DAY:
        return date.fromordinal(number).isoformat()
    year, month = divmod(number, 12)
    return f"{number:04}" if step is Step.YEAR else f"{year:04}-{month + 1:02}"
