"""Batches: messages that belong together, so that somebody can be told when all are done.

Open one, add messages in the transactions that push them, seal it. It ends when none of its
messages is left in the queue (`end_batches`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from sakuin.queue.dialect import MYSQL, dialect_of, execute, moment, render
from sakuin.queue.errors import BadMessage, QueueError
from sakuin.queue.jobs.job import (
    KEEP_SECONDS,
    check_keep,
    fitted,
    moment_or_none,
)
from sakuin.queue.jobs.tell import addresses_as_stored, addresses_from
from sakuin.queue.limits import check_data, check_kind, check_priority, check_queue
from sakuin.queue.push import push

MOST_DESCRIPTION = 255
MOST_LOOKED_AT = 10_000
IDS_A_STATEMENT = 1_000

_OPEN = (
    "INSERT INTO sakuin_batches (description, callback_queue, callback_kind, callback_data,"
    " callback_priority, notify, keep_seconds) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_COUNT_IN = "UPDATE sakuin_batches SET messages = messages + ? WHERE id = ? AND sealed_at IS NULL"
_ENTER = " INTO sakuin_batch_messages (batch_id, message_id) VALUES (?, ?)"
_IS_THERE = "SELECT 1 FROM sakuin_batches WHERE id = ?"
_ROW = (
    "SELECT id, description, created_at, sealed_at, ended_at, messages, seen, failed, notify,"
    " keep_seconds, keep_until FROM sakuin_batches WHERE id = ?"
)
_GONE = (
    "SELECT COUNT(*) - COUNT(id) FROM (SELECT m.id FROM sakuin_batch_messages b"
    " LEFT JOIN sakuin_messages m ON m.id = b.message_id WHERE b.batch_id = ? AND b.is_dead = 0"
    " ORDER BY b.message_id LIMIT ?) AS some"
)


class BatchSealed(QueueError):
    """The batch takes no more messages; nothing was added."""


class Callback(NamedTuple):
    """The message that is pushed when a batch ends."""

    queue: str
    kind: str | None
    data: bytes = b"{}"
    priority: int = 5


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as the database knows it. Times are aware, in UTC, by the database's clock.

    `total` messages were added; `remaining` of them are still in the queue (exact up to
    MOST_LOOKED_AT, never too small beyond); `failed` were seen to be on the dead list.
    """

    id: int
    description: str
    total: int
    remaining: int
    failed: int
    created_at: datetime
    sealed_at: datetime | None
    ended_at: datetime | None
    keep_until: datetime | None
    keep_seconds: float
    notify: tuple[str, ...]


def open_batch(
    connection: Connection,
    description: str,
    callback: Callback | tuple[str, str | None, bytes, int] | None = None,
    notify: Sequence[str] = (),
    keep_seconds: float = KEEP_SECONDS,
) -> int:
    """Open a batch, in the caller's transaction, and return its id.

    When it ends the callback message is pushed and each address of `notify` (mailto: or https:)
    is told; its row is kept for `keep_seconds`. Raises BadMessage before any SQL.
    """
    values = (
        fitted(description, MOST_DESCRIPTION),
        *callback_values(callback),
        addresses_as_stored(notify),
        check_keep(keep_seconds),
    )
    return int(execute(connection, _OPEN, *values).lastrowid)


def add_to_batch(connection: Connection, batch_id: int, message_ids: Iterable[int]) -> None:
    """Add messages: call it in the transaction that pushes them.

    Raises BatchSealed, and BadMessage if there is no such batch: roll back then.
    """
    verb = "INSERT IGNORE" if dialect_of(connection) is MYSQL else "INSERT OR IGNORE"
    enter = render(dialect_of(connection), verb + _ENTER)
    ids = iter(message_ids)
    while part := [(batch_id, message_id) for message_id in islice(ids, IDS_A_STATEMENT)]:
        _count_in(connection, batch_id, len(part))
        doubles = len(part) - connection.exec_driver_sql(enter, part).rowcount
        if doubles:
            _count_in(connection, batch_id, -doubles)


def push_to_batch(
    connection: Connection, batch_id: int, queue: str, data: bytes, **options: Any
) -> int:
    """Push one message, with the options of `push`, add it to the batch, and return its id."""
    message_id = push(connection, queue, data, **options)
    add_to_batch(connection, batch_id, [message_id])
    return message_id


def batch_of(connection: Connection, batch_id: int) -> Batch | None:
    """Return the batch, or None if there is none (any more)."""
    row = execute(connection, _ROW, batch_id).one_or_none()
    if row is None:
        return None
    remaining = 0
    if row.ended_at is None:
        gone = execute(connection, _GONE, batch_id, MOST_LOOKED_AT).scalar_one()
        remaining = max(0, row.messages - row.seen - gone)
    return _batch(row, remaining)


def callback_values(
    callback: Callback | tuple[str, str | None, bytes, int] | None,
) -> tuple[str | None, str | None, bytes | None, int]:
    """Return the callback as a row holds it, or raise BadMessage."""
    if callback is None:
        return None, None, None, 5
    wanted = Callback(*callback)
    return (
        check_queue(wanted.queue),
        check_kind(wanted.kind),
        check_data(wanted.data),
        check_priority(wanted.priority),
    )


def check_batch(connection: Connection, batch_id: int) -> None:
    """Raise BadMessage if there is no such batch."""
    if not execute(connection, _IS_THERE, batch_id).all():
        raise BadMessage(f"batch {batch_id}: there is none, or it ended and was pruned")


def _count_in(connection: Connection, batch_id: int, count: int) -> None:
    """Count messages in, which also locks the batch against being sealed meanwhile."""
    if not execute(connection, _COUNT_IN, count, batch_id).rowcount:
        check_batch(connection, batch_id)
        raise BatchSealed(f"batch {batch_id}: it is sealed and takes no more messages")


def _batch(row: Row[Any], remaining: int) -> Batch:
    return Batch(
        id=row.id,
        description=row.description,
        total=row.messages,
        remaining=remaining,
        failed=row.failed,
        created_at=moment(row.created_at),
        sealed_at=moment_or_none(row.sealed_at),
        ended_at=moment_or_none(row.ended_at),
        keep_until=moment_or_none(row.keep_until),
        keep_seconds=row.keep_seconds,
        notify=addresses_from(row.notify),
    )
