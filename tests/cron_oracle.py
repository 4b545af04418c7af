"""What a wall clock shows at every minute, and which of them a cron schedule runs at: brute force.

Independent of the product: it enumerates the minutes of UTC and looks at the clock at each.
"""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Fields:
    """The sets of a cron expression, made with its text, so that nothing is parsed here.

    Day 0 is the last of the month; days of the week go from 0 (Sunday) to 6.
    """

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    def matches(self, shown: datetime) -> bool:
        """Tell whether a clock that shows this is at a time of the expression."""
        if shown.minute not in self.minutes or shown.hour not in self.hours:
            return False
        if shown.month not in self.months:
            return False
        last = calendar.monthrange(shown.year, shown.month)[1]
        is_day = shown.day in self.days or (0 in self.days and shown.day == last)
        is_weekday = shown.isoweekday() % 7 in self.weekdays
        _, _, day, _, weekday = self.text.split()
        if day.startswith("*") or weekday.startswith("*"):
            return is_day and is_weekday
        return is_day or is_weekday

    @property
    def is_fixed(self) -> bool:
        """Tell whether it names fixed times, rather than following real time."""
        minute, hour, *_ = self.text.split()
        return not minute.startswith("*") and not hour.startswith("*")


@dataclass(frozen=True, slots=True)
class Minute:
    """A minute of UTC, what the clock shows, if for the first time, and what it jumped over."""

    at: datetime
    shown: datetime
    is_first: bool
    jumped: tuple[datetime, ...]


def minutes_of(zone: str, start: datetime, end: datetime) -> Iterator[Minute]:
    """Give every minute after `start` (a whole minute, UTC) and up to `end`."""
    there = ZoneInfo(zone)
    before = start.astimezone(there).replace(tzinfo=None)
    for number in range(1, (end - start) // MINUTE + 1):
        at = start + number * MINUTE
        local = at.astimezone(there)
        shown = local.replace(tzinfo=None, fold=0)
        skipped = max(0, (shown - before.replace(fold=0)) // MINUTE - 1)
        jumped = tuple(shown - back * MINUTE for back in range(skipped, 0, -1))
        yield Minute(at, shown, local.fold == 0, jumped)
        before = shown


def runs_of(fields: Fields, minutes: list[Minute]) -> list[datetime]:
    """Return the minutes at which the schedule runs."""
    if not fields.is_fixed:
        return [minute.at for minute in minutes if fields.matches(minute.shown)]
    return [
        minute.at
        for minute in minutes
        if (minute.is_first and fields.matches(minute.shown))
        or any(fields.matches(shown) for shown in minute.jumped)
    ]


def whole(start: str) -> datetime:
    """Return a moment of UTC."""
    return datetime.fromisoformat(start).replace(tzinfo=UTC)


ANY_MINUTE = frozenset(range(60))
ANY_HOUR = frozenset(range(24))
ANY_DAY = frozenset(range(1, 32))
ANY_MONTH = frozenset(range(1, 13))
ANY_WEEKDAY = frozenset(range(7))


def daily(hour: int, minute: int) -> Fields:
    """Return the fields of a fixed time each day."""
    text = f"{minute} {hour} * * *"
    return Fields(text, frozenset({minute}), frozenset({hour}), ANY_DAY, ANY_MONTH, ANY_WEEKDAY)
