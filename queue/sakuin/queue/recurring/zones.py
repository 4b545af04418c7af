"""Local time and its jumps: what a wall clock in a time zone shows, and when it is put forward."""

import difflib
import zoneinfo
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from sakuin.queue.errors import QueueError

_OF_THE_MACHINE = ("localtime", "posixrules", "posix/", "right/")
"""Names in a zone directory that mean another thing on each machine, or count leap seconds."""


class BadSchedule(QueueError, ValueError):
    """A schedule, or its time zone, that cannot be; the message shows ones that can."""


def open_zone(name: str) -> ZoneInfo:
    """Return the time zone of that name, or raise BadSchedule with the nearest names.

    The rules come from the system, or from the package tzdata where the system has none.
    """
    try:
        if not name.startswith(_OF_THE_MACHINE):
            return ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        pass
    known = {each.lower(): each for each in zoneinfo.available_timezones()}
    near = [known[each] for each in difflib.get_close_matches(name.lower(), known, 3)]
    examples = ", ".join(near or ["Europe/Berlin", "Asia/Tokyo", "UTC"])
    raise BadSchedule(f"time zone {name[:64]!r} is not known: use one such as {examples}")


def shown_at(zone: ZoneInfo, moment: datetime) -> datetime:
    """Return what a wall clock there shows at that moment, as a naive datetime."""
    return moment.astimezone(zone).replace(tzinfo=None)


def first_moment(zone: ZoneInfo, shown: datetime) -> datetime:
    """Return the moment (UTC) when a clock there shows this first, or has just jumped over it."""
    early, late = sorted(shown.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if early == late or shown_at(zone, early) == shown:
        return early
    return first_change(zone, early, late) or late


def first_change(zone: ZoneInfo, start: datetime, end: datetime) -> datetime | None:
    """Return when a clock there is first put forward or back, after `start` and up to `end`.

    Looks once for each day, and then closer: no zone changes its clock twice in a day.
    """
    before, early = offset_at(zone, start), start
    while early < end:
        late = min(early + timedelta(days=1), end)
        if offset_at(zone, late) != before:
            return _first_other(zone, early, late)
        early = late
    return None


def _first_other(zone: ZoneInfo, early: datetime, late: datetime) -> datetime:
    """Narrow a change between two moments down to its second."""
    before = offset_at(zone, early)
    early = early.replace(microsecond=0)
    seconds = -int((early - late) // timedelta(seconds=1))
    low, high = 0, seconds
    while high - low > 1:
        middle = (low + high) // 2
        if offset_at(zone, early + timedelta(seconds=middle)) == before:
            low = middle
        else:
            high = middle
    return early + timedelta(seconds=high)


def offset_at(zone: ZoneInfo, moment: datetime) -> timedelta:
    """Return how far a clock there is ahead of UTC at that moment."""
    offset = moment.astimezone(zone).utcoffset()
    return timedelta(0) if offset is None else offset
