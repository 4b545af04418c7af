"""Moves messages, or parts of them, to the dead list, in one transaction."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import cut, execute
from sakuin.queue.errors import LeaseLost
from sakuin.queue.limits import check_data
from sakuin.queue.message import Message
from sakuin.queue.places import leave_all_places
from sakuin.queue.replay import replay
from sakuin.queue.tell_jobs import tell_dead

MOST_REASON = 2_000
MOST_TRACEBACK = 100_000
"""Characters of them that are kept: the beginning of the reason, the end of the traceback."""

_COPY = (
    "INSERT INTO sakuin_dead"
    " (message_id, queue, priority, attempts, errors, created_at, kind, unique_key,"
    " limit_key, limit_to, limit_seconds, data, reason, traceback)"
    " SELECT id, queue, priority, attempts, errors + ?, created_at, kind,"
    " COALESCE(unique_key, held_key), limit_key, limit_to, limit_seconds, data, ?, ?"
    " FROM sakuin_messages {by_id} WHERE id IN ({ids}) AND queue = ? ORDER BY id"
)
_COPY_PART = _COPY.replace("limit_seconds, data, ?, ?", "limit_seconds, ?, ?, ?")
_REMOVE = "{delete_messages} WHERE id IN ({ids}) AND queue = ?"
"""Without a second condition MariaDB scans the whole table, whatever index it is told to use."""

_OURS = (
    "SELECT {raw_data} AS data FROM sakuin_messages {by_id}"
    " WHERE id IN ({ids}) AND token = ? {lock}"
)
_REWRITE = "UPDATE sakuin_messages {by_id} SET data = ? WHERE id IN ({ids}) AND token = ?"


def move_to_dead(
    connection: Connection,
    queue: str,
    ids: Sequence[int],
    reason: str,
    traceback: str | None,
    *,
    is_error: bool = False,
) -> None:
    """Move messages of one queue that the caller has locked in this transaction.

    `is_error` tells that their last delivery ended in an error, which is counted.
    """
    for part in cut(sorted(ids)):
        execute(connection, _COPY, int(is_error), *_texts(reason, traceback), queue, ids=part)
        execute(connection, _REMOVE, queue, ids=part)
    leave_all_places(connection, ids)
    tell_dead(connection, ids, reason)


def bury(engine: Engine, message: Message, reason: str, traceback: str | None = None) -> None:
    """Move a leased message to the dead list now. Raises LeaseLost if it is no longer ours."""

    def work(connection: Connection) -> None:
        _lock(connection, message)
        move_to_dead(connection, message.queue, [message.id], reason, traceback, is_error=True)

    replay(engine, work, committed=lambda connection, _: _data(connection, message) is None)


def bury_part(
    engine: Engine,
    message: Message,
    part_data: bytes,
    rest_data: bytes | None,
    reason: str,
    traceback: str | None = None,
) -> None:
    """Put `part_data` on the dead list and leave `rest_data` in the message, still leased.

    With None nothing is left and the message is gone. Raises LeaseLost if it is no longer ours.
    """
    check_data(part_data)
    if rest_data is not None:
        check_data(rest_data)

    def work(connection: Connection) -> None:
        _lock(connection, message)
        texts = _texts(reason, traceback)
        execute(connection, _COPY_PART, 1, part_data, *texts, message.queue, ids=[message.id])
        if rest_data is None:
            execute(connection, _REMOVE, message.queue, ids=[message.id])
            leave_all_places(connection, [message.id])
            tell_dead(connection, [message.id], reason)
        else:
            execute(connection, _REWRITE, rest_data, message.token, ids=[message.id])

    replay(engine, work, committed=lambda connection, _: _data(connection, message) == rest_data)


def shrink(engine: Engine, message: Message, data: bytes) -> bool:
    """Give a leased message less data, and tell whether it is still ours (if not, no change)."""
    check_data(data)

    def work(connection: Connection) -> bool:
        changed = execute(connection, _REWRITE, data, message.token, ids=[message.id])
        return changed.rowcount == 1

    return replay(engine, work, committed=lambda *_: False)


def _lock(connection: Connection, message: Message) -> None:
    if _data(connection, message) is None:
        raise LeaseLost(message.id, message.queue)


def _data(connection: Connection, message: Message) -> bytes | None:
    """Lock the message and return its data, or None if it is no longer ours."""
    row = execute(connection, _OURS, message.token, ids=[message.id]).one_or_none()
    if row is None:
        return None
    data: bytes = row.data
    return data


def _texts(reason: str, traceback: str | None) -> Iterable[str | None]:
    """Cut to length, and spell out lone surrogates, which no database stores."""
    for text in (reason[:MOST_REASON], traceback and traceback[-MOST_TRACEBACK:]):
        yield text and text.encode("utf-8", "backslashreplace").decode("utf-8")
