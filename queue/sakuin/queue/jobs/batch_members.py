"""Members of batches whose messages come back, or are replaced, in the transaction that does it."""

from collections.abc import Iterable

from sqlalchemy import Connection

from sakuin.queue.dialect import cut, execute

_DEAD_IN = (
    "SELECT DISTINCT batch_id FROM sakuin_batch_messages"
    " WHERE message_id IN ({ids}) AND is_dead = 1 ORDER BY batch_id"
)
_LOCK = "SELECT 1 FROM sakuin_batches WHERE id = ? AND ended_at IS NULL {lock}"
_MARK = (
    "UPDATE sakuin_batch_messages {by_id} SET is_dead = ?"
    " WHERE batch_id = ? AND message_id IN ({ids}) AND is_dead = ?"
)
_COUNT = "UPDATE sakuin_batches SET seen = seen + ?, failed = failed + ? WHERE id = ?"
_IN = "SELECT batch_id FROM sakuin_batch_messages WHERE message_id = ? ORDER BY batch_id"
_REPOINT = (
    "{update_or_ignore} sakuin_batch_messages SET message_id = ?"
    " WHERE batch_id = ? AND message_id = ?"
)
"""Ignored where the batch holds the newer message too: the old one then counts as done."""


def revive_members_on(connection: Connection, message_ids: Iterable[int]) -> None:
    """Let batches that have not ended wait for these messages again, which were dead."""
    for part in cut(sorted(message_ids)):
        for batch_id in execute(connection, _DEAD_IN, ids=part).scalars().all():
            if execute(connection, _LOCK, batch_id).all():
                unmark_dead(connection, batch_id, part)


def repoint_members_on(connection: Connection, old_message_id: int, new_message_id: int) -> None:
    """Let batches that hold the old message hold the new one."""
    revive_members_on(connection, [old_message_id])
    for batch_id in execute(connection, _IN, old_message_id).scalars().all():
        execute(connection, _REPOINT, new_message_id, batch_id, old_message_id)


def mark_dead(connection: Connection, batch_id: int, message_ids: Iterable[int]) -> int:
    """Mark members of a batch that the caller has locked; return how many were not marked yet."""
    return execute(connection, _MARK, 1, batch_id, 0, ids=message_ids).rowcount


def unmark_dead(connection: Connection, batch_id: int, message_ids: Iterable[int]) -> None:
    """Take the mark from members of a batch that the caller has locked, and count them anew."""
    count = execute(connection, _MARK, 0, batch_id, 1, ids=message_ids).rowcount
    count_seen(connection, batch_id, -count, -count)


def count_seen(connection: Connection, batch_id: int, seen: int, failed: int) -> None:
    """Count members of a batch that the caller has locked as seen settled, and as failed."""
    execute(connection, _COUNT, seen, failed, batch_id)
