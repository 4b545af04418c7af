"""Claiming: order, company, and that nobody waits or sorts for it."""

from collections.abc import Callable, Sequence
from dataclasses import replace as with_changes

import pytest
from sqlalchemy import Connection, Engine

from conftest import Stress
from databases import claim_one, claimed, expire, push_all
from sakuin.queue import (
    BadMessage,
    RetryPolicy,
    ack,
    claim,
    create_schema,
    dialect,
    fail,
    push,
    push_many,
    release,
)
from sakuin.queue.bury import _COPY, _REMOVE
from sakuin.queue.claim import HELD, TAKE, _lease, _take, _Wish
from sakuin.queue.dialect import MYSQL, execute, render, stored
from sakuin.queue.ready import HEAD, READY, read_ready
from sakuin.queue.settle import _ACK


def test_first_in_first_out_within_a_priority(engine: Engine, stress: Stress) -> None:
    """Q9: the order is (priority, push), whatever the sizes of the claims."""
    random = stress.random()
    pushed = []
    with engine.begin() as connection:
        for number in range(200):
            priority = random.choice((0, 1, 5, 5, 5, 254, 255))
            data = b"%d" % number
            push(connection, "q", data, priority=priority)
            pushed.append((priority, number, data))
    got: list[bytes] = []
    while batch := claim(engine, "q", limit=random.randint(1, 40), lease_seconds=60):
        got += [message.data for message in batch]
    assert got == [data for _, _, data in sorted(pushed)]


def test_urgent_messages_overtake(engine: Engine) -> None:
    """Q9: priority 0 comes first, also when the rest of the claim is filled from below."""
    with engine.begin() as connection:
        push_many(connection, "q", [b"a", b"b", b"c"], priority=5)
        push_many(connection, "q", [b"late", b"later"], priority=255)
        push(connection, "q", b"urgent", priority=0)
    assert claimed(engine, limit=2) == [b"urgent", b"a"]
    assert claimed(engine, limit=3) == [b"b", b"c", b"late"]


def test_leased_and_scheduled_levels_are_passed_over(engine: Engine) -> None:
    """A level in which nothing is ready does not hide the one below."""
    with engine.begin() as connection:
        push(connection, "q", b"scheduled", priority=0, delay_seconds=100)
        push(connection, "q", b"leased", priority=1)
        push(connection, "q", b"ready", priority=2)
    assert claimed(engine, limit=1) == [b"leased"]
    assert claimed(engine) == [b"ready"]
    assert claimed(engine) == []


def test_released_messages_are_at_the_head_in_their_old_order(engine: Engine) -> None:
    """Q9: due_at keeps the place, also after a retry."""
    push_all(engine, "q", b"a", b"b", b"c", b"d")
    batch = claim(engine, "q", limit=3, lease_seconds=60)
    assert release(engine, [batch[2], batch[0], batch[1]]) == frozenset()
    first = claim_one(engine)
    assert first.data == b"a"
    fail(engine, first, "no", policy=RetryPolicy(first_seconds=100))
    assert claimed(engine, limit=2) == [b"b", b"c"]
    expire(engine, first.id, seconds=0)
    again = claim(engine, "q", limit=2, lease_seconds=60)
    assert [one.data for one in again] == [b"d", b"a"]
    release(engine, again)
    assert claimed(engine) == [b"a", b"d"]


def test_a_suspect_is_delivered_alone(engine: Engine) -> None:
    """Q4: after two deliveries without an end, a message takes no neighbour along."""
    a, b, c = push_all(engine, "q", b"a", b"b", b"c")
    policy = RetryPolicy(max_attempts=4)

    def batch() -> list[int]:
        return [one.id for one in claim(engine, "q", limit=9, lease_seconds=60, policy=policy)]

    for _ in range(2):
        assert batch() == [a, b, c]
        expire(engine, a, b, c)
    (d,) = push_all(engine, "q", b"d")
    assert batch() == [a]
    assert batch() == [b]
    assert batch() == [c]
    assert batch() == [d]
    # b kills its worker twice more; what shared its batches is not lost with it.
    expire(engine, b)
    (e,) = push_all(engine, "q", b"e")
    assert batch() == [b]
    expire(engine, b)
    assert batch() == [e]


def test_a_suspect_waits_for_its_turn(engine: Engine) -> None:
    """Q4, Q9: those before it are delivered first, without it."""
    suspect, after = push_all(engine, "q", b"suspect", b"after")
    for _ in range(2):
        message = claim_one(engine)
        assert message.id == suspect
        expire(engine, suspect, seconds=-100)
    push_all(engine, "q", b"last")
    expire(engine, suspect, seconds=-50)
    expire(engine, after, seconds=-100)
    assert claimed(engine) == [b"after"]
    assert claimed(engine) == [b"suspect"]
    assert claimed(engine) == [b"last"]


@pytest.mark.parametrize("limit", [0, -1, 10_001])
def test_a_bad_limit_is_refused(engine: Engine, limit: int) -> None:
    with pytest.raises(BadMessage, match=f"limit={limit}"):
        claim(engine, "q", limit=limit, lease_seconds=60)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_bad_lease_is_refused(engine: Engine, seconds: float) -> None:
    with pytest.raises(BadMessage, match="lease_seconds="):
        claim(engine, "q", limit=1, lease_seconds=seconds)


def wish(limit: int, token: bytes) -> _Wish:
    return _Wish("q", limit, 60.0, RetryPolicy(), token)


def mariadb(open_database: Callable[[str], Engine], url: str) -> Engine:
    engine = open_database(url)
    create_schema(engine)
    return engine


def test_two_open_claims_share_nothing_and_do_not_wait(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Q2: while one claim has not committed, another takes the next messages at once."""
    engine = mariadb(open_database, mariadb_url)
    push_all(engine, "q", *(b"%d" % number for number in range(6)))
    with engine.begin() as one, engine.begin() as two:
        one.exec_driver_sql("SET SESSION innodb_lock_wait_timeout = 1")
        two.exec_driver_sql("SET SESSION innodb_lock_wait_timeout = 1")
        first = _take(one, wish(3, b"1" * 16), 3).messages
        second = _take(two, wish(9, b"2" * 16), 9).messages
        assert [message.data for message in first] == [b"0", b"1", b"2"]
        assert [message.data for message in second] == [b"3", b"4", b"5"]
    assert ack(engine, [*first, *second]) == frozenset()


def test_an_open_claim_blocks_no_push(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Q2: READ COMMITTED takes no gap, so pushes into this and other queues go on."""
    engine = mariadb(open_database, mariadb_url)
    push_all(engine, "q", b"a")
    with engine.begin() as claiming, engine.begin() as pushing:
        pushing.exec_driver_sql("SET SESSION innodb_lock_wait_timeout = 1")
        assert len(_take(claiming, wish(100, b"1" * 16), 100).messages) == 1
        push(pushing, "q", b"b")
        push(pushing, "another", b"c")
    assert claimed(engine) == [b"b"]


def test_the_token_decides_where_the_server_ignores_row_locks(
    mariadb_url: str, open_database: Callable[[str], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q2: two claims that read the same rows: the first to write has them, the other has none."""
    engine = mariadb(open_database, mariadb_url)
    push_all(engine, "q", b"a", b"b", b"c")
    unlocked = with_changes(MYSQL, skip_locked="", lock="")
    monkeypatch.setitem(dialect._BY_NAME, "mysql", unlocked)
    with engine.begin() as slow:
        rows, until = read_ready(slow, "q", 3, 60.0)
        quick = claim(engine, "q", limit=2, lease_seconds=60)
        held = _lease(slow, [one.id for one in rows], stored(until), b"1" * 16)
    assert [one.data for one in quick] == [b"a", b"b"]
    assert held == {rows[2].id}
    assert ack(engine, quick) == frozenset()


def explain(connection: Connection, template: str, *values: object, ids: Sequence[int] = ()) -> str:
    sql = "EXPLAIN " + render(MYSQL, template)
    sql = sql.replace("{ids}", ",".join(map(str, ids)))
    plan = connection.exec_driver_sql(sql, values or None).mappings().all()
    return " | ".join(f"{step['type']} {step['key']} {step['Extra']}" for step in plan)


@pytest.mark.parametrize("depth", [3, 2_000])
def test_no_statement_sorts_or_reads_the_whole_table(
    mariadb_url: str, open_database: Callable[[str], Engine], depth: int
) -> None:
    """Q2: EXPLAIN shows no filesort and the right key, in small tables as in large ones."""
    engine = mariadb(open_database, mariadb_url)
    with engine.begin() as connection:
        push_many(connection, "q", [b"x"] * depth)
        push_many(connection, "other", [b"x"] * depth, priority=1)
    claim(engine, "q", limit=depth // 2, lease_seconds=60)
    with engine.begin() as connection:
        ids = range(1, min(depth, 500) + 1)
        token = b"t" * 16
        claims = [
            explain(connection, HEAD, 60_000_000, "q", 0, "q"),
            explain(connection, READY["mysql"], "q", 5, "2020-01-01 00:00:00", 100),
        ]
        by_id = [
            explain(connection, TAKE, token, "2030-01-01 00:00:00", ids=ids),
            explain(connection, HELD, token, ids=ids),
            explain(connection, _REMOVE, "q", ids=ids),
            explain(connection, _COPY, 0, "why", None, "q", ids=ids),
            explain(connection, _ACK, token, ids=ids),
        ]
    for plan in claims:
        assert "sakuin_messages_claim" in plan, plan
    for plan in by_id:
        assert "range PRIMARY" in plan, plan
    for plan in claims + by_id:
        assert "filesort" not in plan, plan
        assert "temporary" not in plan, plan


@pytest.mark.parametrize("around", ["leased", "settled", "other"])
def test_a_claim_reads_only_what_it_takes(
    mariadb_url: str, open_database: Callable[[str], Engine], around: str
) -> None:
    """Q2: the work does not grow with leased, settled or other queues' messages."""
    engine = mariadb(open_database, mariadb_url)
    with engine.begin() as connection:
        push_many(connection, "other" if around == "other" else "q", [b"x"] * 3_000)
    if around != "other":
        batch = claim(engine, "q", limit=3_000, lease_seconds=600)
        if around == "settled":
            ack(engine, batch)
    push_all(engine, "q", *[b"y"] * 10)
    with engine.begin() as connection:
        before = reads(connection)
        assert len(_take(connection, wish(10, b"t" * 16), 10).messages) == 10
        assert reads(connection) - before < 90  # ten rows, and whether each has a job


def reads(connection: Connection) -> int:
    rows = execute(connection, "SHOW SESSION STATUS LIKE 'Handler_read%%'").all()
    return sum(int(row.Value) for row in rows)
