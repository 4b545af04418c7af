"""Which runs of a task are to be pushed now, and which are too old."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sakuin.queue.recurring.schedule import Schedule

MOST_RUNS = 100
"""So many runs are made up for at once; the plan moves with each, so the rest come next."""


@dataclass(frozen=True, slots=True)
class Due:
    """The runs to push, oldest first; and, if runs are too old, the first of them and the window.

    `left_out` and `left_out_until` are None where nothing is too old: runs after the first and
    up to the second are never pushed.
    """

    runs: tuple[datetime, ...]
    left_out: datetime | None = None
    left_out_until: datetime | None = None


def due_runs(
    schedule: Schedule, planned_from: datetime, now: datetime, catch_up_seconds: float
) -> Due:
    """Return what is due after `planned_from` and up to `now`, all aware.

    What is not younger than `catch_up_seconds` is left out.
    """
    window = now - timedelta(seconds=catch_up_seconds)
    first = schedule.next_after(planned_from)
    left_out = first if first <= window else None
    run = schedule.next_after(window) if left_out else first
    runs: list[datetime] = []
    while run <= now and len(runs) < MOST_RUNS:
        runs.append(run)
        run = schedule.next_after(run)
    return Due(tuple(runs), left_out, window if left_out else None)
