"""The steps of a facet of time, which are years, months or days of UTC.

Steps are numbered, so that engines keep and count numbers: a day by its ordinal in the calendar
of `datetime`, a month as twelve times its year and how many are before it, a year as itself.
"""

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Final

from sakuin.indexer.errors import TooManySteps
from sakuin.indexer.facet import MOST_STEPS, Bucket, Counts, Facet, Step

_DAY: Final = 86_400_000_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_LAST: Final = date.max.toordinal()


def day_of(moment: int) -> int | None:
    """Return the number of the day of a moment (microseconds since 1970 UTC).

    None beyond the years 1 to 9999, whose days have no name.
    """
    day = moment // _DAY + _EPOCH
    return day if 1 <= day <= _LAST else None


@lru_cache(maxsize=1_024)  # documents of one time come together
def month_of(day: int) -> int:
    """Return the number of the month of a day, which has one."""
    found = date.fromordinal(day)
    return found.year * 12 + found.month - 1


def stepped(facet: Facet, counts: Mapping[int, int], *, having: int, total: int) -> Counts:
    """Return the counts of a facet of time, by the numbers of its steps (of years: of months).

    Raises TooManySteps.
    """
    step = facet.step or Step.DAY
    if step is Step.YEAR:
        years: dict[int, int] = {}
        for month, count in counts.items():
            years[month // 12] = years.get(month // 12, 0) + count
        counts = years
    first, last = min(counts, default=0), max(counts, default=-1)
    if last - first >= MOST_STEPS:
        raise TooManySteps(facet.name, step, last - first + 1, MOST_STEPS)
    named = ((_name(step, number), counts.get(number, 0)) for number in range(first, last + 1))
    buckets = tuple(Bucket(name, name, count) for name, count in named)
    return Counts(facet, buckets, having - sum(counts.values()), total - having)


def _name(step: Step, number: int) -> str:
    if step is Step.DAY:
        return date.fromordinal(number).isoformat()
    year, month = divmod(number, 12)
    return f"{number:04}" if step is Step.YEAR else f"{year:04}-{month + 1:02}"
