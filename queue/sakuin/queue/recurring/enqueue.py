"""Pushes one run of a task: message, record and plan in one transaction, whoever else tries."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row

from sakuin.queue.dialect import execute, moment_or_epoch, stored
from sakuin.queue.errors import LimitReached
from sakuin.queue.push import push
from sakuin.queue.recurring.clock import Clock, database_clock
from sakuin.queue.recurring.insert_once import insert_once
from sakuin.queue.recurring.limit_rule import limit_from_text
from sakuin.queue.recurring.planned import Planned
from sakuin.queue.recurring.task import BadTask
from sakuin.queue.replay import replay

_LOCK = (
    "SELECT schedule, zone, planned_from, queue, kind, data, priority, limit_rule FROM sakuin_tasks"
    " WHERE task_key = ? {lock}"
)
_PLAN = "UPDATE sakuin_tasks SET planned_from = ? WHERE task_key = ?"
_LEAVE_OUT = (
    "UPDATE sakuin_tasks SET planned_from = ?"
    " WHERE task_key = ? AND planned_from = ? AND schedule = ? AND zone = ?"
)
_RUN = "INTO sakuin_runs (task_key, run_at, message_id, is_manual) VALUES (?, ?, 0, ?)"
_PUSHED = "UPDATE sakuin_runs SET message_id = ? WHERE task_key = ? AND run_at = ?"
_LOOK = "SELECT 1 FROM sakuin_runs WHERE task_key = ? AND run_at = ? AND message_id = ? {lock}"


def enqueue_run(engine: Engine, planned: Planned, run_at: datetime) -> int | None:
    """Push the run and return its message id; None if it was pushed before, or the plan changed.

    0 if the task's limit has no room and discards what finds none.
    Runs of a task are to be given oldest first: the plan moves to this one. Each is pushed once
    however many schedulers try: they queue up for the task's row, and the record of a run
    (task, time) is unique and commits with its message.
    """

    def enqueue(connection: Connection) -> int | None:
        task = execute(connection, _LOCK, planned.key).one_or_none()
        if task is None or (task.schedule, task.zone) != (planned.schedule, planned.zone):
            return None
        if moment_or_epoch(task.planned_from) >= run_at:
            return None
        execute(connection, _PLAN, stored(run_at), planned.key)
        try:
            return _push_once(connection, planned.key, task, run_at, is_manual=False)
        except LimitReached:
            return 0  # it stays recorded: it is this run that is left out

    # After a COMMIT whose outcome is unknown it is tried again: what happened is not done twice.
    return replay(engine, enqueue, committed=lambda _connection, _result: False)


def leave_out(engine: Engine, planned: Planned, until: datetime) -> bool:
    """Move the plan past runs that are too old; True for exactly one of those who try."""
    values = (
        stored(until),
        planned.key,
        stored(planned.planned_from),
        planned.schedule,
        planned.zone,
    )
    return replay(
        engine, lambda connection: bool(execute(connection, _LEAVE_OUT, *values).rowcount)
    )


def run_now(engine: Engine, key: str, *, clock: Clock = database_clock) -> int:
    """Push a run of the task at once, beside its plan, and return the message id.

    Raises BadTask if there is no such task, and LimitReached, with nothing pushed, if its limit
    has no room and discards.
    """

    def enqueue(connection: Connection) -> tuple[datetime, int]:
        task = execute(connection, _LOCK, key).one_or_none()
        if task is None:
            raise BadTask(key, "key", "no such task is declared")
        run_at = clock(connection)
        while (message_id := _push_once(connection, key, task, run_at, is_manual=True)) is None:
            run_at += timedelta(microseconds=1)  # a run of this very moment is there
        return run_at, message_id

    def is_there(connection: Connection, done: tuple[datetime, int]) -> bool:
        return execute(connection, _LOOK, key, stored(done[0]), done[1]).first() is not None

    return replay(engine, enqueue, committed=is_there)[1]


def _push_once(
    connection: Connection, key: str, task: Row[Any], run_at: datetime, *, is_manual: bool
) -> int | None:
    """Record the run and push its message; None if it is recorded already.

    Raises LimitReached with the run recorded, as message 0.
    """
    at = stored(run_at)
    if not insert_once(connection, _RUN, key, at, int(is_manual)):
        return None
    message_id = push(
        connection,
        task.queue,
        bytes(task.data),
        priority=task.priority,
        kind=task.kind,
        limit=limit_from_text(task.limit_rule),
    )
    execute(connection, _PUSHED, message_id, key, at)
    return message_id
