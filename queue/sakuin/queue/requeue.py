"""Gives back what a process holds that is dead: ready again at once, its attempts counted."""

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import cut, execute
from sakuin.queue.give_back import CRASHED, give_back_keyed
from sakuin.queue.places import leave_places
from sakuin.queue.queue_names import queue_names
from sakuin.queue.replay import replay
from sakuin.queue.tell_jobs import tell_requeued

HOLDER_BYTES = 8
_LEVEL = (
    "SELECT priority FROM sakuin_messages {by_claim_key} WHERE queue = ? AND priority >= ?"
    " ORDER BY priority LIMIT 1"
)
_LEASED = (
    "SELECT id FROM sakuin_messages {by_claim_key} WHERE queue = ? AND priority = ?"
    " AND locked_until > {now} AND locked_until < '9999-01-01' AND token >= ? AND token <= ?"
)
_FREE = (
    "UPDATE sakuin_messages {by_id} SET token = NULL, locked_until = due_at"
    " WHERE id IN ({ids}) AND token >= ? AND token <= ?"
)
_BOUND = (
    "SELECT id, queue, token, held_key, limit_key FROM sakuin_messages {by_id}"
    " WHERE id IN ({ids}) AND token >= ? AND token <= ?"
    " AND (held_key IS NOT NULL OR limit_key IS NOT NULL) ORDER BY id {lock}"
)


def requeue_held(engine: Engine, holder: bytes) -> int:
    """Make ready, at the head, every message that is leased to this process; return how many.

    `holder` is what the process gave to its claims. If it still lives, it has lost its leases. A
    unique key is in force again, or merges the message into a newer one that waits under it.
    """
    return replay(
        engine,
        lambda connection: requeue_held_on(connection, holder),
        committed=lambda *_: False,  # a second time finds nothing, or what is left
    )


def requeue_held_on(connection: Connection, holder: bytes) -> int:
    """As `requeue_held`, in the caller's transaction."""
    if len(holder) != HOLDER_BYTES:
        raise ValueError(f"a holder has {HOLDER_BYTES} bytes, not {len(holder)}")
    first, last = holder + b"\x00" * 8, holder + b"\xff" * 8
    ids = sorted(
        message_id
        for queue in queue_names(connection)
        for priority in _levels(connection, queue)
        for message_id in execute(connection, _LEASED, queue, priority, first, last).scalars()
    )
    count = 0
    limited: dict[bytes, list[int]] = {}
    for part in cut(ids):
        for row in execute(connection, _BOUND, first, last, ids=part).all():
            if row.limit_key is not None:
                limited.setdefault(row.limit_key, []).append(row.id)
            if row.held_key is not None:
                token = bytes(row.token)
                end = give_back_keyed(connection, row.queue, token, row.id, CRASHED, None)
                count += end != "lost"
        count += execute(connection, _FREE, first, last, ids=part).rowcount
    for key in sorted(limited):
        leave_places(connection, key, limited[key], is_ended=False)
    tell_requeued(connection, ids, holder)
    return count


def _levels(connection: Connection, queue: str) -> list[int]:
    levels: list[int] = []
    least = 0
    while True:
        found = execute(connection, _LEVEL, queue, least).scalar_one_or_none()
        if found is None:
            return levels
        levels.append(found)
        least = found + 1
