"""A recurring task as a plain value: what is pushed, where to, and when."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sakuin.queue.errors import QueueError
from sakuin.queue.limit import Limit
from sakuin.queue.limits import check_data, check_kind, check_priority, check_queue
from sakuin.queue.recurring.parse_schedule import parse_schedule
from sakuin.queue.recurring.schedule import Schedule
from sakuin.queue.recurring.zones import open_zone

LEAST_CATCH_UP_SECONDS = 60.0
"""A scheduler is always a little late: with none of it runs would be left out at random."""

MOST_CATCH_UP_SECONDS = 31 * 86400.0
_MOST_CHARACTERS = {"key": 100, "schedule": 255, "zone": 64, "description": 255}
_TEXTS = ("key", "kind", "schedule", "zone", "queue", "description")


class BadTask(QueueError, ValueError):
    """A task that cannot be declared; it names the task's key, the field and the problem."""

    def __init__(self, key: str, field_name: str, problem: str) -> None:
        self.key, self.field_name, self.problem = key, field_name, problem
        super().__init__(f"task {key!r}, {field_name}: {problem}")


@dataclass(frozen=True, slots=True)
class Task:
    """Push a message of `kind`, with `args` as its JSON, into `queue` whenever `schedule` is due.

    `schedule` is cron or plain words (`parse_schedule`), by the clock of `zone`. Runs that were
    missed while no scheduler ran are made up for if they are younger than `catch_up_seconds`;
    older ones are left out. With `limit` only so many are worked on at once, or, where it discards,
    a run is left out while one waits or is worked on. Raises BadTask that names key and field.
    """

    key: str
    kind: str
    schedule: str
    zone: str
    args: Mapping[str, Any] = field(default_factory=dict)
    queue: str = "default"
    priority: int = 5
    catch_up_seconds: float = 600.0
    description: str = ""
    limit: Limit | None = None

    def __post_init__(self) -> None:
        for name in _TEXTS:
            text = getattr(self, name)
            if not isinstance(text, str):
                raise BadTask(str(self.key), name, f"{text!r} is no text: use a string")
            if len(text) > (most := _MOST_CHARACTERS.get(name, len(text))):
                raise BadTask(self.key[:100], name, f"{len(text)} letters: use up to {most}")
        if not self.key or not self.key.isprintable() or self.key != self.key.strip():
            raise BadTask(self.key, "key", "use letters, without blanks around them")
        self._check("kind", lambda: check_kind(self.kind))
        self._check("zone", lambda: open_zone(self.zone))
        self._check("schedule", self.when)
        self._check("args", lambda: check_data(self.data()))
        self._check("queue", lambda: check_queue(self.queue))
        self._check("priority", lambda: check_priority(_whole(self.priority)))
        self._check("catch_up_seconds", lambda: _check_catch_up(self.catch_up_seconds))

    def when(self) -> Schedule:
        """Return the schedule as read."""
        return parse_schedule(self.schedule, self.zone)

    def data(self) -> bytes:
        """Return the arguments as JSON: the data of each message."""
        return json.dumps(
            dict(self.args), ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode()

    def _check(self, name: str, check: Callable[[], object]) -> None:
        try:
            check()
        except (TypeError, ValueError) as error:  # BadMessage and BadSchedule are ValueErrors
            raise BadTask(self.key, name, str(error)) from None


def _whole(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"{number!r} is no whole number")
    return number


def _check_catch_up(seconds: object) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{seconds!r} is no number")
    if not LEAST_CATCH_UP_SECONDS <= seconds <= MOST_CATCH_UP_SECONDS:
        raise ValueError(
            f"{seconds}: use {LEAST_CATCH_UP_SECONDS:.0f} to {MOST_CATCH_UP_SECONDS:.0f} (a month)"
        )
