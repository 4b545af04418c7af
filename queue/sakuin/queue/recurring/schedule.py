"""When a task is due: a closed set of values that answer one question, what comes next."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

from sakuin.queue.recurring.zones import (
    BadSchedule,
    first_change,
    first_moment,
    offset_at,
    open_zone,
    shown_at,
)

MOST_CHARACTERS = 255
MOST_SECONDS = 7 * 86400
_FIELDS = ("minute", "hour", "day of month", "month", "day of week")
_SOME_DAY = datetime(2024, 1, 1)  # noqa: DTZ001 (a wall clock)
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Every:
    """Each time that the seconds since 1970 (UTC) are a multiple of `seconds`, in real time.

    Raises BadSchedule for seconds that are not 1 to 604800 (a week).
    """

    seconds: int

    def __post_init__(self) -> None:
        if not 1 <= self.seconds <= MOST_SECONDS:
            raise BadSchedule(
                f"every {self.seconds} seconds: use 1 to {MOST_SECONDS} (a week), or name days, as "
                "in 'every monday at 3:00'"
            )

    def next_after(self, moment: datetime) -> datetime:
        """Return the first time after the moment; both are aware, the answer in UTC."""
        whole = (moment - _EPOCH) // timedelta(seconds=self.seconds) + 1
        return _EPOCH + whole * timedelta(seconds=self.seconds)


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression of five fields (minute, hour, day of month, month, day of week) in a zone.

    Where the clock of the zone jumps, the two kinds of schedule that Debian's cron knows differ.
    Minute and hour both written without a leading star are *fixed times*: one that the clock jumps
    over runs right after the jump, once, however many it jumps over; one that it shows twice runs
    the first time only. With a leading star in one of them the schedule follows *real time*: it
    runs whenever the clock shows a time that matches, twice or not at all if so the clock does.

    Day of month and day of week must both match where one of them begins with a star, otherwise
    either. `L` is the last day of a month, `LW` its last weekday, `5L` its last Friday, `1#2` its
    second Monday. Raises BadSchedule that names the field, or says that no day ever matches.
    """

    expression: str
    zone: str

    def __post_init__(self) -> None:
        if len(self.expression) > MOST_CHARACTERS:
            raise BadSchedule(
                f"cron {self.expression[:40]!r}…: use up to {MOST_CHARACTERS} letters"
            )
        fields = self.expression.split()
        if len(fields) != len(_FIELDS) or not self.expression.isascii():
            hint = " (for seconds write 'every 30 seconds')" * (len(fields) == 6)
            raise BadSchedule(f"cron {self.expression!r}: use five fields, {_EXAMPLES}{hint}")
        open_zone(self.zone)
        for number, field in enumerate(fields):
            _check_field(self.expression, number, field)
        try:
            next(CronSim(self.expression, _SOME_DAY))
        except (CronSimError, StopIteration):
            raise BadSchedule(
                f"cron {self.expression!r}: there is no such day in any year; look at the day of "
                "month, the month and the day of week (the last day of a month is L)"
            ) from None

    def next_after(self, moment: datetime) -> datetime:
        """Return the first time after the moment; both are aware, the answer in UTC."""
        minute, hour, *_ = self.expression.split()
        if minute.startswith("*") or hour.startswith("*"):
            return self._next_in_real_time(moment.astimezone(UTC))
        return self._next_fixed(moment.astimezone(UTC))

    def _next_fixed(self, moment: datetime) -> datetime:
        """Take the matching times of a wall clock one by one; each stands for one moment.

        Later times never stand for earlier moments, so what the clock showed before is past.
        """
        zone = open_zone(self.zone)
        for shown in CronSim(self.expression, shown_at(zone, moment)):
            found = first_moment(zone, shown)
            if found > moment:
                return found
        raise self._ended(moment)

    def _next_in_real_time(self, moment: datetime) -> datetime:
        """Between two changes of its clock a zone keeps UTC, shifted: search piece by piece."""
        zone = open_zone(self.zone)
        start, after = moment, shown_at(zone, moment)
        while True:
            shown = next(CronSim(self.expression, after), None)
            if shown is None:
                raise self._ended(moment)
            found = shown.replace(tzinfo=UTC) - offset_at(zone, start)
            change = first_change(zone, start, found)
            if change is None:
                return found
            start, after = change, shown_at(zone, change) - timedelta(seconds=1)

    def _ended(self, moment: datetime) -> BadSchedule:
        return BadSchedule(f"cron {self.expression!r}: never due in the 50 years after {moment}")


Schedule = Every | Cron


def _check_field(expression: str, number: int, field: str) -> None:
    """Raise BadSchedule that names the field which cannot be read."""
    try:
        _values(number, field)
        for part in field.split(","):
            span, slash, _ = part.partition("/")
            if slash and "-" in span and len(_values(number, span)) == 1:
                raise CronSimError  # cronsim reads 3-3/5 as 3/5, which is 3, 8, 13 …
    except CronSimError:
        raise BadSchedule(
            f"cron {expression!r}: cannot read the {_FIELDS[number]}, {field!r}; use {_EXAMPLES}"
        ) from None


def _values(number: int, field: str) -> Collection[object]:
    """Return what one field means, or raise CronSimError."""
    fields = ["*"] * len(_FIELDS)
    fields[number] = field
    read = CronSim(" ".join(fields), _SOME_DAY)
    return (read.minutes, read.hours, read.days, read.months, read.weekdays)[number]


_EXAMPLES = (
    "minute hour day-of-month month day-of-week, as in '*/5 * * * *' (every 5 minutes), "
    "'30 3 * * *' (every day at 3:30), '0 9 * * 1-5' (Monday to Friday at 9), "
    "'0 0 L * *' (the last day of the month)"
)
