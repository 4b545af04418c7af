"""Ends jobs whose message is gone without their being told: settled by plain SQL, for example."""

from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, Row

from sakuin.queue.dialect import execute
from sakuin.queue.jobs.end_job import end_rows
from sakuin.queue.jobs.job import MOST_ERROR, fitted
from sakuin.queue.replay import read, replay

CHUNK = 500
NOTE = "its message was removed, nobody said with what result"

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
