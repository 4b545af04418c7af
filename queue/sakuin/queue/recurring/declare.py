"""Makes the tasks of one origin (a file, the code) those that the schedulers know."""

from collections.abc import Iterable

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import execute, stored
from sakuin.queue.recurring.clock import Clock, database_clock
from sakuin.queue.recurring.insert_once import insert_once
from sakuin.queue.recurring.limit_rule import limit_as_text
from sakuin.queue.recurring.task import BadTask, Task
from sakuin.queue.replay import replay

CODE = "code"
MOST_ORIGIN = 255

_KNOWN = "SELECT task_key FROM sakuin_tasks WHERE origin = ?"
_DELETE = "DELETE FROM sakuin_tasks WHERE task_key = ? AND origin = ?"
# MySQL assigns from left to right: what looks at the old schedule comes before the new one.
_UPDATE = (
    "UPDATE sakuin_tasks SET"
    " planned_from = CASE WHEN schedule <> ? OR zone <> ? THEN ? ELSE planned_from END,"
    " schedule = ?, zone = ?, origin = ?, kind = ?, data = ?, queue = ?, priority = ?,"
    " catch_up_seconds = ?, limit_rule = ?, description = ? WHERE task_key = ?"
)
_INTO = (
    "INTO sakuin_tasks (planned_from, schedule, zone, origin, kind, data, queue, priority,"
    " catch_up_seconds, limit_rule, description, task_key)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def declare_tasks(
    engine: Engine, tasks: Iterable[Task], origin: str = CODE, *, clock: Clock = database_clock
) -> None:
    """Make these the tasks of that origin: new ones are added, missing ones deleted.

    A task that did not change goes on as planned, so a restart disturbs nothing; one whose
    schedule or zone is another starts afresh, now. A key that another origin declared before is
    taken over. Safe for several processes at once. Raises BadTask if a key comes twice.
    """
    declared: dict[str, Task] = {}
    for task in tasks:
        if task.key in declared:
            raise BadTask(task.key, "key", "declared twice: give each task a key of its own")
        declared[task.key] = task
    if not 1 <= len(origin) <= MOST_ORIGIN:
        raise BadTask("*", "origin", f"{len(origin)} letters: use 1 to {MOST_ORIGIN}")

    def declare(connection: Connection) -> None:
        now = stored(clock(connection))
        known = set(execute(connection, _KNOWN, origin).scalars())
        for key in sorted(known | declared.keys()):  # everybody locks in this order
            if key in declared:
                _write(connection, declared[key], origin, now)
            else:
                execute(connection, _DELETE, key, origin)

    # After a COMMIT whose outcome is unknown it is done again: what is declared changes no more.
    replay(engine, declare, committed=lambda _connection, _result: False)


def drop_task(engine: Engine, key: str) -> bool:
    """Remove a task, whoever declared it; tell whether there was one.

    Who still declares it brings it back when it starts. Runs that were pushed go on.
    """
    sql = "DELETE FROM sakuin_tasks WHERE task_key = ?"
    # After a COMMIT whose outcome is unknown it is gone in the end: a second time does no harm.
    return replay(
        engine,
        lambda connection: execute(connection, sql, key).rowcount == 1,
        committed=lambda _connection, _result: False,
    )


def _write(connection: Connection, task: Task, origin: str, now: str) -> None:
    """Change the task of that key, or add it."""
    values = (
        task.schedule,
        task.zone,
        origin,
        task.kind,
        task.data(),
        task.queue,
        task.priority,
        task.catch_up_seconds,
        limit_as_text(task.limit),
        task.description,
        task.key,
    )
    change = (_UPDATE, task.schedule, task.zone, now, *values)
    if execute(connection, *change).rowcount:
        return
    if not insert_once(connection, _INTO, now, *values):
        execute(connection, *change)  # another process has just added it
