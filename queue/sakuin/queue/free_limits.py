"""Frees what nobody freed: places of holders that are gone, keys that nobody uses any more."""

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import cut, dialect_of, execute
from sakuin.queue.places import call_next, lock_key
from sakuin.queue.replay import read, replay

CHUNK = 500
UNUSED_SECONDS = 3600.0

_WITH_ROOM = (
    "SELECT b.limit_key FROM (SELECT limit_key, MIN(message_id) AS message_id"
    " FROM sakuin_limited WHERE state = 1 GROUP BY limit_key) b"
    " LEFT JOIN sakuin_messages f ON f.id = b.message_id"
    " WHERE f.id IS NULL OR f.limit_to > (SELECT COUNT(*) FROM sakuin_limited h"
    " JOIN sakuin_messages m ON m.id = h.message_id WHERE h.limit_key = b.limit_key"
    " AND h.state = 2 AND m.token = h.token AND m.locked_until > {now})"
)
"""By a plain read, so that keys that are full cost their claims nothing."""

_GONE = (
    "SELECT l.message_id FROM sakuin_limited l LEFT JOIN sakuin_messages m ON m.id = l.message_id"
    " WHERE m.id IS NULL ORDER BY l.message_id LIMIT ?"
)
_FORGET = "DELETE FROM sakuin_limited WHERE message_id IN ({ids})"
_UNUSED = (
    "SELECT limit_key FROM sakuin_limits k WHERE used_at < {later} AND NOT EXISTS"
    " (SELECT 1 FROM sakuin_limited l WHERE l.limit_key = k.limit_key) LIMIT ?"
)
_DROP = (
    "DELETE FROM sakuin_limits WHERE limit_key = ? AND NOT EXISTS"
    " (SELECT 1 FROM sakuin_limited l WHERE l.limit_key = sakuin_limits.limit_key)"
)


def free_stale_limits(engine: Engine) -> int:
    """Call blocked messages for whose key there is room, and return how many.

    Whoever ends a holder calls the next one; this is for holders that were killed, or settled by
    plain SQL, and for those called that nobody takes, since their queue is paused or has no
    worker: with every look others of the key come out too. Each key is a transaction of its own.
    Any number may do it at once.
    """
    keys = read(engine, lambda connection: execute(connection, _WITH_ROOM).scalars().all())
    return sum(_call(engine, key) for key in sorted(keys))


def tidy_limits(engine: Engine) -> int:
    """Remove what is left of messages that are gone, and keys unused for an hour; return how many.

    Neither does harm: they only take room.
    """
    return replay(engine, _forget_gone) + replay(engine, _drop_unused)


def _call(engine: Engine, key: bytes) -> int:
    def work(connection: Connection) -> int:
        lock_key(connection, key)
        return call_next(connection, key, passes_called=True)

    return replay(engine, work, committed=lambda *_: False)


def _forget_gone(connection: Connection) -> int:
    ids = sorted(execute(connection, _GONE, CHUNK).scalars())
    return sum(execute(connection, _FORGET, ids=part).rowcount for part in cut(ids))


def _drop_unused(connection: Connection) -> int:
    long_ago = dialect_of(connection).shift(-UNUSED_SECONDS)
    keys = sorted(execute(connection, _UNUSED, long_ago, CHUNK).scalars())
    return sum(execute(connection, _DROP, key).rowcount for key in keys)
