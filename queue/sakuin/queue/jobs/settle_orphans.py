"""Mends jobs that were not told what became of their message.

It is gone: settled by plain SQL, for example. Or nobody holds it any more: the lease ran out.
"""

from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, Row

from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.jobs.end_job import end_rows
from sakuin.queue.jobs.job import MOST_ERROR, fitted
from sakuin.queue.replay import read, replay

CHUNK = 500
NOTE = "its message was removed, nobody said with what result"

GRACE_SECONDS = 60.0
"""A lease that ran out may still be extended by who was cut off: so long its job is let alone."""

_LEFT = (
    "SELECT j.id FROM sakuin_jobs j JOIN sakuin_messages m ON m.id = j.message_id"
    " WHERE j.status = 'making' AND j.id > ?"
    " AND (m.token IS NULL OR m.locked_until <= {later}) ORDER BY j.id LIMIT ?"
)
_WAIT = (
    "UPDATE sakuin_jobs {by_id} SET status = 'waiting', receipt_handle = NULL, updated_at = {now}"
    " WHERE id IN ({ids}) AND status = 'making' AND EXISTS (SELECT 1 FROM sakuin_messages m"
    " WHERE m.id = sakuin_jobs.message_id AND (m.token IS NULL OR m.locked_until <= {later}))"
)
_ORPHANS = (
    "SELECT j.id FROM sakuin_jobs j LEFT JOIN sakuin_messages m ON m.id = j.message_id"
    " WHERE j.status = ? AND j.id > ? AND m.id IS NULL ORDER BY j.id LIMIT ?"
)
_LOCK = (
    "SELECT id, message_id, queue, kind, notify, keep_seconds FROM sakuin_jobs {by_id}"
    " WHERE id IN ({ids}) AND status IN ('waiting', 'making') ORDER BY id {skip_locked}"
)
_LIVE = "SELECT id FROM sakuin_messages WHERE id IN ({ids})"
_DEAD = "SELECT message_id, reason FROM sakuin_dead WHERE message_id IN ({ids}) ORDER BY id"


def settle_orphans(engine: Engine) -> int:
    """End the jobs whose message is in the queue no more; return how many.

    If the dead list has the message the job failed for that reason, otherwise it is finished
    without a result, and its note says so. For a dispatcher, every minute or so: it looks at every
    job that has not ended. Any number may do it at once.
    """
    return sum(_settle(engine, status) for status in ("waiting", "making"))


def free_left_jobs(engine: Engine) -> int:
    """Let the jobs wait again whose message nobody holds any more; return how many.

    Who held it died or was cut off, and nobody claims it: its queue is paused, for example. For a
    dispatcher, as `settle_orphans`.
    """
    count = last_id = 0
    while ids := read(engine, partial(_left, last_id=last_id)):
        count += replay(engine, partial(_free, ids=ids), committed=lambda *_: False)
        last_id = ids[-1]
    return count


def _left(connection: Connection, last_id: int) -> list[int]:
    before = dialect_of(connection).shift(-GRACE_SECONDS)
    return list(execute(connection, _LEFT, last_id, before, CHUNK).scalars())


def _free(connection: Connection, ids: list[int]) -> int:
    before = dialect_of(connection).shift(-GRACE_SECONDS)
    return int(execute(connection, _WAIT, before, ids=ids).rowcount)


def _settle(engine: Engine, status: str) -> int:
    count = last_id = 0
    while ids := read(engine, partial(_orphans, status=status, last_id=last_id)):
        count += replay(engine, partial(_end, ids=ids), committed=lambda *_: False)
        last_id = ids[-1]
    return count


def _orphans(connection: Connection, status: str, last_id: int) -> list[int]:
    return list(execute(connection, _ORPHANS, status, last_id, CHUNK).scalars())


def _end(connection: Connection, ids: list[int]) -> int:
    """End those that nobody else is at, after a second look: they may have been pushed again."""
    rows = execute(connection, _LOCK, ids=ids).all()
    if not rows:
        return 0
    messages = sorted({row.message_id for row in rows})
    live = set(execute(connection, _LIVE, ids=messages).scalars())
    dead = {row.message_id: row.reason for row in execute(connection, _DEAD, ids=messages)}
    gone: list[Row[Any]] = []
    count = 0
    for row in rows:
        if row.message_id in live:
            continue
        count += 1
        if row.message_id in dead:
            reason = fitted(dead[row.message_id], MOST_ERROR)
            end_rows(connection, [row], "failed", error=reason)
        else:
            gone.append(row)
    end_rows(connection, gone, "finished", note=NOTE)
    return count
