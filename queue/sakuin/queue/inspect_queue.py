"""Tells where a message is and how many wait, without touching anything."""

from sqlalchemy import Connection

from sakuin.queue.dialect import execute, moment_or_epoch
from sakuin.queue.message import Counts, State

_STATE = (
    "SELECT CASE WHEN locked_until <= {now} THEN 'ready' WHEN token IS NULL THEN 'scheduled'"
    " ELSE 'leased' END FROM sakuin_messages WHERE id = ?"
)
_REASON = "SELECT reason FROM sakuin_dead WHERE message_id = ? ORDER BY id DESC LIMIT 1"
_READY = (
    "SELECT COUNT(*), MIN(locked_until), {now} FROM sakuin_messages {by_claim_key}"
    " WHERE queue = ? AND locked_until <= {now}"
)
_LATER = (
    "SELECT COUNT(*), COUNT(token) FROM sakuin_messages {by_claim_key}"
    " WHERE queue = ? AND locked_until > {now}"
)
_SOME = (
    "SELECT COUNT(*) FROM (SELECT id FROM sakuin_messages {by_claim_key} WHERE queue = ? LIMIT ?)"
    " AS some"
)
_DEAD = "SELECT COUNT(*) FROM sakuin_dead WHERE queue = ?"


def state_of(connection: Connection, message_id: int) -> State | None:
    """Return where the message is, or None if it is settled or never was.

    A message of which only parts died is where the rest of it is; once the rest is settled it
    counts as dead. `dead_messages(message_id=…)` lists the parts.
    """
    status = execute(connection, _STATE, message_id).scalar_one_or_none()
    if status is not None:
        return State(status)
    reason = execute(connection, _REASON, message_id).scalar_one_or_none()
    return None if reason is None else State("dead", reason)


def queue_counts(connection: Connection, queue: str) -> Counts:
    """Return how many messages of the queue are ready, leased, scheduled and dead.

    Reads index entries, and rows only for what is leased or scheduled.
    """
    ready, oldest, now = tuple(execute(connection, _READY, queue).one())
    later, leased = tuple(execute(connection, _LATER, queue).one())
    dead = execute(connection, _DEAD, queue).scalar_one()
    waited = moment_or_epoch(now) - moment_or_epoch(oldest)
    return Counts(
        ready=ready,
        leased=leased,
        scheduled=later - leased,
        dead=dead,
        oldest_seconds=None if oldest is None else waited.total_seconds(),
    )


def waiting_count(connection: Connection, queue: str, most: int) -> int:
    """Return how many messages of the queue are not settled, but count no further than `most`.

    Costs the same however long the queue is: for what is asked in every request.
    """
    return int(execute(connection, _SOME, queue, most).scalar_one())
