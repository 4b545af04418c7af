"""Schedules in Japanese words: a small closed grammar, every form of it in EXAMPLES."""

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
    "毎分",
    "毎時",
    "毎時15分",
    "毎日",
    "30秒ごと",
    "5分ごと",
    "2時間おき",
    "毎日正午",
    "毎日3時",
    "毎日3:15",
    "毎日午前3時半",
    "毎日午後3時15分",
    "毎朝7時",
    "平日9時",
    "毎週月曜3時",
    "毎週月・金曜3時",
    "毎週月曜日と金曜日の9時半",
    "毎月1日3時",
    "毎月末",
    "毎月末日23時30分",
)
DAYS = "日月火水木金土"
_UNITS = {"秒": "second", "分": "minute", "時間": "hour"}

_AT = (
    r"の?(?:(?P<noon>正午)|(?P<midnight>真夜中)|(?P<half>午前|午後)?"
    r"(?P<hour>\d\d?)(?:時(?:(?P<thirty>半)|(?P<minutes>\d\d?)分)?|:(?P<minute>\d\d)))?に?"
)
_STEP = re.compile(r"(?P<count>\d{1,6})(?P<unit>秒|分|時間)(?:ごと|毎|おき)に?")
_EACH_STEP = re.compile(r"毎(?P<unit>秒|分)")
_HOUR = re.compile(r"毎時(?:(?P<past>\d\d?)分)?に?")
_EACH_DAY = re.compile(r"毎日" + _AT)
_MORNING = re.compile(r"毎朝" + _AT)
_WEEKDAY = re.compile(r"(?:毎週)?平日" + _AT)
_WEEK = re.compile(
    rf"毎週(?P<days>(?:[{DAYS}]+(?:曜日?)?[・、,と])*[{DAYS}]+曜日?)" + _AT  # 月・金曜, 月水金曜日
)
_MONTH = re.compile(r"毎月(?:(?P<last>末日?)|(?P<day>\d\d?)日)" + _AT)

_NUMERAL = re.compile("[〇零一二三四五六七八九十]+")
_DIGITS = {"零": 0, **{digit: value for value, digit in enumerate("〇一二三四五六七八九")}}
_TENS = re.compile("([二三四五六七八九]?)十([一二三四五六七八九]?)")


def schedule_said(text: str, zone: str) -> Schedule | None:
    """Return the schedule that folded Japanese words say; None if they are not in the grammar.

    Raises BadSchedule for a number that cannot be.
    """
    text = _NUMERAL.sub(_in_digits, text)
    if found := _HOUR.fullmatch(text):
        return each_hour(int(found["past"] or 0), zone)
    if found := _EACH_STEP.fullmatch(text):
        return each_step(1, _UNITS[found["unit"]])
    if found := _STEP.fullmatch(text):
        return each_step(int(found["count"]), _UNITS[found["unit"]])
    for pattern in (_EACH_DAY, _MORNING, _WEEKDAY, _WEEK, _MONTH):
        if found := pattern.fullmatch(text):
            return _on_days(found, _time(found), zone)
    return None


def _on_days(found: re.Match[str], time: TimeOfDay, zone: str) -> Schedule | None:
    if found.re is _EACH_DAY:
        return each_day(time, zone)
    if found.re is _MORNING:
        is_morning = 4 <= time.hour <= 11 and found["half"] != "午後"
        return each_day(time, zone) if is_morning else None
    if found.re is _WEEKDAY:
        return each_week({1, 2, 3, 4, 5}, time, zone)
    if found.re is _WEEK:
        names = re.sub("曜日?", "", found["days"])
        return each_week({DAYS.index(day) for day in names if day in DAYS}, time, zone)
    if found["last"]:
        return each_month_end(time, zone)
    return each_month(int(found["day"]), time, zone)


def _time(found: re.Match[str]) -> TimeOfDay:
    """Return the time of day, midnight where none is said; 午後12時 means two things: refused."""
    if found["noon"]:
        return TimeOfDay(12)
    if found["hour"] is None:
        return MIDNIGHT
    hour = int(found["hour"])
    minute = 30 if found["thirty"] else int(found["minutes"] or found["minute"] or 0)
    if found["half"]:
        return half_day(hour, minute, found["half"] == "午後", most=11)
    return TimeOfDay(hour, minute)


def _in_digits(found: re.Match[str]) -> str:
    """Return a kanji numeral up to 99 in digits (二十三, 二三, 〇); others stay as they are."""
    numeral = found[0]
    if tens := _TENS.fullmatch(numeral):
        return str(10 * _DIGITS.get(tens[1], 1) + _DIGITS.get(tens[2], 0))
    if "十" in numeral:
        return numeral
    return "".join(str(_DIGITS[digit]) for digit in numeral)
