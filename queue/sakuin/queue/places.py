"""The places of a concurrency limit: who holds one, who is blocked, who is called next.

Truth is the lease: a place is held by a message whose row bears the token that `sakuin_limited`
names and whose lease runs. There is no counter that a crash could leave wrong. Whoever decides
about a key holds the lock of its row in `sakuin_limits`, so decisions about a key come one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sakuin.queue.dialect import cut, execute

WAITING, BLOCKED, HOLDING, CALLED = range(4)
"""States of a row in `sakuin_limited`. Called: a place is free for it, and it is ready again."""

CALLED_AT_ONCE = 20
"""How many blocked messages are looked at; more only if all of these were called. So the end of a
holder costs the same, however many are blocked."""

MOST_CALLED = 500
"""How many are called in one transaction; a dispatcher calls the rest."""

_LOCK_KEY = "INSERT INTO sakuin_limits (limit_key) VALUES (?) {on_duplicate} used_at = {now}"
_HELD = (
    "SELECT l.message_id, l.token, l.state, CASE WHEN m.id IS NULL THEN 0"
    " WHEN l.state = 3 THEN m.token IS NULL AND m.locked_until <= {now}"
    " WHEN m.token = l.token THEN 1 + (m.locked_until > {now}) ELSE 0 END AS is_held"
    " FROM sakuin_limited l LEFT JOIN sakuin_messages m ON m.id = l.message_id"
    " WHERE l.limit_key = ? AND l.state >= 2"
)
"""`is_held` of a holder: 2 = its lease runs, 1 = it ran out and nobody took the message yet."""

_RAN_OUT = (
    "SELECT id FROM sakuin_messages {by_id}"
    " WHERE id IN ({ids}) AND token = ? AND locked_until <= {now} {skip_locked}"
)
_FENCE = "UPDATE sakuin_messages {by_id} SET token = NULL WHERE id IN ({ids}) AND token = ?"
_SET = "UPDATE sakuin_limited SET state = ?, token = NULL WHERE message_id IN ({ids})"
_FORGET = "DELETE FROM sakuin_limited WHERE message_id IN ({ids})"
_BLOCKED = (
    "SELECT l.message_id, m.limit_to FROM sakuin_limited l"
    " LEFT JOIN sakuin_messages m ON m.id = l.message_id WHERE l.limit_key = ? AND l.state = 1"
    " ORDER BY l.priority, l.message_id LIMIT ?"
)
_CALL = (
    "UPDATE sakuin_messages {by_id} SET locked_until = due_at WHERE id IN ({ids}) AND token IS NULL"
)
_KEYS = "SELECT DISTINCT limit_key FROM sakuin_limited WHERE message_id IN ({ids})"


@dataclass(slots=True)
class Places:
    """How many places of a key are taken: by holders, and by those that are called."""

    held: int
    called: dict[int, None]


def lock_key(connection: Connection, key: bytes) -> None:
    """Be the only one who decides about this key, until the transaction ends."""
    execute(connection, _LOCK_KEY, key)


def count_places(connection: Connection, key: bytes, claiming: Iterable[int] = ()) -> Places:
    """Count what is taken of a key that is locked.

    A holder whose lease ran out loses its token: it cannot extend any more, and its place is free.
    The messages that we are `claiming` are in our hands, and count as nothing.
    """
    ours = frozenset(claiming)
    held = 0
    called: dict[int, None] = {}
    gone: list[int] = []
    for row in execute(connection, _HELD, key).all():
        if row.message_id in ours:
            continue
        if row.state == CALLED:
            if row.is_held:
                called[row.message_id] = None
        elif row.is_held == 2 or (
            row.is_held and not _fence(connection, row.message_id, row.token)
        ):
            held += 1
        else:
            gone.append(row.message_id)
    for part in cut(sorted(gone)):
        execute(connection, _SET, WAITING, ids=part)
    return Places(held, called)


def leave_places(connection: Connection, key: bytes, ids: Sequence[int], *, is_ended: bool) -> None:
    """Free the places of messages that we settled in this transaction, and call the next ones."""
    lock_key(connection, key)
    for part in cut(sorted(ids)):
        if is_ended:
            execute(connection, _FORGET, ids=part)
        else:
            execute(connection, _SET, WAITING, ids=part)
    call_next(connection, key)


def leave_all_places(connection: Connection, ids: Sequence[int]) -> None:
    """Free whatever places the messages hold, that went to the dead list in this transaction."""
    keys: set[bytes] = set()
    for part in cut(sorted(ids)):
        keys.update(execute(connection, _KEYS, ids=part).scalars())
    for key in sorted(keys):
        leave_places(connection, key, ids, is_ended=True)


def call_next(connection: Connection, key: bytes, *, passes_called: bool = False) -> int:
    """Make blocked messages ready for which there is room, most urgent and oldest first.

    The key is locked. Those that are called count as room taken, or, if it `passes_called`, as
    nothing: a claim lets in no more than may be, whoever is called. Returns how many were called.
    """
    places = count_places(connection, key)
    taken = places.held + (0 if passes_called else len(places.called))
    count = 0
    while True:
        blocked = execute(connection, _BLOCKED, key, CALLED_AT_ONCE).all()
        called: list[int] = []
        gone: list[int] = []
        for row in blocked:
            if row.limit_to is None:
                gone.append(row.message_id)
            elif taken < max(1, row.limit_to):  # anybody may write 0
                taken += 1
                called.append(row.message_id)
        if gone:
            execute(connection, _FORGET, ids=sorted(gone))
        if called:
            execute(connection, _SET, CALLED, ids=sorted(called))
            execute(connection, _CALL, ids=sorted(called))
        count += len(called)
        if len(called) + len(gone) < CALLED_AT_ONCE or count >= MOST_CALLED:
            return count


def _fence(connection: Connection, message_id: int, token: bytes) -> bool:
    """Take the token from a lease that ran out, unless somebody is at the message right now."""
    if not execute(connection, _RAN_OUT, token, ids=[message_id]).all():
        return False
    execute(connection, _FENCE, token, ids=[message_id])
    return True
