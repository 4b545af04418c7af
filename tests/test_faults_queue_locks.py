"""Faults of other queues with locks: everybody at once, and no deadlock reaches a caller."""

import random
import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine

from conftest import Stress
from sakuin.queue import (
    Limit,
    LimitReached,
    RetryPolicy,
    ack,
    claim,
    crash,
    dead_messages,
    discard_dead,
    extend,
    fail,
    free_stale_limits,
    push,
    push_many,
    read,
    release,
    requeue_held,
    retry_dead,
    tidy_limits,
)
from sakuin.queue.dialect import execute

NO_WAIT = RetryPolicy(max_attempts=3, first_seconds=0, most_seconds=0)


def push_some(engine: Engine, chance: random.Random) -> None:
    """In transactions of the caller's own, which nobody runs again."""
    limit = Limit(chance.choice("ab"), to=chance.randint(1, 2), seconds=5)
    discarding = Limit("d", to=3, on_conflict="discard")
    options: list[dict[str, Any]] = [
        {"unique_key": chance.choice("uvw")},
        {"limit": limit},
        {"limit": limit, "unique_key": chance.choice("xy")},
        {"limit": discarding},
        {"priority": chance.randint(0, 9)},
    ]
    try:
        with engine.begin() as connection:
            push(connection, chance.choice("pq"), b"x", **chance.choice(options))
    except LimitReached:
        with engine.begin() as connection:
            push_many(connection, "q", [b"y"] * 5)


def work_some(engine: Engine, chance: random.Random) -> None:
    """As workers of one holder do."""
    got = claim(
        engine,
        chance.choice("pq"),
        limit=chance.randint(1, 10),
        lease_seconds=5,
        policy=NO_WAIT,
        holder=b"a-holder",
    )
    parts: list[list[Any]] = [[] for _ in range(4)]
    for one in got:
        parts[chance.choice((0, 0, 0, 0, 1, 2, 3))].append(one)
    extend(engine, got, 5)
    ack(engine, parts[0])
    release(engine, parts[1])
    fail(engine, parts[2], "no", policy=NO_WAIT)
    crash(engine, parts[3], "no", policy=NO_WAIT)


def tidy_some(engine: Engine, chance: random.Random) -> None:
    """As a dispatcher and an operator do."""
    free_stale_limits(engine)
    tidy_limits(engine)
    if chance.random() < 0.3:
        requeue_held(engine, b"a-holder")
    ids = [one.id for one in read(engine, dead_messages)]
    chance.choice((retry_dead, discard_dead))(engine, ids)


def test_solid_queue_240_everybody_at_once_and_no_deadlock_reaches_a_caller(
    engine: Engine,
    database_url: str,
    open_database: Callable[[str], Engine],
    stress: Stress,
) -> None:
    """Faults of many (solid_queue #240, #531, #609, #99,
    delayed_job #63, laravel #7046, action-scheduler #530): with real connections."""
    until = time.monotonic() + (60 if stress.is_whole else 1.5)
    errors: list[BaseException] = []

    def run(seed: int, act: Callable[[Engine, random.Random], None]) -> None:
        worker, chance = open_database(database_url), random.Random(seed)
        try:
            while time.monotonic() < until and not errors:
                act(worker, chance)
        except BaseException as error:  # noqa: BLE001  raised below
            errors.append(error)

    acts = [push_some, push_some, push_some, work_some, work_some, work_some, tidy_some]
    if engine.dialect.name == "sqlite":
        acts = [push_some, work_some, work_some, tidy_some]  # writers come one by one anyway
    threads = [
        threading.Thread(target=run, args=(stress.seed + number, act))
        for number, act in enumerate(acts)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error
    assert_all_can_be_done(engine)


def assert_all_can_be_done(engine: Engine) -> None:
    """Nothing is left that nobody could work on."""
    requeue_held(engine, b"a-holder")
    got = 1
    while got:
        free_stale_limits(engine)
        got = 0
        for queue in "pq":
            while batch := claim(engine, queue, limit=100, lease_seconds=60):
                got += len(batch)
                assert not ack(engine, batch)
    left = read(engine, lambda one: execute(one, "SELECT * FROM sakuin_messages").all())
    assert left == []
