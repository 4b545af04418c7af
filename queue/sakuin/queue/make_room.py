"""Limits that discard: what finds as many of its key as may be at once is not pushed at all."""

from sqlalchemy import Connection

from sakuin.queue.dialect import execute
from sakuin.queue.errors import LimitReached
from sakuin.queue.limit import Limit
from sakuin.queue.places import WAITING, lock_key

_FORGET_GONE = (
    "DELETE FROM sakuin_limited WHERE limit_key = ? AND NOT EXISTS"
    " (SELECT 1 FROM sakuin_messages m WHERE m.id = sakuin_limited.message_id)"
)
_COUNT = "SELECT COUNT(*) FROM sakuin_limited WHERE limit_key = ?"
_ENTER = (
    "INSERT INTO sakuin_limited (message_id, limit_key, state, priority) VALUES (?, ?, ?, ?)"
    " {on_duplicate} limit_key = ?"
)


def make_room(connection: Connection, limit: Limit) -> None:
    """Raise LimitReached if as many of the key wait or are worked on as the limit allows.

    The key stays locked until the caller's transaction ends: two pushes cannot both be the last.
    """
    key = limit.stored_key
    lock_key(connection, key)
    execute(connection, _FORGET_GONE, key)
    found = execute(connection, _COUNT, key).scalar_one()
    if found >= limit.to:
        raise LimitReached(
            f"limit {key.decode('utf-8', 'replace')!r}: {found} of {limit.to} are waiting or "
            "worked on; nothing was pushed"
        )


def enter_waiting(connection: Connection, message_id: int, limit: Limit, priority: int) -> None:
    """Remember a message that was pushed under such a limit, so that it counts at once."""
    key = limit.stored_key
    execute(connection, _ENTER, message_id, key, WAITING, priority, key)
