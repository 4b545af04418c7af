"""Takes ready messages under a lease, in one short transaction.

The token is what makes a lease ours; the row locks only save two clients the same work, so a
server that ignores them is still right.
"""

import secrets
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice, takewhile

from sqlalchemy import Connection, Engine

from sakuin.queue.admit import admit
from sakuin.queue.bury import move_to_dead
from sakuin.queue.dialect import cut, execute, stored
from sakuin.queue.errors import BadMessage
from sakuin.queue.limits import check_claim_limit, check_queue, check_seconds
from sakuin.queue.message import Message
from sakuin.queue.ready import Ready, read_ready
from sakuin.queue.replay import replay
from sakuin.queue.retry import RetryPolicy

REACH_PAST_BLOCKED = 500
"""How many ready messages are looked at after a claim met only such as find no place."""

TAKE = (
    "UPDATE sakuin_messages {by_id}"
    " SET token = ?, locked_until = ?, attempts = attempts + 1,"
    " held_key = COALESCE(unique_key, held_key), unique_key = NULL"
    " WHERE id IN ({ids}) AND locked_until <= {now}"
)
HELD = "SELECT id FROM sakuin_messages {by_id} WHERE id IN ({ids}) AND token = ?"


Also = Callable[[Connection, Sequence[Message]], None]
"""What is done in the transaction of the claim, with the messages that were claimed."""


@dataclass(frozen=True, slots=True)
class _Wish:
    queue: str
    limit: int
    lease_seconds: float
    policy: RetryPolicy
    token: bytes
    also: Also | None = None


@dataclass(frozen=True, slots=True)
class _Haul:
    messages: tuple[Message, ...]
    has_put_aside: bool


def claim(
    engine: Engine,
    queue: str,
    *,
    limit: int,
    lease_seconds: float,
    policy: RetryPolicy | None = None,
    holder: bytes | None = None,
    also: Also | None = None,
) -> tuple[Message, ...]:
    """Take up to `limit` ready messages for `lease_seconds`; most urgent first, then oldest.

    Returns at once, empty if nothing is ready or the queue is paused. What is past its expiry, or
    was delivered `policy.max_attempts` times without an end, goes to the dead list instead; a
    message that was delivered `policy.alone_after` times without an end comes alone, or with as
    many of its kind as `policy.company` says. What finds no place under its concurrency limit is
    blocked. `holder`, 8 bytes, begins the token: see `requeue_held`. `also(connection, messages)`
    runs in the same transaction. A claim whose COMMIT got lost is looked up by its token.
    """
    wish = _Wish(
        queue=check_queue(queue),
        limit=check_claim_limit(limit),
        lease_seconds=check_seconds("lease_seconds", lease_seconds, positive=True),
        policy=policy or RetryPolicy(),
        token=_token(holder),
        also=also,
    )
    reach = wish.limit
    while True:
        haul = replay(engine, partial(_take, wish=wish, reach=reach), committed=_is_held)
        if haul.messages or not haul.has_put_aside:
            return haul.messages
        reach = max(wish.limit, REACH_PAST_BLOCKED)


def _token(holder: bytes | None) -> bytes:
    if holder is None:
        return secrets.token_bytes(16)
    if len(holder) != 8:
        raise BadMessage(f"holder of {len(holder)} bytes: give 8")
    return holder + secrets.token_bytes(8)


def _take(connection: Connection, wish: _Wish, reach: int) -> _Haul:
    rows, until = read_ready(connection, wish.queue, reach, wish.lease_seconds)
    given_up = _give_up(connection, wish, rows)
    rows = [row for row in rows if row.id not in given_up]
    chosen = _company(rows[: wish.limit], wish.policy)
    refused = admit(connection, chosen, rows[len(chosen) :], wish.token)
    chosen = [row for row in chosen if row.id not in refused]
    messages = _lease_all(connection, wish, chosen, until)
    if messages and wish.also:
        wish.also(connection, messages)
    return _Haul(messages, has_put_aside=bool(given_up or refused))


def _give_up(connection: Connection, wish: _Wish, rows: Sequence[Ready]) -> set[int]:
    """Move what expired, or was delivered too often, to the dead list; return the ids."""
    reasons: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.is_expired:
            reasons["it expired before it was worked on"].append(row.id)
        elif wish.policy.is_killer(row.attempts, row.errors):
            reasons[f"the process that worked on it died {_crashes(row)} times"].append(row.id)
        elif wish.policy.is_spent(row.attempts, row.errors):
            times = wish.policy.max_attempts
            reasons[f"it was delivered {times} times, the last time without an end"].append(row.id)
    for reason, ids in reasons.items():
        move_to_dead(connection, wish.queue, ids, reason, None)
    return {message_id for ids in reasons.values() for message_id in ids}


def _company(rows: Sequence[Ready], policy: RetryPolicy) -> Sequence[Ready]:
    """Return the first of the rows that may be delivered together."""
    most = policy.company(_crashes(rows[0])) if rows else None
    if most is None:
        return list(takewhile(lambda row: policy.company(_crashes(row)) is None, rows))
    alike = takewhile(lambda row: _crashes(row) == _crashes(rows[0]), rows)
    return list(islice(alike, most))


def _crashes(row: Ready) -> int:
    """Return how many deliveries had no end."""
    return row.attempts - row.errors


def _lease_all(
    connection: Connection, wish: _Wish, rows: Sequence[Ready], until: datetime
) -> tuple[Message, ...]:
    """Put the rows under the token; a limit may say how long its leases are."""
    ids: defaultdict[float, list[int]] = defaultdict(list)
    for row in rows:
        ids[row.limit_seconds or wish.lease_seconds].append(row.id)
    held: set[int] = set()
    ends: dict[float, datetime] = {}
    for seconds, part in ids.items():
        ends[seconds] = until + timedelta(seconds=seconds - wish.lease_seconds)
        held |= _lease(connection, part, stored(ends[seconds]), wish.token)
    return tuple(
        _message(row, wish, seconds, ends[seconds])
        for row in rows
        if row.id in held and (seconds := row.limit_seconds or wish.lease_seconds)
    )


def _lease(connection: Connection, ids: Sequence[int], until: str, token: bytes) -> set[int]:
    """Put the rows under the token and return the ids that we hold (all, if locks work)."""
    held: set[int] = set()
    for part in cut(sorted(ids)):
        if execute(connection, TAKE, token, until, ids=part).rowcount == len(part):
            held.update(part)
        else:
            held.update(execute(connection, HELD, token, ids=part).scalars())
    return held


def _message(row: Ready, wish: _Wish, seconds: float, until: datetime) -> Message:
    return Message(
        id=row.id,
        queue=wish.queue,
        priority=row.priority,
        token=wish.token,
        attempts=row.attempts + 1,
        data=row.data,
        created_at=row.created_at,
        locked_until=until,
        kind=row.kind,
        errors=row.errors,
        unique_key=row.unique_key,
        limit_key=row.limit_key,
        lease_seconds=seconds,
        has_job=row.has_job,
        waited_seconds=max(0.0, (until - row.ready_at).total_seconds() - seconds),
    )


def _is_held(connection: Connection, haul: _Haul) -> bool:
    if not haul.messages:
        return not haul.has_put_aside
    first = haul.messages[0]
    return bool(execute(connection, HELD + " {lock}", first.token, ids=[first.id]).all())
