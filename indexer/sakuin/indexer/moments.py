"""Times as people write them, in UTC: each stands for its whole year, month, day, minute…"""

import re
import unicodedata
from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_WRITTEN = re.compile(
    r"""(?P<year>\d{4})
    (?:年|[-/年](?P<month>\d{1,2})
        (?:月|[-/月](?P<day>\d{1,2})日?
            (?:(?:[Tt]|\ +)(?P<hour>\d{1,2}):(?P<minute>\d\d)
                (?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,6}))?)?
                (?P<zone>[Zz]|[-+]\d\d:\d\d)?
            )?
        )?
    )?""",
    re.ASCII | re.VERBOSE,
)
# How much of 2024-01-15T10:30:59.123456 each unit shows.
_UNITS: Final = (4, 7, 10, 16, 19, 26)


def read_moment(text: str) -> tuple[int, int] | None:
    """Return the first and the last microsecond (since 1970) of a written time; None if it is none.

    2024, 2024-01, 2024-01-15, 2024-01-15T10:30, …:59, …:59.5, with `Z` or +09:00 behind a time of
    day; 2024/1/15 and 2024年1月15日 too, in any width.
    """
    found = _WRITTEN.fullmatch(unicodedata.normalize("NFKC", text).strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (
        None if found[unit] is None else int(found[unit])
        for unit in ("year", "month", "day", "hour", "minute", "second")
    )
    fraction = found["fraction"] or ""
    try:
        zone = _zone(found["zone"])
        first = datetime(
            year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone
        )
        last_month = 12 if month is None else month
        last = datetime(
            first.year,
            last_month,
            monthrange(first.year, last_month)[1] if day is None else day,
            23 if hour is None else hour,
            59 if minute is None else minute,
            59 if second is None else second,
            tzinfo=zone,
        )
    except ValueError:
        return None
    return (
        _microseconds(first) + int(fraction.ljust(6, "0")),
        _microseconds(last) + int(fraction.ljust(6, "9")),
    )


def write_moments(low: int | None, high: int | None) -> str:
    """Return `2024-01`, `2024-01..2024-03`, `2024..` or `..2024`: the largest units that fit."""
    for unit in _UNITS:
        first, last = _written(low, unit), _written(high, unit)
        if _begins(first, low) and _ends(last, high):
            return first if first == last else f"{first}..{last}"
    raise ValueError(f"{low}..{high} is no span of microseconds between the years 1 and 9999")


def _begins(text: str, low: int | None) -> bool:
    read = read_moment(text)
    return low is None if read is None else read[0] == low


def _ends(text: str, high: int | None) -> bool:
    read = read_moment(text)
    return high is None if read is None else read[1] == high


def _written(at: int | None, unit: int) -> str:
    if at is None:
        return ""
    moment = (_EPOCH + at * _MICROSECOND).replace(tzinfo=None)
    return moment.isoformat(timespec="microseconds")[:unit]


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[4:6])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))
