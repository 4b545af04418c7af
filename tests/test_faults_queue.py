"""Faults that users of other queues report, and that this one must not have."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from databases import claim_one, expire, push_all
from known_queue_faults import FAULTS
from sakuin.queue import (
    MAX_MESSAGE_BYTES,
    BadMessage,
    Limit,
    RetryPolicy,
    ack,
    claim,
    create_schema,
    dead_messages,
    fail,
    free_stale_limits,
    push,
    push_many,
    read,
    replay,
)


def test_every_known_fault_has_its_tests() -> None:
    """The list is whole, and what it names is there."""
    assert list(FAULTS) == list(range(1, 33))
    for tests in FAULTS.values():
        assert tests
        for node in tests:
            file, _, name = node.partition("::")
            text = (Path(__file__).parent / file).read_text(encoding="utf-8")
            assert f"\ndef {name}(" in text, node


def test_errors_are_not_taken_for_crashes(engine: Engine) -> None:
    """A message that failed as often as it may crash is delivered again, up to max_attempts."""
    policy = RetryPolicy(max_attempts=5, max_crashes=3, first_seconds=0, most_seconds=0)
    (number,) = push_all(engine, "q", b"x")
    for attempt in range(1, 6):
        (message,) = claim(engine, "q", limit=1, lease_seconds=60, policy=policy)
        assert (message.attempts, message.errors) == (attempt, attempt - 1)
        fail(engine, message, "no", policy=policy)
    (entry,) = read(engine, dead_messages)
    assert (entry.message_id, entry.attempts, entry.errors) == (number, 5, 5)


def test_three_deaths_are_dead_and_counted_apart(engine: Engine) -> None:
    """pgmq #274: what kills its worker again and again ends on the dead list by itself."""
    policy = RetryPolicy(max_attempts=9, max_crashes=3, first_seconds=0, most_seconds=0)
    (number,) = push_all(engine, "q", b"x")
    for _ in range(3):
        (message,) = claim(engine, "q", limit=1, lease_seconds=60, policy=policy)
        fail(engine, message, "no", policy=policy)
        (message,) = claim(engine, "q", limit=1, lease_seconds=60, policy=policy)
        expire(engine, number)
    assert claim(engine, "q", limit=1, lease_seconds=60, policy=policy) == ()
    (entry,) = read(engine, dead_messages)
    assert (entry.attempts, entry.errors) == (6, 3)
    assert "died 3 times" in entry.reason


def test_laravel_excel_2215_what_is_too_long_is_refused_by_name(engine: Engine) -> None:
    """11 MB, which a server would cut the connection for; 4 MiB go through and come back."""
    longest = bytes(range(256)) * (4 * 1024 * 4)
    with engine.begin() as connection:
        with pytest.raises(BadMessage, match="11,000,000 bytes"):
            push(connection, "q", b"x" * 11_000_000)
        push(connection, "q", longest)
    assert claim_one(engine).data == longest
    assert len(longest) <= MAX_MESSAGE_BYTES < 11_000_000


def test_solid_queue_146_an_empty_poll_is_one_read(engine: Engine) -> None:
    """Of one row of the index, which locks none. (A SQLite file has its turns all the same.)"""
    ran: list[str] = []
    push_all(engine, "other", b"x")
    claim(engine, "q", limit=10, lease_seconds=60)
    event.listen(engine, "before_cursor_execute", lambda *found: ran.append(found[2]))
    assert claim(engine, "q", limit=10, lease_seconds=60) == ()
    (only,) = [sql for sql in ran if sql != "BEGIN IMMEDIATE"]
    assert only.startswith("SELECT")
    assert "FOR UPDATE" not in only


def test_solid_queue_476_blocked_ones_come_out_together(engine: Engine) -> None:
    """After holders died, one look of the dispatcher calls as many as there is room for."""
    for _ in range(60):
        replay(engine, lambda one: push(one, "q", b"x", limit=Limit("k", to=25)))
    held = claim(engine, "q", limit=60, lease_seconds=60)
    assert len(held) == 25
    expire(engine, *[one.id for one in held])
    assert free_stale_limits(engine) == 25
    again = claim(engine, "q", limit=60, lease_seconds=60)
    assert len(again) == 25
    assert ack(engine, held) == {one.id for one in held}


def test_delayed_job_581_settled_messages_do_not_slow_claims(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """50,000 that are settled, and that the server cannot purge since somebody reads: a claim
    takes no seconds."""
    engine, reader = open_database(mariadb_url), open_database(mariadb_url)
    create_schema(engine)
    replay(engine, lambda one: push_many(one, "q", [b"x"] * 50_000))
    with reader.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        connection.exec_driver_sql("SELECT COUNT(*) FROM sakuin_messages").scalar_one()
        with engine.begin() as settling:
            settling.exec_driver_sql("DELETE FROM sakuin_messages")
        push_all(engine, "q", *[b"y"] * 10)
        begun = time.monotonic()
        assert len(claim(engine, "q", limit=10, lease_seconds=60)) == 10
        assert claim(engine, "q", limit=10, lease_seconds=60) == ()
        assert time.monotonic() - begun < 1.0
        connection.rollback()
