"""Says a schedule in plain words, such that reading them gives the same schedule again."""

import re
from typing import Literal

from sakuin.queue.recurring import words_en, words_ja
from sakuin.queue.recurring.schedule import Every, Schedule

Language = Literal["en", "ja"]

_HOURLY = re.compile(r"(?P<minute>\d+) \* \* \* \*")
_TIMED = re.compile(
    r"(?P<minute>\d+) (?P<hour>\d+) "
    r"(?:\* \* (?P<week>\*|1-5|[0-6](?:,[0-6])*)|(?P<day>L|[1-9]|1\d|2[0-8]) \* \*)"
)


def describe(schedule: Schedule, language: Language = "en") -> str:
    """Return the schedule in words of the grammar; a cron expression that has none as it is.

    The time zone is not said.
    """
    if isinstance(schedule, Every):
        return _step_en(schedule.seconds) if language == "en" else _step_ja(schedule.seconds)
    if found := _HOURLY.fullmatch(schedule.expression):
        minute = int(found["minute"])
        if language == "en":
            return "every hour" + f" at :{minute:02}" * bool(minute)
        return "毎時" + f"{minute}分" * bool(minute)
    if found := _TIMED.fullmatch(schedule.expression):
        return _timed_en(found) if language == "en" else _timed_ja(found)
    return schedule.expression


def _step_en(seconds: int) -> str:
    if seconds in (1, 60):
        return "every minute" if seconds == 60 else "every second"
    if seconds % 3600 == 0 and seconds > 3600:
        return f"every {seconds // 3600} hours"  # every hour is on the hour, by the zone's clock
    return f"every {seconds // 60} minutes" if seconds % 60 == 0 else f"every {seconds} seconds"


def _step_ja(seconds: int) -> str:
    if seconds in (1, 60):
        return "毎分" if seconds == 60 else "毎秒"
    if seconds % 3600 == 0:
        return f"{seconds // 3600}時間ごと"
    return f"{seconds // 60}分ごと" if seconds % 60 == 0 else f"{seconds}秒ごと"


def _timed_en(found: re.Match[str]) -> str:
    hour, minute = int(found["hour"]), int(found["minute"])
    at = {(0, 0): "midnight", (12, 0): "noon"}.get((hour, minute), f"{hour}:{minute:02}")
    if found["day"] == "L":
        return f"every month on the last day at {at}"
    if found["day"]:
        day = int(found["day"])
        return f"every month on the {day}{words_en.ordinal(day)} at {at}"
    if found["week"] in ("*", "1-5"):
        return f"every {'day' if found['week'] == '*' else 'weekday'} at {at}"
    days = [words_en.DAYS[int(day)] for day in found["week"].split(",")]
    return f"every {', '.join(days[:-1])}{' and ' * (len(days) > 1)}{days[-1]} at {at}"


def _timed_ja(found: re.Match[str]) -> str:
    hour, minute = int(found["hour"]), int(found["minute"])
    at = "正午" if (hour, minute) == (12, 0) else f"{hour}時" + f"{minute}分" * bool(minute)
    if found["day"]:
        return f"毎月末日{at}" if found["day"] == "L" else f"毎月{found['day']}日{at}"
    if found["week"] in ("*", "1-5"):
        return f"{'毎日' if found['week'] == '*' else '平日'}{at}"
    days = "・".join(words_ja.DAYS[int(day)] for day in found["week"].split(","))
    return f"毎週{days}曜{at}"
