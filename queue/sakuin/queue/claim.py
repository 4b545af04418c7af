"""Takes ready messages under a lease, in one short transaction.

The token is what makes a lease ours; the row locks only save two clients the same work, so a
server that ignores them is still right.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile
from typing import Any

from sqlalchemy import Connection, Engine, Row

from sakuin.queue.bury import move_to_dead
from sakuin.queue.dialect import cut, dialect_of, execute, moment, moment_or_epoch
from sakuin.queue.limits import check_claim_limit, check_queue, check_seconds
from sakuin.queue.message import Message
from sakuin.queue.replay import replay
from sakuin.queue.retry import RetryPolicy

HEAD = (
    "SELECT priority, locked_until AS start, {later} AS until,"
    " CASE WHEN locked_until <= {now} THEN 1 ELSE 0 END AS is_ready"
    " FROM sakuin_messages {by_claim_key} WHERE queue = ? AND priority >= ?"
    " ORDER BY priority, locked_until, id LIMIT 1"
)
"""Where the next priority level begins. Settled messages leave entries in the index until the
server purges them; this read steps over them 20 times faster than the locking one could."""

READY = (
    "SELECT id, priority, attempts + 0 AS attempts, data, created_at,"
    " CASE WHEN expires_at <= {now} THEN 1 ELSE 0 END AS is_expired"
    " FROM sakuin_messages {by_claim_key}"
    " WHERE queue = ? AND priority = ? AND locked_until >= ? AND locked_until <= {now}"
    " ORDER BY locked_until, id LIMIT ? {skip_locked}"
)
TAKE = (
    "UPDATE sakuin_messages {by_id}"
    " SET token = ?, locked_until = ?, attempts = attempts + 1, unique_key = NULL"
    " WHERE id IN ({ids}) AND locked_until <= {now}"
)
HELD = "SELECT id FROM sakuin_messages {by_id} WHERE id IN ({ids}) AND token = ?"


@dataclass(frozen=True, slots=True)
class _Wish:
    queue: str
    limit: int
    lease_seconds: float
    policy: RetryPolicy
    token: bytes


@dataclass(frozen=True, slots=True)
class _Haul:
    messages: tuple[Message, ...]
    has_buried: bool


def claim(
    engine: Engine,
    queue: str,
    *,
    limit: int,
    lease_seconds: float,
    policy: RetryPolicy | None = None,
) -> tuple[Message, ...]:
    """Take up to `limit` ready messages for `lease_seconds`; most urgent first, then oldest.

    Returns at once, empty if nothing is ready. What is past its expiry, or was delivered
    `policy.max_attempts` times without an end, goes to the dead list instead; a message that was
    delivered `policy.alone_after` times without an end comes alone, or with as many of its kind
    as `policy.company` says. A claim whose COMMIT got lost
    is looked up by its token.
    """
    wish = _Wish(
        queue=check_queue(queue),
        limit=check_claim_limit(limit),
        lease_seconds=check_seconds("lease_seconds", lease_seconds, positive=True),
        policy=policy or RetryPolicy(),
        token=secrets.token_bytes(16),
    )
    while True:
        haul = replay(engine, lambda connection: _take(connection, wish), committed=_is_held)
        if haul.messages or not haul.has_buried:
            return haul.messages


def _take(connection: Connection, wish: _Wish) -> _Haul:
    rows, until = _ready(connection, wish)
    expired = [row.id for row in rows if row.is_expired]
    spent = [row.id for row in rows if not row.is_expired and wish.policy.is_spent(row.attempts)]
    if expired:
        move_to_dead(connection, wish.queue, expired, "it expired before it was worked on", None)
    if spent:
        reason = f"it was delivered {wish.policy.max_attempts} times, the last time without an end"
        move_to_dead(connection, wish.queue, spent, reason, None)
    buried = {*expired, *spent}
    chosen = _company([row for row in rows if row.id not in buried], wish.policy)
    held = _lease(connection, [row.id for row in chosen], until, wish.token)
    return _Haul(
        messages=tuple(_message(row, wish, until) for row in chosen if row.id in held),
        has_buried=bool(buried),
    )


def _ready(connection: Connection, wish: _Wish) -> tuple[list[Row[Any]], datetime | str]:
    """Return ready rows in order, locked, and when their lease would end.

    One query a priority level keeps to the index; over several levels the server would sort.
    """
    rows: list[Row[Any]] = []
    until: datetime | str = ""
    lease = dialect_of(connection).shift(wish.lease_seconds)
    least = 0
    while len(rows) < wish.limit:
        head = execute(connection, HEAD, lease, wish.queue, least).one_or_none()
        if head is None:
            break
        until = until or head.until
        least = head.priority + 1
        if head.is_ready:
            wanted = wish.limit - len(rows)
            level = (wish.queue, head.priority, head.start, wanted)
            rows += execute(connection, READY, *level)
    return rows, until


def _company(rows: Sequence[Row[Any]], policy: RetryPolicy) -> Sequence[Row[Any]]:
    """Return the first of the rows that may be delivered together."""
    most = policy.company(rows[0].attempts) if rows else None
    if most is None:
        return list(takewhile(lambda row: policy.company(row.attempts) is None, rows))
    alike = takewhile(lambda row: row.attempts == rows[0].attempts, rows)
    return list(islice(alike, most))


def _lease(
    connection: Connection, ids: Sequence[int], until: datetime | str, token: bytes
) -> set[int]:
    """Put the rows under the token and return the ids that we hold (all, if locks work)."""
    held: set[int] = set()
    for part in cut(sorted(ids)):
        if execute(connection, TAKE, token, until, ids=part).rowcount == len(part):
            held.update(part)
        else:
            held.update(execute(connection, HELD, token, ids=part).scalars())
    return held


def _message(row: Row[Any], wish: _Wish, until: datetime | str) -> Message:
    return Message(
        id=row.id,
        queue=wish.queue,
        priority=row.priority,
        token=wish.token,
        attempts=row.attempts + 1,
        data=row.data.encode() if isinstance(row.data, str) else row.data,
        created_at=moment_or_epoch(row.created_at),
        locked_until=moment(until),
    )


def _is_held(connection: Connection, haul: _Haul) -> bool:
    if not haul.messages:
        return not haul.has_buried
    first = haul.messages[0]
    return bool(execute(connection, HELD + " {lock}", first.token, ids=[first.id]).all())
