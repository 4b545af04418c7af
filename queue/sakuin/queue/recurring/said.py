"""What plain words say: a time of day, days, a step; and the schedules that they make.

Both languages end here, so that the same meaning makes the same schedule.
"""

from dataclasses import dataclass

from sakuin.queue.recurring.schedule import Cron, Every, Schedule
from sakuin.queue.recurring.zones import BadSchedule

SECONDS = {"second": 1, "minute": 60, "hour": 3600}


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """An hour, 0 to 23, and a minute. Raises BadSchedule for what no clock shows."""

    hour: int
    minute: int = 0

    def __post_init__(self) -> None:
        if not (0 <= self.hour <= 23 and 0 <= self.minute <= 59):
            raise BadSchedule(f"{self.hour}:{self.minute:02}: use a time from 0:00 to 23:59")


MIDNIGHT = TimeOfDay(0)


def half_day(hour: int, minute: int, is_afternoon: bool, most: int) -> TimeOfDay:
    """Return a time of the morning or afternoon; with `most` 12 the hours go 12, 1 … 11."""
    if not most - 11 <= hour <= most:
        raise BadSchedule(
            f"hour {hour}: in a half of the day use {most - 11} to {most} (or 0:00 to 23:59)"
        )
    return TimeOfDay(hour % 12 + 12 * is_afternoon, minute)


def each_step(count: int, unit: str) -> Schedule:
    """Return the schedule of 'every 5 minutes'."""
    return Every(count * SECONDS[unit])


def each_hour(minute: int, zone: str) -> Schedule:
    """Return the schedule of 'every hour at :15'."""
    if not 0 <= minute <= 59:
        raise BadSchedule(f"minute {minute}: use 0 to 59")
    return Cron(f"{minute} * * * *", zone)


def each_day(time: TimeOfDay, zone: str) -> Schedule:
    """Return the schedule of 'every day at 3:15'."""
    return Cron(f"{time.minute} {time.hour} * * *", zone)


def each_week(days: set[int], time: TimeOfDay, zone: str) -> Schedule:
    """Return the schedule of 'every monday and friday at 3:15'; Sunday is 0."""
    listed = "1-5" if days == {1, 2, 3, 4, 5} else ",".join(str(day) for day in sorted(days))
    return Cron(f"{time.minute} {time.hour} * * {listed}", zone)


def each_month(day: int, time: TimeOfDay, zone: str) -> Schedule:
    """Return the schedule of 'every month on the 1st at 3:15'."""
    if not 1 <= day <= 28:
        raise BadSchedule(
            f"day {day} of a month: use 1 to 28, which every month has; for the last day say "
            "'every month on the last day' (毎月末), for others give cron, as in '0 3 31 * *'"
        )
    return Cron(f"{time.minute} {time.hour} {day} * *", zone)


def each_month_end(time: TimeOfDay, zone: str) -> Schedule:
    """Return the schedule of 'every month on the last day at 3:15'."""
    return Cron(f"{time.minute} {time.hour} L * *", zone)
