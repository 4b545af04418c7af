"""Counting what a queue holds: exact up to 10,000, and never dear."""

import time
from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from databases import claim_one, expire, push_all
from explained import explained
from sakuin.queue import Limit, ack, bury, claim, push, read, replay
from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.pause import pause, resume
from sakuin.queue.peek import peek
from sakuin.queue.queue_stats import (
    MOST_COUNTED,
    KindStats,
    QueueStats,
    all_stats,
    kind_stats,
    known_queues,
    queue_stats,
)

FILL = (
    "INSERT INTO sakuin_messages (queue, priority, locked_until, data)"
    " SELECT ?, ?, {later}, 'x' FROM"
    " (WITH RECURSIVE d (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM d WHERE n < 9)"
    " SELECT a.n FROM d a, d b, d c, d d, d e LIMIT ?) AS some"
)


def stats(engine: Engine, queue: str = "q") -> QueueStats:
    return read(engine, lambda connection: queue_stats(connection, queue))


def fill(engine: Engine, queue: str, count: int, *, priority: int = 5, delay: float = 0.0) -> None:
    """Add messages by one statement."""
    replay(
        engine,
        lambda connection: execute(
            connection, FILL, queue, priority, dialect_of(connection).shift(delay), count
        ),
    )


def test_every_state_is_counted(engine: Engine) -> None:
    """Ready, leased, scheduled, blocked and dead messages, of any priority, are told apart."""
    push_all(engine, "q", b"dead", b"leased", b"lapsed", b"ready")
    bury(engine, claim_one(engine), "because")
    claim_one(engine)
    expire(engine, claim_one(engine).id, seconds=-90)
    with engine.begin() as connection:
        push(connection, "q", b"urgent", priority=0)
        push(connection, "q", b"later", priority=9, delay_seconds=60)
        push(connection, "other", b"not counted")
        execute(
            connection,
            "INSERT INTO sakuin_messages (queue, locked_until, data)"
            " VALUES ('q', '9999-12-31 23:59:59.999999', 'blocked')",
        )
    found = stats(engine)
    counts = (found.ready, found.leased, found.scheduled, found.blocked, found.dead)
    assert counts == (3, 1, 1, 1, 1)
    assert found.oldest_seconds is not None
    assert 90 <= found.oldest_seconds < 120
    assert (found.queue, found.is_paused, found.capped) == ("q", False, ())


def test_a_message_without_a_place_under_its_limit_is_blocked(engine: Engine) -> None:
    """What a claim really blocks is counted and shown as blocked, and then as ready again."""
    with engine.begin() as connection:
        for data in (b"a", b"b", b"c"):
            push(connection, "q", data, limit=Limit("k"))
    (holder,) = claim(engine, "q", limit=3, lease_seconds=60)
    found = stats(engine)
    assert (found.ready, found.leased, found.scheduled, found.blocked) == (0, 1, 0, 2)
    seen = read(engine, lambda connection: peek(connection, "q", state="blocked"))
    assert [(one.data, one.limit_key) for one in seen] == [(b"b", b"/k"), (b"c", b"/k")]
    ack(engine, holder)
    found = stats(engine)
    assert (found.ready, found.leased, found.blocked) == (1, 0, 1)


def test_an_empty_queue_is_all_zeros(engine: Engine) -> None:
    assert stats(engine) == QueueStats("q", 0, 0, 0, 0, 0, None, is_paused=False)
    assert read(engine, all_stats) == ()
    assert read(engine, lambda connection: kind_stats(connection, "q")) == ()


def test_all_queues_that_anything_is_known_of(engine: Engine) -> None:
    """A queue with a message in any state, with a dead one alone, or paused alone."""
    push_all(engine, "b", b"x")
    bury(engine, claim_one(engine, "b"), "because")
    with engine.begin() as connection:
        push(connection, "a+child", b"x", delay_seconds=60)
        push(connection, "index:z", b"x")
    claim_one(engine, "index:z")
    pause(engine, "c")
    every = read(engine, all_stats)
    assert [each.queue for each in every] == ["a+child", "b", "c", "index:z"]
    assert [each.scheduled for each in every] == [1, 0, 0, 0]
    assert [each.dead for each in every] == [0, 1, 0, 0]
    assert [each.is_paused for each in every] == [False, False, True, False]
    assert [each.leased for each in every] == [0, 0, 0, 1]
    assert stats(engine, "c").is_paused
    resume(engine, "c")
    assert read(engine, known_queues) == ("a+child", "b", "index:z")


def test_kinds_are_counted(engine: Engine) -> None:
    push_all(engine, "q", b"plain", b"plain dead")
    with engine.begin() as connection:
        for kind, number in (("mail", 3), ("import", 1)):
            for _ in range(number):
                sql = "INSERT INTO sakuin_messages (queue, kind, data) VALUES ('q', ?, '{}')"
                execute(connection, sql, kind)
        sql = (
            "INSERT INTO sakuin_dead"
            " (message_id, queue, kind, priority, attempts, data, reason, created_at)"
            " VALUES (77, 'q', 'mail', 5, 1, '{}', 'because', '2026-01-01 00:00:00.000000')"
        )
        execute(connection, sql)
    assert read(engine, lambda connection: kind_stats(connection, "q")) == (
        KindStats(None, 2, 0),
        KindStats("import", 1, 0),
        KindStats("mail", 3, 1),
    )


def test_counts_are_exact_to_ten_thousand_and_capped_beyond(engine: Engine) -> None:
    """At the bound itself the count is exact; over several priorities too; beyond, it is named."""
    fill(engine, "q", 4_000, priority=1)
    fill(engine, "q", MOST_COUNTED - 4_000)
    fill(engine, "q", 7, delay=60)
    exact = stats(engine)
    assert (exact.ready, exact.scheduled, exact.capped) == (MOST_COUNTED, 7, ())
    fill(engine, "q", 1, priority=8)
    fill(engine, "q", MOST_COUNTED, delay=90)
    beyond = stats(engine)
    assert beyond.capped == ("leased", "ready", "scheduled")
    assert (beyond.ready, beyond.scheduled, beyond.blocked) == (MOST_COUNTED, MOST_COUNTED, 0)


def test_a_long_queue_costs_no_more_than_a_capped_one(engine: Engine) -> None:
    """The fault "dashboards count without bound": 100,000 messages are counted as fast as 20,002.

    The ratio of the best of several runs: only what grows with the queue makes it grow.
    """
    fill(engine, "short", MOST_COUNTED + 1)
    fill(engine, "short", MOST_COUNTED + 1, delay=60)
    fill(engine, "long", 50_000)
    fill(engine, "long", 50_000, delay=60)
    short, long = best(lambda: stats(engine, "short")), best(lambda: stats(engine, "long"))
    assert stats(engine, "long").capped == ("leased", "ready", "scheduled")
    assert long < 3 * short, (short, long)  # five times as many messages


def best(work: Callable[[], object], tries: int = 5) -> float:
    """Return the shortest time of several runs."""
    times = []
    for _ in range(tries):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


@pytest.mark.parametrize("database_kind", ["mariadb"], indirect=True)
def test_counting_reads_ranges_of_an_index(engine: Engine) -> None:
    """No statement scans a table or sorts (EXPLAIN of what really ran)."""
    fill(engine, "q", 500)
    fill(engine, "q", 500, priority=7, delay=60)
    fill(engine, "other", 500)
    steps = explained(engine, lambda connection: queue_stats(connection, "q"))
    keys = {step["table"]: step["key"] for step in steps}
    assert keys["sakuin_messages"] == "sakuin_messages_claim"
    assert keys["sakuin_dead"] == "sakuin_dead_queue"
    for step in steps:
        assert "filesort" not in (step["Extra"] or ""), step
        is_table = str(step["table"]).startswith("sakuin_")
        assert not is_table or step["type"] in ("ref", "range"), step
