"""Ends or extends leases: ack, release, fail, crash, extend.

Each takes one message, and raises LeaseLost if it is no longer ours, or any number, and returns
the ids that were lost. Every statement says `id AND token` and counts its rows: a late worker
changes nothing. What is lost is lost; the rest is settled all the same.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from sqlalchemy import Connection, Engine

from sakuin.queue.bury import move_to_dead
from sakuin.queue.dialect import cut, dialect_of, execute
from sakuin.queue.errors import LeaseLost
from sakuin.queue.give_back import CRASHED, FAILED, UNWORKED, End, give_back
from sakuin.queue.limits import check_seconds
from sakuin.queue.message import Message
from sakuin.queue.places import leave_places
from sakuin.queue.replay import replay
from sakuin.queue.retry import RetryPolicy

_OURS = (
    "SELECT id FROM sakuin_messages {by_id} WHERE id IN ({ids}) AND token = ? ORDER BY id {lock}"
)
_ACK = "{delete_messages} WHERE id IN ({ids}) AND token = ?"
_EXTEND = "UPDATE sakuin_messages {by_id} SET locked_until = {later}"
_EXTEND += " WHERE id IN ({ids}) AND token = ?"

Part = tuple[Message, Sequence[int]]
"""Ids, ascending and few enough for one statement, of messages that are alike (`_likeness`)."""

Change = Callable[[Connection, Message, Sequence[int]], int]
"""Settles these ids, all under the token of the message given, and returns how many it found."""

Also = Callable[[Connection, Sequence[int]], None]
"""What is done in the same transaction, with ids that are settled in it; may be called often."""


class _SomeLost(Exception):
    """Undoes the transaction: it has to be done again, with care."""


def ack(
    engine: Engine, messages: Message | Iterable[Message], *, also: Also | None = None
) -> frozenset[int]:
    """Remove messages whose work is done."""

    def change(connection: Connection, like: Message, ids: Sequence[int]) -> int:
        found = execute(connection, _ACK, like.token, ids=ids).rowcount
        if like.limit_key is not None and found:
            leave_places(connection, like.limit_key, ids, is_ended=True)
        if also:
            also(connection, ids)
        return found

    return _settle(engine, messages, change)


def release(
    engine: Engine,
    messages: Message | Iterable[Message],
    delay_seconds: float = 0.0,
    *,
    also: Also | None = None,
) -> frozenset[int]:
    """Give messages back unworked: the attempt does not count, and they go to the head again.

    With a delay they are ready only after it, in the order of that time.
    """
    delay = check_seconds("delay_seconds", delay_seconds)

    def change(connection: Connection, like: Message, ids: Sequence[int]) -> int:
        wait = dialect_of(connection).shift(delay) if delay else None
        return give_back(connection, like, ids, UNWORKED, wait, also)

    return _settle(engine, messages, change)


def fail(
    engine: Engine,
    messages: Message | Iterable[Message],
    reason: str,
    traceback: str | None = None,
    policy: RetryPolicy | None = None,
    *,
    also: Also | None = None,
) -> frozenset[int]:
    """Send messages back to be retried after the policy's wait, or, if spent, to the dead list.

    `also` is told of those that go back.
    """
    return _retry(engine, messages, (reason, traceback), policy or RetryPolicy(), FAILED, also)


def crash(
    engine: Engine,
    messages: Message | Iterable[Message],
    reason: str,
    policy: RetryPolicy | None = None,
    *,
    also: Also | None = None,
) -> frozenset[int]:
    """As `fail`, for what killed the process that worked on it: counted apart from errors."""
    return _retry(engine, messages, (reason, None), policy or RetryPolicy(), CRASHED, also)


def _retry(
    engine: Engine,
    messages: Message | Iterable[Message],
    why: tuple[str, str | None],
    policy: RetryPolicy,
    end: End,
    also: Also | None,
) -> frozenset[int]:
    def change(connection: Connection, like: Message, ids: Sequence[int]) -> int:
        if policy.is_spent(like.attempts, like.errors + end.errors):
            ours = _ours(connection, like, ids)
            move_to_dead(connection, like.queue, ours, *why, is_error=bool(end.errors))
            return len(ours)
        chance = random.random()  # noqa: S311 - spreads the retries, hides nothing
        wait = dialect_of(connection).shift(policy.delay_seconds(like.attempts, chance))
        return give_back(connection, like, ids, end, wait, also)

    return _settle(engine, messages, change)


def extend(
    engine: Engine, messages: Message | Iterable[Message], lease_seconds: float
) -> frozenset[int]:
    """Lease messages for `lease_seconds` from now."""
    lease = check_seconds("lease_seconds", lease_seconds, positive=True)

    def change(connection: Connection, like: Message, ids: Sequence[int]) -> int:
        until = dialect_of(connection).shift(lease)
        return execute(connection, _EXTEND, until, like.token, ids=ids).rowcount

    return _settle(engine, messages, change, ends_lease=False)


def _settle(
    engine: Engine,
    messages: Message | Iterable[Message],
    change: Change,
    *,
    ends_lease: bool = True,
) -> frozenset[int]:
    parts = _parts([messages] if isinstance(messages, Message) else messages)
    if not parts:
        return frozenset()

    def is_settled(connection: Connection, _lost: frozenset[int]) -> bool:
        """After a lost COMMIT: what ends a lease has happened if no row bears our token."""
        return ends_lease and not any(_ours(connection, like, ids) for like, ids in parts)

    try:
        return replay(
            engine, lambda connection: _change_all(connection, parts, change), committed=is_settled
        )
    except _SomeLost:
        lost = replay(
            engine, lambda connection: _change_ours(connection, parts, change), committed=is_settled
        )
    if lost and isinstance(messages, Message):
        raise LeaseLost(messages.id, messages.queue)
    return lost


def _change_all(connection: Connection, parts: Sequence[Part], change: Change) -> frozenset[int]:
    """The usual case in one statement a part: all are still ours, or nothing is changed."""
    for like, ids in parts:
        if change(connection, like, ids) != len(ids):
            raise _SomeLost
    return frozenset()


def _change_ours(connection: Connection, parts: Sequence[Part], change: Change) -> frozenset[int]:
    """Lock first what is still ours, change that, and return the rest."""
    lost: set[int] = set()
    for like, ids in parts:
        ours = _ours(connection, like, ids)
        if ours:
            change(connection, like, ours)
        lost.update(set(ids).difference(ours))
    return frozenset(lost)


def _ours(connection: Connection, like: Message, ids: Sequence[int]) -> list[int]:
    """Lock those of the rows that bear the message's token, and return their ids."""
    return list(execute(connection, _OURS, like.token, ids=ids).scalars())


def _parts(messages: Iterable[Message]) -> list[Part]:
    groups: defaultdict[tuple[object, ...], dict[int, Message]] = defaultdict(dict)
    for message in messages:
        groups[_likeness(message)][message.id] = message
    ordered = sorted(groups.values(), key=lambda group: next(iter(group.values())).limit_key or b"")
    return [(next(iter(group.values())), ids) for group in ordered for ids in cut(sorted(group))]


def _likeness(message: Message) -> tuple[object, ...]:
    """What must be equal for messages to be settled by one statement."""
    return (
        message.token,
        message.queue,
        message.attempts,
        message.errors,
        message.limit_key,
        message.unique_key is None,
    )
