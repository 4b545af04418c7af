"""Claim and ack at a depth that is held: what is taken is pushed again."""

import multiprocessing
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from sakuin.queue import ack, claim, open_engine, push_many, replay

QUEUE = "bench"
LEASE_SECONDS = 600.0
WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Load:
    """What is measured: batches of this size, by so many processes, at this depth."""

    depth: int
    batch: int
    processes: int
    messages: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Work:
    """What one process did: messages, seconds of claim + ack alone, and from when to when."""

    messages: int
    busy_seconds: float
    begun: float
    ended: float


def messages_a_second(url: str, load: Load) -> float:
    """Return the rate of claim + ack.

    One process: on the clock of claim and ack alone. Several: by the clock on the wall, with all
    the pushing that holds the depth, since they wait for one another in that, too.
    """
    engine = open_engine(url)
    empty(engine)
    fill(engine, load.depth, load.data)
    engine.dispose()
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(load.processes), context.SimpleQueue()
    crew = [
        context.Process(target=_run, args=(url, load, start, results))
        for _ in range(load.processes)
    ]
    for one in crew:
        one.start()
    works: list[Work] = [results.get() for _ in crew]
    for one in crew:
        one.join()
    done = sum(work.messages for work in works)
    if load.processes == 1:
        return done / works[0].busy_seconds
    return done / (max(work.ended for work in works) - min(work.begun for work in works))


def empty(engine: Engine) -> None:
    """Remove every message, with what is left of former ones."""
    sql = "DELETE FROM" if engine.dialect.name == "sqlite" else "TRUNCATE TABLE"
    replay(engine, lambda connection: connection.exec_driver_sql(f"{sql} sakuin_messages"))


def fill(engine: Engine, count: int, data: bytes) -> None:
    """Push so many messages."""
    replay(engine, lambda connection: push_many(connection, QUEUE, (data for _ in range(count))))


def _run(url: str, load: Load, start: Any, results: Any) -> None:
    engine = open_engine(url)
    for _ in range(WARM_UP):
        _work(engine, load)
    start.wait()
    begun, busy, done = time.monotonic(), 0.0, 0
    while done < load.messages // load.processes:
        count, seconds = _work(engine, load)
        done, busy = done + count, busy + seconds
    results.put(Work(done, busy, begun, time.monotonic()))
    engine.dispose()


def _work(engine: Engine, load: Load) -> tuple[int, float]:
    """Claim and ack one batch, and push as many again; return how many, and how long it took."""
    begun = time.perf_counter()
    messages = claim(engine, QUEUE, limit=load.batch, lease_seconds=LEASE_SECONDS)
    lost = ack(engine, messages)
    seconds = time.perf_counter() - begun
    assert not lost
    if messages:
        fill(engine, len(messages), load.data)
    return len(messages), seconds
