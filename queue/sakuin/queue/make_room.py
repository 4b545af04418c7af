"""Limits that discard: what finds as many of its key as may be at once is not pushed at all."""

from collections.abc import Sequence

from sqlalchemy import Connection

from sakuin.queue.dialect import cut, execute
from sakuin.queue.errors import LimitReached
from sakuin.queue.limit import Limit
from sakuin.queue.places import WAITING, lock_key

_GONE = (
    "SELECT l.message_id FROM sakuin_limited l LEFT JOIN sakuin_messages m ON m.id = l.message_id"
    " WHERE l.limit_key = ? AND m.id IS NULL"
)
_FORGET = "DELETE FROM sakuin_limited WHERE message_id IN ({ids})"
"""Apart from the search, which so locks no message: a claim that holds one waits for our key."""

_COUNT = "SELECT COUNT(*) FROM sakuin_limited WHERE limit_key = ?"
_ENTER = (
    "INSERT INTO sakuin_limited (message_id, limit_key, state, priority)"
    " SELECT id, limit_key, ?, priority FROM sakuin_messages {by_id}"
    " WHERE id IN ({ids}) AND limit_key IS NOT NULL"
    " {on_duplicate} state = sakuin_limited.state"
)
"""What the message itself says: under its unique key an older one of another limit may wait."""


def make_room(connection: Connection, limit: Limit) -> None:
    """Raise LimitReached if as many of the key wait or are worked on as the limit allows.

    The key stays locked until the caller's transaction ends: two pushes cannot both be the last.
    """
    key = limit.stored_key
    lock_key(connection, key)
    gone = sorted(execute(connection, _GONE, key).scalars())
    for part in cut(gone):
        execute(connection, _FORGET, ids=part)
    found = execute(connection, _COUNT, key).scalar_one()
    if found >= limit.to:
        raise LimitReached(
            f"limit {key.decode('utf-8', 'replace')!r}: {found} of {limit.to} are waiting or "
            "worked on; nothing was pushed"
        )


def enter_waiting(connection: Connection, ids: Sequence[int]) -> None:
    """Remember those of the messages that have a limit, so that they count at once."""
    for part in cut(sorted(ids)):
        execute(connection, _ENTER, WAITING, ids=part)
