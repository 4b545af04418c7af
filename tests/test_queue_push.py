"""Pushing: in the caller's transaction, with its options and its limits."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine, event

from databases import Servers, claim_one, claimed, expire, fresh_schema, push_all, row
from sakuin.queue import (
    MAX_MESSAGE_BYTES,
    BadMessage,
    ack,
    claim,
    create_schema,
    dead_messages,
    push,
    push_many,
    queue_counts,
    read,
)
from sakuin.queue.push import BYTES_A_STATEMENT, ROWS_A_STATEMENT


def test_a_push_commits_with_the_callers_row_or_not_at_all(engine: Engine) -> None:
    """Q1: both or neither, for push and push_many."""
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE letters (id INTEGER PRIMARY KEY)")
    with engine.connect() as connection:
        connection.exec_driver_sql("INSERT INTO letters VALUES (1)")
        push(connection, "q", b"1")
        push_many(connection, "q", [b"2", b"3"])
        connection.rollback()
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO letters VALUES (4)")
        push(connection, "q", b"4")
        assert push_many(connection, "q", [b"5", b"6"]) == 2
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT id FROM letters").scalars().all() == [4]
    assert claimed(engine) == [b"4", b"5", b"6"]


def test_an_uncommitted_push_is_not_seen(engine: Engine) -> None:
    """Q1: until the caller commits, nobody counts the message."""
    with engine.begin() as connection:
        push(connection, "q", b"a")
        assert read(engine, lambda other: queue_counts(other, "q")).ready == 0
    assert read(engine, lambda other: queue_counts(other, "q")).ready == 1


def test_push_many_cuts_by_rows_and_bytes(engine: Engine) -> None:
    """Q1: each statement stays within both limits, and all arrive in order."""
    long: list[int] = []
    rows: list[int] = []

    @event.listens_for(engine, "before_cursor_execute")
    def note(_c: object, _u: object, sql: str, values: Any, *_rest: object) -> None:
        if sql.startswith("INSERT"):
            datas = [value for value in values.values() if isinstance(value, bytes)]
            rows.append(len(datas))
            long.append(sum(map(len, datas)))

    small = [b"%d" % number for number in range(ROWS_A_STATEMENT + 5)]
    large = [bytes([number]) * (BYTES_A_STATEMENT // 4) for number in range(9)]
    huge = [b"h" * MAX_MESSAGE_BYTES]
    with engine.begin() as connection:
        assert push_many(connection, "q", iter(small + large + huge)) == len(small) + 10
    assert max(rows) == ROWS_A_STATEMENT
    assert all(2 * size <= BYTES_A_STATEMENT for size in long[:-1])
    assert claimed(engine, limit=2000) == small + large + huge


def test_push_many_takes_the_options_of_push(engine: Engine) -> None:
    """The same row comes out of both."""
    options: dict[str, Any] = {"priority": 2, "delay_seconds": 100.0, "expires_seconds": 300.0}
    with engine.begin() as connection:
        number = push(connection, "q", b"a", **options)
        push_many(connection, "q", [b"a"], **options)
    one, many = row(engine, number), row(engine, number + 1)
    assert one is not None
    assert many is not None
    assert one["priority"] == many["priority"] == 2
    for name in ("locked_until", "due_at", "expires_at"):
        assert str(one[name])[:16] <= str(many[name])[:16]
        assert one[name] > one["created_at"]
    assert push_nothing(engine) == 0


def push_nothing(engine: Engine) -> int:
    with engine.begin() as connection:
        return push_many(connection, "q", [])


def test_a_delayed_message_is_scheduled_until_then(engine: Engine) -> None:
    """One column is the state: a future locked_until without token is a schedule."""
    with engine.begin() as connection:
        number = push(connection, "q", b"later", delay_seconds=100)
    assert claimed(engine) == []
    assert read(engine, lambda connection: queue_counts(connection, "q")).scheduled == 1
    expire(engine, number)
    assert claimed(engine) == [b"later"]


def test_a_unique_key_is_taken_until_the_claim(engine: Engine) -> None:
    """One waiting message a key and queue; after the claim a new one may wait."""
    with engine.begin() as connection:
        first = push(connection, "q", b"first", unique_key="k")
        assert push(connection, "q", b"again", unique_key="k") == first
        other_key = push(connection, "q", b"other key", unique_key="K")
        other_queue = push(connection, "r", b"other queue", unique_key="k")
        assert len({first, other_key, other_queue}) == 3
    message = claim_one(engine)
    assert message.data == b"first"
    with engine.begin() as connection:
        second = push(connection, "q", b"second", unique_key="k")
    assert second not in (first, other_key, other_queue)
    assert ack(engine, message) == frozenset()
    assert claimed(engine) == [b"other key", b"second"]


def test_an_expired_message_goes_to_the_dead_list(engine: Engine) -> None:
    """Q4: past expires_at it is not delivered; what is behind it is, in the same claim."""
    with engine.begin() as connection:
        number = push(connection, "q", b"old", expires_seconds=0.001)
        push(connection, "q", b"good", expires_seconds=1000)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE sakuin_messages SET expires_at = created_at WHERE id = {number}"
        )
    assert [one.data for one in claim(engine, "q", limit=1, lease_seconds=60)] == [b"good"]
    (dead,) = read(engine, dead_messages)
    assert (dead.message_id, dead.data, dead.attempts) == (number, b"old", 0)
    assert "expired" in dead.reason


def test_a_leased_message_does_not_expire(engine: Engine) -> None:
    """Expiry is looked at by the claim only: work that was begun may end."""
    with engine.begin() as connection:
        push(connection, "q", b"a", expires_seconds=0.5)
    message = claim_one(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE sakuin_messages SET expires_at = created_at")
    assert ack(engine, message) == frozenset()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"queue": ""}, "queue name"),
        ({"queue": "a" * 101}, "queue name"),
        ({"queue": "a/b"}, "queue name 'a/b'"),
        ({"queue": "a b"}, "queue name"),
        ({"queue": "q\n"}, "queue name"),
        ({"queue": "索引"}, "queue name"),
        ({"data": "text"}, "bytes, not str"),
        ({"data": b"x" * (MAX_MESSAGE_BYTES + 1)}, "limit is 4,194,304 bytes"),
        ({"priority": -1}, "priority -1"),
        ({"priority": 256}, "priority 256"),
        ({"delay_seconds": -1.0}, "delay_seconds=-1.0"),
        ({"delay_seconds": float("nan")}, "delay_seconds=nan"),
        ({"delay_seconds": 1e12}, "delay_seconds"),
        ({"expires_seconds": 0.0}, "expires_seconds=0.0"),
        ({"unique_key": ""}, "unique_key"),
        ({"unique_key": "k" * 256}, "unique_key of 256 bytes"),
    ],
)
def test_bad_input_is_refused_by_name(engine: Engine, options: dict[str, Any], named: str) -> None:
    """A clear error that names the thing, before any SQL."""
    arguments: dict[str, Any] = {"queue": "q", "data": b"x", **options}
    with engine.begin() as connection:
        with pytest.raises(BadMessage, match=named):
            push(connection, **arguments)
        if "unique_key" not in arguments:
            with pytest.raises(BadMessage, match=named):
                push_many(connection, arguments.pop("queue"), [arguments.pop("data")], **arguments)
    assert claimed(engine) == []


def test_every_byte_comes_back(engine: Engine) -> None:
    """Q7: no BLOB cut at 64 KB, no byte changed on the way, the empty message included."""
    every = bytes(range(256)) * 300
    escapes = b"\\'\"%s%(a)s?:x\x00\n\r\x1a" * 1000
    datas = [b"", every, escapes, b"\xff" * 70_000, b"x" * MAX_MESSAGE_BYTES]
    push_all(engine, "q", *datas)
    with engine.begin() as connection:
        push_many(connection, "q", datas)
    assert claimed(engine) == datas + datas


def test_what_the_server_cannot_take_is_refused_by_name(
    servers: Servers, open_database: Callable[[str], Engine]
) -> None:
    """max_allowed_packet is named before the server cuts the connection."""
    with fresh_schema(servers.private().url) as url:
        engine = open_database(url)
        create_schema(engine)
        with engine.begin() as connection:
            usual = connection.exec_driver_sql("SELECT @@GLOBAL.max_allowed_packet").scalar_one()
            connection.exec_driver_sql("SET GLOBAL max_allowed_packet = 1048576")
        try:
            engine.dispose()
            with engine.begin() as connection:
                push(connection, "q", b"x" * 500_000)
                with pytest.raises(BadMessage, match="max_allowed_packet of 1,048,576 bytes"):
                    push(connection, "q", b"x" * 600_000)
        finally:
            with engine.begin() as connection:
                connection.exec_driver_sql(f"SET GLOBAL max_allowed_packet = {usual}")
        assert [len(data) for data in claimed(engine)] == [500_000]
