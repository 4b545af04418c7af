"""Where a message is, and how many are where."""

import pytest
from sqlalchemy import Engine

from databases import claim_one, expire, push_all
from sakuin.queue import (
    Counts,
    State,
    bury,
    claim,
    fail,
    push,
    push_many,
    queue_counts,
    read,
    state_of,
    waiting_count,
)
from sakuin.queue.dialect import MYSQL, render
from sakuin.queue.inspect_queue import _DEAD, _LATER, _READY


def state(engine: Engine, message_id: int) -> State | None:
    return read(engine, lambda connection: state_of(connection, message_id))


def counts(engine: Engine, queue: str = "q") -> Counts:
    return read(engine, lambda connection: queue_counts(connection, queue))


def test_one_column_is_the_state(engine: Engine) -> None:
    """ready → leased → scheduled (back-off) → ready → dead, read from locked_until and token."""
    (number,) = push_all(engine, "q", b"a")
    assert state(engine, number) == State("ready")
    message = claim_one(engine)
    assert state(engine, number) == State("leased")
    fail(engine, message, "no")
    assert state(engine, number) == State("scheduled")
    expire(engine, number)
    assert state(engine, number) == State("ready")
    bury(engine, claim_one(engine), "reason")
    assert state(engine, number) == State("dead", "reason")
    assert state(engine, number + 1) is None


def test_counts_of_one_queue(engine: Engine) -> None:
    """Every state is counted, over all priorities, for this queue alone."""
    assert counts(engine) == Counts(0, 0, 0, 0, None)
    with engine.begin() as connection:
        push_many(connection, "q", [b"x"] * 7, priority=0)
        push_many(connection, "q", [b"x"] * 5, priority=9)
        push_many(connection, "q", [b"x"] * 3, delay_seconds=100)
        push_many(connection, "r", [b"x"] * 2)
    batch = claim(engine, "q", limit=4, lease_seconds=60)
    bury(engine, batch[0], "no")
    found = counts(engine)
    assert (found.ready, found.leased, found.scheduled, found.dead) == (8, 3, 3, 1)
    assert counts(engine, "r").ready == 2


def test_the_waiting_are_counted_only_so_far(engine: Engine) -> None:
    """Ready, leased and scheduled alike, of this queue, up to the most that is asked for."""
    with engine.begin() as connection:
        push_many(connection, "q", [b"x"] * 5)
        push_many(connection, "q", [b"x"] * 2, delay_seconds=100, priority=0)
        push(connection, "r", b"x")
    claim_one(engine)
    for most, expected in ((100, 7), (7, 7), (6, 6), (1, 1)):
        found = read(engine, lambda connection, n=most: waiting_count(connection, "q", n))  # type: ignore[misc]
        assert found == expected


def test_the_age_of_the_longest_waiting(engine: Engine) -> None:
    """oldest_seconds is how long a message has been ready, by the database's clock."""
    old, _ = push_all(engine, "q", b"a", b"b")
    expire(engine, old, seconds=-500)
    seconds = counts(engine).oldest_seconds
    assert seconds is not None
    assert 500 <= seconds < 530


@pytest.mark.parametrize("database_kind", ["mariadb"], indirect=True)
def test_counts_read_the_index(engine: Engine) -> None:
    """The ready are counted in the index alone; no count touches a row of data or a whole table."""
    with engine.begin() as connection:
        push_many(connection, "q", [b"x" * 1000] * 500)
        push(connection, "q", b"x", delay_seconds=100)
        for sql, key in (
            (_READY, "sakuin_messages_claim"),
            (_LATER, "sakuin_messages_claim"),
            (_DEAD, "sakuin_dead_queue"),
        ):
            explain = "EXPLAIN " + render(MYSQL, sql)
            (step,) = connection.exec_driver_sql(explain, ("q",)).mappings().all()
            assert step["key"] == key
            assert step["type"] in ("ref", "range")
            assert ("Using index" in step["Extra"]) or sql is _LATER
