"""The verbs of the queue, one by one, on every database: what each does to a leased message."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine

from databases import claim_one, claimed, expire, push_all, row
from sakuin.queue import (
    LeaseLost,
    RetryPolicy,
    State,
    ack,
    bury,
    claim,
    dead_messages,
    extend,
    fail,
    push,
    read,
    release,
    state_of,
)


def status(engine: Engine, message_id: int) -> str | None:
    found = read(engine, lambda connection: state_of(connection, message_id))
    return None if found is None else found.status


def test_a_message_is_claimed_once_and_acked(engine: Engine) -> None:
    """Q2, Q3: what is leased is not given to another, what is acked is gone."""
    with engine.begin() as connection:
        number = push(connection, "mail", b"hello", priority=3)
    (message,) = claim(engine, "mail", limit=10, lease_seconds=30)
    assert (message.id, message.queue, message.priority) == (number, "mail", 3)
    assert (message.data, message.attempts, len(message.token)) == (b"hello", 1, 16)
    assert claim(engine, "mail", limit=10, lease_seconds=30) == ()
    assert status(engine, number) == "leased"
    assert ack(engine, [message]) == frozenset()
    assert row(engine, number) is None
    assert status(engine, number) is None


def test_times_of_a_message_are_aware_and_by_the_database(engine: Engine) -> None:
    """Q7: created_at and locked_until are UTC; the lease ends lease_seconds after the claim."""
    push_all(engine, "q", b"a")
    (message,) = claim(engine, "q", limit=1, lease_seconds=90)
    assert message.created_at.tzinfo is UTC
    leased = message.locked_until - message.created_at
    assert timedelta(seconds=90) <= leased < timedelta(seconds=120)
    assert abs(datetime.now(UTC) - message.created_at) < timedelta(minutes=5)
    stored = row(engine, message.id)
    assert stored is not None
    assert str(stored["locked_until"]) == message.locked_until.strftime("%Y-%m-%d %H:%M:%S.%f")


def test_queues_do_not_touch_each_other(engine: Engine) -> None:
    """A claim sees its own queue only; names are compared binary."""
    push_all(engine, "q", b"lower")
    push_all(engine, "Q", b"upper")
    push_all(engine, "q+child", b"child")
    assert claimed(engine, "Q") == [b"upper"]
    assert claimed(engine, "q") == [b"lower"]
    assert claimed(engine, "q+child") == [b"child"]


@pytest.mark.parametrize("verb", ["ack", "release", "fail", "extend", "bury"])
def test_a_late_worker_changes_nothing(engine: Engine, verb: str) -> None:
    """Q3: after another took the message over, each verb leaves its row as it is."""
    (number,) = push_all(engine, "q", b"a")
    late = claim_one(engine)
    expire(engine, number)
    current = claim_one(engine)
    before = row(engine, number)
    acts: dict[str, Callable[[], object]] = {
        "ack": lambda: ack(engine, late),
        "release": lambda: release(engine, late),
        "fail": lambda: fail(engine, late, "no", policy=RetryPolicy(max_attempts=1)),
        "extend": lambda: extend(engine, late, 500),
        "bury": lambda: bury(engine, late, "no"),
    }
    with pytest.raises(LeaseLost, match=f"message {number} of queue q"):
        acts[verb]()
    assert row(engine, number) == before
    assert read(engine, dead_messages) == ()
    assert ack(engine, [current]) == frozenset()


@pytest.mark.parametrize("verb", ["ack", "release", "fail", "spent", "extend"])
def test_a_batch_settles_what_is_ours_and_returns_the_rest(engine: Engine, verb: str) -> None:
    """Q3: 600 messages, 3 of them lost: exactly these are named and left alone."""
    push_all_quickly(engine, 600)
    batch = claim(engine, "q", limit=600, lease_seconds=60)
    lost = {batch[0].id, batch[299].id, batch[599].id}
    expire(engine, *lost)
    taken = claim(engine, "q", limit=600, lease_seconds=60)
    assert {one.id for one in taken} == lost
    acts: dict[str, Callable[[], object]] = {
        "ack": lambda: ack(engine, batch),
        "release": lambda: release(engine, batch),
        "fail": lambda: fail(engine, batch, "no"),
        "spent": lambda: fail(engine, batch, "no", policy=RetryPolicy(max_attempts=1)),
        "extend": lambda: extend(engine, batch, 500),
    }
    assert acts[verb]() == lost
    gone = {one.id for one in batch if row(engine, one.id) is None}
    assert gone == ({one.id for one in batch} - lost if verb in ("ack", "spent") else set())
    assert ack(engine, taken) == frozenset()


def push_all_quickly(engine: Engine, count: int) -> None:
    with engine.begin() as connection:
        for number in range(count):
            push(connection, "q", b"%d" % number)


def test_an_expired_lease_that_nobody_took_is_still_ours(engine: Engine) -> None:
    """Q3: the token decides, not the clock."""
    (number,) = push_all(engine, "q", b"a")
    message = claim_one(engine)
    expire(engine, number)
    assert status(engine, number) == "ready"
    assert extend(engine, message, 60) == frozenset()
    assert status(engine, number) == "leased"
    assert ack(engine, message) == frozenset()


def test_release_gives_the_attempt_and_the_place_back(engine: Engine) -> None:
    """Q4, Q9: released without a delay it is at the head again, as if never taken."""
    first, _ = push_all(engine, "q", b"first", b"second")
    message = claim_one(engine)
    assert release(engine, message) == frozenset()
    stored = row(engine, first)
    assert stored is not None
    assert (stored["attempts"], stored["token"]) == (0, None)
    assert claimed(engine) == [b"first", b"second"]


def test_release_with_a_delay_waits(engine: Engine) -> None:
    """Q9: a delay makes it scheduled; then it is ready in the order of that time."""
    first, _ = push_all(engine, "q", b"first", b"second")
    assert release(engine, claim_one(engine), delay_seconds=50) == frozenset()
    assert status(engine, first) == "scheduled"
    assert claimed(engine) == [b"second"]
    expire(engine, first)
    assert claimed(engine) == [b"first"]


def test_fail_waits_its_back_off_then_dies(engine: Engine) -> None:
    """Q4: attempts count at the claim; the last failure moves it to the dead list, with why."""
    policy = RetryPolicy(max_attempts=3, first_seconds=100, most_seconds=1000, jitter=0)
    (number,) = push_all(engine, "q", b"a")
    for attempt in (1, 2):
        message = claim_one(engine)
        assert message.attempts == attempt
        assert fail(engine, message, "boom", "trace", policy) == frozenset()
        assert status(engine, number) == "scheduled"
        assert claimed(engine) == []
        expire(engine, number)
    message = claim_one(engine)
    assert fail(engine, message, "boom", "trace", policy) == frozenset()
    assert row(engine, number) is None
    (dead,) = read(engine, lambda connection: dead_messages(connection, "q"))
    assert (dead.message_id, dead.attempts, dead.data) == (number, 3, b"a")
    assert (dead.reason, dead.traceback) == ("boom", "trace")
    assert dead.created_at == message.created_at
    assert read(engine, lambda connection: state_of(connection, number)) == State("dead", "boom")


def test_fail_sets_the_policys_wait(engine: Engine) -> None:
    """Q4: the row waits what the policy says, by the database's clock."""
    (number,) = push_all(engine, "q", b"a")
    message = claim_one(engine)
    fail(engine, message, "no", policy=RetryPolicy(first_seconds=200, jitter=0))
    stored = row(engine, number)
    assert stored is not None
    until = datetime.fromisoformat(str(stored["locked_until"])).replace(tzinfo=UTC)
    waits = (until - message.created_at).total_seconds()
    assert 200 <= waits < 230


def test_a_crash_counts_as_an_attempt(engine: Engine) -> None:
    """Q4: a lease that ran out counts; after max_attempts the claim itself buries the message."""
    (number,) = push_all(engine, "q", b"killer")
    policy = RetryPolicy(max_attempts=2)
    for attempt in (1, 2):
        (message,) = claim(engine, "q", limit=5, lease_seconds=60, policy=policy)
        assert message.attempts == attempt
        expire(engine, number)
    assert claim(engine, "q", limit=5, lease_seconds=60, policy=policy) == ()
    (dead,) = read(engine, lambda connection: dead_messages(connection, "q"))
    assert (dead.message_id, dead.attempts) == (number, 2)
    assert "delivered 2 times" in dead.reason


def test_one_batch_may_mix_claims(engine: Engine) -> None:
    """Messages of several claims settle in one call."""
    push_all(engine, "q", b"a", b"b", b"c")
    mixed = [claim_one(engine), claim_one(engine), claim_one(engine)]
    assert ack(engine, reversed(mixed)) == frozenset()
    assert ack(engine, mixed) == {one.id for one in mixed}
    assert ack(engine, []) == frozenset()


def test_how_long_a_message_was_ready(engine: Engine) -> None:
    """From when it was due, not from the push; a lease that ran out counts from its end."""
    with engine.begin() as connection:
        number = push(connection, "q", b"x", delay_seconds=500)
    expire(engine, number, seconds=-40)
    message = claim_one(engine)
    assert message.waited_seconds == pytest.approx(40, abs=10)
    expire(engine, number, seconds=-7)
    assert claim_one(engine).waited_seconds == pytest.approx(7, abs=5)
    assert not message.has_job
