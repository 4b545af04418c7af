"""Keeping messages leased while they are worked on, and learning that they were lost."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from databases import Servers, claim_one, claimed, expire, fresh_schema, push_all, row, until
from sakuin.queue import (
    BadMessage,
    SchemaMismatch,
    ack,
    claim,
    create_schema,
    keep_lease,
)


def locked_until(engine: Engine, number: int) -> str:
    found = row(engine, number)
    assert found is not None
    return str(found["locked_until"])


def test_the_lease_is_extended_while_the_block_runs(engine: Engine) -> None:
    """Three beats on, the work outlives its first lease; nobody else gets the message."""
    (number,) = push_all(engine, "q", b"a")
    (message,) = claim(engine, "q", limit=1, lease_seconds=0.9)
    seen = {locked_until(engine, number)}
    with keep_lease(engine, [message], 0.9) as lease:

        def has_beaten() -> bool:
            seen.add(locked_until(engine, number))
            return len(seen) >= 5

        until(has_beaten)
        assert claimed(engine) == []
        assert not lease.lost
        assert lease.lost_ids == frozenset()
    assert ack(engine, message) == frozenset()


def test_it_ends_with_the_block(engine: Engine) -> None:
    """The thread is joined: no beat comes after."""
    (number,) = push_all(engine, "q", b"a")
    message = claim_one(engine)
    with keep_lease(engine, [message], 0.03) as lease:
        before = locked_until(engine, number)
        until(lambda: locked_until(engine, number) != before)
    assert not lease._thread.is_alive()


def test_a_lost_lease_is_reported(engine: Engine) -> None:
    """Another took one of two messages over: it is named, and the other one is kept."""
    first, second = push_all(engine, "q", b"a", b"b")
    batch = claim(engine, "q", limit=2, lease_seconds=60)
    with keep_lease(engine, batch, 0.6) as lease:
        expire(engine, first)
        (taken,) = claim(engine, "q", limit=1, lease_seconds=60)
        until(lambda: lease.lost)
        assert lease.lost_ids == {first}
        before = locked_until(engine, second)
        until(lambda: locked_until(engine, second) != before)
    assert ack(engine, batch) == {first}
    assert ack(engine, taken) == frozenset()


def test_forgotten_messages_are_no_loss(engine: Engine) -> None:
    """What was settled meanwhile is not reported."""
    _, second = push_all(engine, "q", b"a", b"b")
    batch = claim(engine, "q", limit=2, lease_seconds=60)
    with keep_lease(engine, batch, 0.3) as lease:
        lease.forget(batch[0])
        assert ack(engine, batch[0]) == frozenset()
        before = locked_until(engine, second)
        until(lambda: locked_until(engine, second) != before)
        lease.forget([batch[1]])
        assert ack(engine, batch[1]) == frozenset()
        assert not lease.lost


def test_a_database_that_stays_away_costs_the_lease(
    servers: Servers, open_database: Callable[[str], Engine]
) -> None:
    """Who cannot extend for a whole lease must take the messages for lost."""
    server = servers.private()
    with fresh_schema(server.url) as url:
        engine = open_database(url)
        create_schema(engine)
        push_all(engine, "q", b"a")
        message = claim_one(engine)
        try:
            with keep_lease(engine, [message], 0.6) as lease:
                assert not lease.lost
                server.kill()
                until(lambda: lease.lost)
                assert lease.lost_ids == frozenset()
        finally:
            server.start()


def test_a_short_absence_costs_nothing(
    servers: Servers, open_database: Callable[[str], Engine]
) -> None:
    """A beat that fails is made up for by a later one."""
    server = servers.private()
    with fresh_schema(server.url) as url:
        engine = open_database(url)
        create_schema(engine)
        (number,) = push_all(engine, "q", b"a")
        message = claim_one(engine)
        with keep_lease(engine, [message], 30) as lease:
            server.restart()
            lease._extend()
            assert not lease.lost
        assert row(engine, number) is not None
        assert ack(engine, message) == frozenset()


def test_an_unexpected_error_is_not_swallowed(engine: Engine) -> None:
    """The thread's error makes the lease lost, and is raised where the block is left."""
    push_all(engine, "q", b"a")
    message = claim_one(engine)
    lease = keep_lease(engine, [message], 0.05)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE sakuin_messages")

    def work() -> None:
        with lease:
            until(lambda: not lease._thread.is_alive())
            assert lease.lost

    with pytest.raises(SchemaMismatch):
        work()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_bad_lease_is_refused(engine: Engine, seconds: float) -> None:
    with pytest.raises(BadMessage, match="lease_seconds"):
        keep_lease(engine, [], seconds)


def test_a_message_that_was_claimed_again_is_kept_by_its_new_lease(engine: Engine) -> None:
    """Forgetting the old lease leaves the new one alone, and its loss is not the new one's."""
    push_all(engine, "q", b"x")
    old = claim_one(engine)
    with keep_lease(engine, [old], 0.9) as lease:
        expire(engine, old.id)
        new = claim_one(engine)
        lease.add(new)
        until(lambda: old.id in lease.lost_ids)
        lease.forget(old)
        before = (row(engine, new.id) or {})["locked_until"]
        until(lambda: (row(engine, new.id) or {})["locked_until"] != before)
    assert (row(engine, new.id) or {})["token"] == new.token
