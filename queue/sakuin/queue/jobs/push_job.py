"""Pushes a message whose life is remembered: the message and the job's row commit together."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from sakuin.queue.dialect import execute
from sakuin.queue.jobs.job import KEEP_SECONDS, check_keep
from sakuin.queue.jobs.tell import addresses_as_stored
from sakuin.queue.limit import Limit
from sakuin.queue.push import push

_ADD = (
    "INSERT INTO sakuin_jobs (message_id, queue, kind, notify, keep_seconds) VALUES (?, ?, ?, ?, ?)"
)
_WAITING = "SELECT MIN(id) FROM sakuin_jobs WHERE message_id = ? AND status = 'waiting'"


def push_job(
    connection: Connection,
    queue: str,
    data: bytes,
    *,
    kind: str | None = None,
    notify: Sequence[str] = (),
    keep_seconds: float = KEEP_SECONDS,
    priority: int = 5,
    delay_seconds: float = 0.0,
    at: datetime | None = None,
    unique_key: str | None = None,
    expires_seconds: float | None = None,
    limit: Limit | None = None,
) -> int:
    """Push one message and return the id of its job; both exist if and only if the caller commits.

    Options and errors are those of `push`. When the job ends, each address of `notify` (mailto: or
    https:) is told so, and the row is kept for `keep_seconds`. If a message of that `unique_key`
    waits already and has a job, that job's id is returned, and its own `notify` and
    `keep_seconds` stay.
    """
    addresses = addresses_as_stored(notify)
    keep = check_keep(keep_seconds)
    message_id = push(
        connection,
        queue,
        data,
        kind=kind,
        priority=priority,
        delay_seconds=delay_seconds,
        at=at,
        unique_key=unique_key,
        expires_seconds=expires_seconds,
        limit=limit,
    )
    if unique_key is not None:
        # The push locked the message that waits, so nobody else can give it a job now.
        found = execute(connection, _WAITING, message_id).scalar_one()
        if found is not None:
            return int(found)
    added = execute(connection, _ADD, message_id, queue, kind, addresses, keep)
    return int(added.lastrowid)
