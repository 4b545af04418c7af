"""What the tests of recurring tasks share: a clock that is set by hand, tasks, what was pushed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine

from sakuin.queue import read
from sakuin.queue.dialect import execute, moment
from sakuin.queue.recurring import Scheduler, ShownTask, Task, declare_tasks, tasks_shown


@dataclass(slots=True)
class HandClock:
    """A clock for schedulers: it stands still until it is set."""

    now: datetime

    def __call__(self, connection: Connection) -> datetime:
        return self.now

    def forward(self, **by: float) -> None:
        self.now += timedelta(**by)


def at(text: str) -> datetime:
    """Return a moment of UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def task(key: str = "tidy", **given: Any) -> Task:
    """Return a task with what was given."""
    return Task(**{"key": key, "kind": "app.tidy", "schedule": "daily", "zone": "UTC", **given})


def planned(engine: Engine, now: str, *tasks: Task) -> tuple[HandClock, Scheduler]:
    """Declare the tasks at that time; return the clock and a scheduler that goes by it."""
    clock = HandClock(at(now))
    declare_tasks(engine, tasks, clock=clock)
    return clock, Scheduler(engine, clock=clock)


def recorded(engine: Engine) -> list[tuple[str, datetime]]:
    """Return all runs that are recorded, each with exactly one message of its own."""

    both = (  # in one look: a scheduler may be at it
        "SELECT r.task_key, r.run_at, m.id AS message_id FROM sakuin_runs r"
        " LEFT JOIN sakuin_messages m ON m.id = r.message_id"
        " UNION ALL SELECT NULL, NULL, id FROM sakuin_messages"
        " WHERE id NOT IN (SELECT message_id FROM sakuin_runs)"
    )

    def look(connection: Connection) -> list[tuple[str, datetime]]:
        rows = execute(connection, both).all()
        messages = [row.message_id for row in rows]
        assert None not in messages
        assert len(set(messages)) == len(rows)
        assert all(row.task_key for row in rows), "a message without a run"
        runs = [(row.task_key, moment(row.run_at)) for row in rows]
        return sorted(runs, key=lambda run: run[1])

    return read(engine, look)


def times(engine: Engine) -> list[datetime]:
    """Return when the runs that are recorded were due."""
    return [run_at for _, run_at in recorded(engine)]


def shown(engine: Engine, clock: HandClock) -> dict[str, ShownTask]:
    """Return the tasks as they are shown, by key."""
    found = read(engine, lambda connection: tasks_shown(connection, clock=clock))
    return {one.key: one for one in found}


def at_once(works: list[Callable[[], object]]) -> None:
    """Do all of it at the same moment in threads of their own; the first error is raised."""
    barrier = threading.Barrier(len(works))
    errors: list[BaseException] = []

    def do(work: Callable[[], object]) -> None:
        try:
            barrier.wait(30)
            work()
        except BaseException as error:  # noqa: BLE001  raised below
            errors.append(error)

    threads = [threading.Thread(target=do, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error
