"""Times and durations as the queue's commands take them: 90s, 10m, 2h, 7d, or ISO 8601."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

import typer

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


@dataclass(frozen=True, slots=True)
class When:
    """A time, or how long ago it was."""

    value: datetime | timedelta


def duration(text: str) -> timedelta:
    """Return a duration. Raises BadParameter that says how one is written."""
    found = _duration(text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no duration: write 90s, 10m, 2h, 7d or 1h30m")
    return found


def moment(text: str) -> datetime:
    """Return an aware time. Raises BadParameter that says how one is written."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no time: write 2026-12-31T09:00+09:00, or Z for UTC"
        ) from None
    if found.tzinfo is None:
        raise typer.BadParameter(f"{text!r} has no time zone: end it with Z, or as +09:00")
    return found


def age_or_moment(text: str) -> When:
    """Return how long ago, or when. Raises BadParameter that says how either is written."""
    ago = _duration(text)
    return When(moment(text) if ago is None else ago)


def _duration(text: str) -> timedelta | None:
    if not _DURATION.fullmatch(text):
        return None
    try:
        return timedelta(seconds=sum(float(n) * _UNITS[unit] for n, unit in _PART.findall(text)))
    except OverflowError:
        return None
