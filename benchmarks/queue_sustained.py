"""Claim and ack at a depth that is held: what is taken is pushed again, off the clock."""

import multiprocessing
import time
from dataclasses import dataclass

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


def messages_a_second(url: str, load: Load) -> float:
    """Return the rate of claim + ack: the sum of what each process does on its own clock."""
    engine = open_engine(url)
    empty(engine)
    fill(engine, load.depth, load.data)
    engine.dispose()
    if load.processes == 1:
        return _work(url, load)
    context = multiprocessing.get_context("spawn")
    with context.Pool(load.processes) as crew:
        return sum(crew.starmap(_work, [(url, load)] * load.processes, chunksize=1))


def empty(engine: Engine) -> None:
    """Remove every message, with what is left of former ones."""
    sql = "DELETE FROM" if engine.dialect.name == "sqlite" else "TRUNCATE TABLE"
    replay(engine, lambda connection: connection.exec_driver_sql(f"{sql} sakuin_messages"))


def fill(engine: Engine, count: int, data: bytes) -> None:
    """Push so many messages."""
    replay(engine, lambda connection: push_many(connection, QUEUE, (data for _ in range(count))))


def _work(url: str, load: Load) -> float:
    engine = open_engine(url)
    share = load.messages // load.processes
    done, seconds = -WARM_UP * load.batch, 0.0
    while done < share:
        begun = time.perf_counter()
        messages = claim(engine, QUEUE, limit=load.batch, lease_seconds=LEASE_SECONDS)
        lost = ack(engine, messages)
        passed = time.perf_counter() - begun
        assert not lost
        if done >= 0:
            seconds += passed
        elif done + len(messages) >= 0:
            done = -len(messages)
        done += len(messages)
        if messages:
            fill(engine, len(messages), load.data)
    engine.dispose()
    return done / seconds
