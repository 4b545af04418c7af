"""Ends a lease without an end of the message: it waits again, under its unique key if it has one.

A newer message may wait under that key by now (it was free during the lease). Then ours is merged
into it, that is, removed: the newer one will do its work.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from sakuin.queue.dialect import execute
from sakuin.queue.errors import DatabaseBusy
from sakuin.queue.message import Message
from sakuin.queue.places import leave_places
from sakuin.queue.tell_jobs import tell_merged

TRIES = 10

_SET = " sakuin_messages {by_id} SET token = NULL, unique_key = held_key,"
_COUNTS = {
    "unworked": " attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END,",
    "failed": " errors = errors + 1,",
    "crashed": "",
}
_WHERE = " WHERE id IN ({ids}) AND token = ?"
_STILL = "SELECT id FROM sakuin_messages {by_id} WHERE id IN ({ids}) AND token = ? {lock}"
_NEWER = "SELECT id FROM sakuin_messages WHERE queue = ? AND unique_key = ?"
_REMOVE = "{delete_messages} WHERE id IN ({ids}) AND token = ?"


@dataclass(frozen=True, slots=True)
class End:
    """How a delivery ended, and how many errors that counts as."""

    name: str
    errors: int = 0


UNWORKED, FAILED, CRASHED = End("unworked"), End("failed", errors=1), End("crashed")


def give_back(
    connection: Connection,
    like: Message,
    ids: Sequence[int],
    end: End,
    wait: object,
    also: Callable[[Connection, Sequence[int]], None] | None = None,
) -> int:
    """Let messages wait again and return how many were ours; `also` is told which wait.

    All are like the given one, under its token. `wait` is what `{later}` is bound to; None puts
    them back to the head, in their old order.
    """
    if like.unique_key is None:
        waiting = list(ids)
        found = _update(connection, "UPDATE", like.token, waiting, end, wait)
    else:
        states = {
            message_id: give_back_keyed(connection, like.queue, like.token, message_id, end, wait)
            for message_id in ids
        }
        waiting = [message_id for message_id, state in states.items() if state == "waits"]
        found = sum(state != "lost" for state in states.values())
    if found and like.limit_key is not None:
        leave_places(connection, like.limit_key, ids, is_ended=False)
    if also and waiting:
        also(connection, waiting)
    return found


def give_back_keyed(
    connection: Connection, queue: str, token: bytes, message_id: int, end: End, wait: object
) -> Literal["waits", "merged", "lost"]:
    """Give back one message that has a unique key: it waits under it, or is merged; or was lost."""
    for _ in range(TRIES):
        found = _update(connection, "{update_or_ignore}", token, [message_id], end, wait)
        if not execute(connection, _STILL, token, ids=[message_id]).all():
            return "waits" if found else "lost"
        # It was ignored (which MySQL counts as found, SQLite does not), since the
        # key is taken; the newer one may be claimed at this moment.
        key = execute(connection, "SELECT held_key FROM sakuin_messages WHERE id = ?", message_id)
        newer = execute(connection, _NEWER, queue, key.scalar_one()).scalar_one_or_none()
        if newer is not None:
            execute(connection, _REMOVE, token, ids=[message_id])
            tell_merged(connection, message_id, newer)
            return "merged"
    raise DatabaseBusy(f"message {message_id}: its unique key was taken and freed again and again")


def _update(
    connection: Connection, verb: str, token: bytes, ids: Sequence[int], end: End, wait: object
) -> int:
    sql = verb + _SET + _COUNTS[end.name] + " locked_until = "
    if wait is None:
        return execute(connection, sql + "due_at" + _WHERE, token, ids=ids).rowcount
    return execute(connection, sql + "{later}" + _WHERE, wait, token, ids=ids).rowcount
