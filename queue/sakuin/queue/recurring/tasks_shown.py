"""Shows the tasks as a person asks for them: last run, how it went, next run."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row

from sakuin.queue.dialect import execute, moment_or_epoch
from sakuin.queue.inspect_queue import state_of
from sakuin.queue.message import State, Status
from sakuin.queue.recurring.clock import Clock, database_clock
from sakuin.queue.recurring.parse_schedule import parse_schedule

_TASKS = (
    "SELECT task_key, origin, kind, data, schedule, zone, queue, priority, catch_up_seconds,"
    " description, planned_from FROM sakuin_tasks ORDER BY task_key"
)
_LAST = (
    "SELECT run_at, message_id, pushed_at, is_manual FROM sakuin_runs WHERE task_key = ?"
    " ORDER BY run_at DESC LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One run: when it was due, when it was pushed, as which message, and where that is now.

    `state` is None once the message was worked on with success, and 'dead' where it was given up.
    `message_id` is None where the task's limit had no room and left the run out.
    """

    run_at: datetime
    pushed_at: datetime
    message_id: int | None
    is_manual: bool
    state: State | None

    @property
    def status(self) -> Status | Literal["done", "left out"]:
        """Where the message is, in a word."""
        if self.message_id is None:
            return "left out"
        return "done" if self.state is None else self.state.status


@dataclass(frozen=True, slots=True)
class ShownTask:
    """A declared task with its last and next run. Times are aware, in UTC.

    `next_run_at` is None where the schedule cannot be read: `trouble` says why. One that is past
    is due, and no scheduler has pushed it yet.
    """

    key: str
    origin: str
    kind: str
    data: bytes
    schedule: str
    zone: str
    queue: str
    priority: int
    catch_up_seconds: float
    description: str
    last_run: ShownRun | None
    next_run_at: datetime | None
    trouble: str | None


def tasks_shown(connection: Connection, *, clock: Clock = database_clock) -> tuple[ShownTask, ...]:
    """Return all tasks, in order of their keys."""
    now = clock(connection)
    rows = execute(connection, _TASKS).all()
    return tuple(_shown(connection, row, now) for row in rows)


def runs_shown(connection: Connection, key: str, most: int = 20) -> tuple[ShownRun, ...]:
    """Return the latest runs of a task that are kept, newest first."""
    return tuple(
        ShownRun(
            run_at=moment_or_epoch(row.run_at),
            pushed_at=moment_or_epoch(row.pushed_at),
            message_id=row.message_id or None,
            is_manual=bool(row.is_manual),
            state=state_of(connection, row.message_id),
        )
        for row in execute(connection, _LAST, key, most).all()
    )


def _shown(connection: Connection, row: Row[Any], now: datetime) -> ShownTask:
    next_run_at, trouble = None, None
    try:
        window = now - timedelta(seconds=row.catch_up_seconds)
        since = max(moment_or_epoch(row.planned_from), window)
        next_run_at = parse_schedule(row.schedule, row.zone).next_after(since)
    except (ValueError, TypeError, OverflowError) as error:  # written by another program
        trouble = str(error)
    return ShownTask(
        key=row.task_key,
        origin=row.origin,
        kind=row.kind,
        data=bytes(row.data),
        schedule=row.schedule,
        zone=row.zone,
        queue=row.queue,
        priority=row.priority,
        catch_up_seconds=row.catch_up_seconds,
        description=row.description,
        last_run=next(iter(runs_shown(connection, row.task_key, 1)), None),
        next_run_at=next_run_at,
        trouble=trouble,
    )
