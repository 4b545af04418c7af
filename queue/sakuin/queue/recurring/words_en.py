"""Schedules in English words: a small closed grammar, every form of it in EXAMPLES."""

import re

from sakuin.queue.recurring.said import (
    MIDNIGHT,
    TimeOfDay,
    each_day,
    each_hour,
    each_month,
    each_month_end,
    each_step,
    each_week,
    half_day,
)
from sakuin.queue.recurring.schedule import Schedule

EXAMPLES = (
    "every minute",
    "every hour",
    "hourly",
    "every hour at :15",
    "every day",
    "daily",
    "every 30 seconds",
    "every 5 minutes",
    "every 2 hours",
    "every day at noon",
    "every day at midnight",
    "every day at 3:15",
    "every day at 3am",
    "every day at 3:15 pm",
    "daily at 15:30",
    "every weekday at 9:00",
    "every monday at 3:00",
    "every monday and friday at 3am",
    "every monday, wednesday and friday at noon",
    "every month on the 1st at 3:00",
    "every month on the last day at midnight",
)
DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")

_DAY = "|".join(DAYS)
_AT = (
    r"(?: at (?:(?P<noon>noon)|(?P<midnight>midnight)"
    r"|(?P<hour>\d\d?)(?::(?P<minute>\d\d))?(?: ?(?P<half>am|pm))?))?"
)
_STEP = re.compile(r"every (?:(?P<count>\d{1,6}) )?(?P<unit>second|minute|hour)(?P<plural>s?)")
_HOUR = re.compile(r"(?:every hour|hourly)(?: at :(?P<past>\d\d))?")
_EACH_DAY = re.compile(r"(?:every day|daily)" + _AT)
_WEEKDAY = re.compile(r"every weekday" + _AT)
_WEEK = re.compile(rf"every (?P<days>(?:{_DAY})(?:(?:, | and |, and )(?:{_DAY}))*)" + _AT)
_MONTH = re.compile(
    r"every month on the (?:(?P<last>last day)|(?P<day>\d\d?)(?P<nth>st|nd|rd|th))" + _AT
)


def schedule_said(text: str, zone: str) -> Schedule | None:
    """Return the schedule that folded English words say; None if they are not in the grammar.

    Raises BadSchedule for a number that cannot be.
    """
    if found := _HOUR.fullmatch(text):
        return each_hour(int(found["past"] or 0), zone)
    if (found := _STEP.fullmatch(text)) and bool(found["count"]) >= bool(found["plural"]):
        return each_step(int(found["count"] or 1), found["unit"])
    for pattern in (_EACH_DAY, _WEEKDAY, _WEEK, _MONTH):
        if (found := pattern.fullmatch(text)) and (time := _time(found)):
            return _on_days(found, time, zone)
    return None


def _on_days(found: re.Match[str], time: TimeOfDay, zone: str) -> Schedule | None:
    if found.re is _EACH_DAY:
        return each_day(time, zone)
    if found.re is _WEEKDAY:
        return each_week({1, 2, 3, 4, 5}, time, zone)
    if found.re is _WEEK:
        return each_week({DAYS.index(day) for day in re.findall(_DAY, found["days"])}, time, zone)
    if found["last"]:
        return each_month_end(time, zone)
    day = int(found["day"])
    return each_month(day, time, zone) if found["nth"] == ordinal(day) else None


def _time(found: re.Match[str]) -> TimeOfDay | None:
    """Return the time of day, midnight where none is said; None for a bare number ('at 3')."""
    if found["noon"]:
        return TimeOfDay(12)
    if found["hour"] is None:
        return MIDNIGHT
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        return half_day(hour, minute, found["half"] == "pm", most=12)
    return TimeOfDay(hour, minute) if found["minute"] else None


def ordinal(day: int) -> str:
    """Return the ending of '1st', '2nd', '3rd', '4th'."""
    if 10 < day < 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
