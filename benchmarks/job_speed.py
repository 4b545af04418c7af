"""Jobs that do nothing, from the push to the ack: how many a second the worker itself can do.

Each message is claimed and settled durably (every COMMIT is flushed). `batch` is how many a claim
may take at once: with 1, every message is a claim of its own. Settling is always in batches.
A run begins when the workers are idle, and ends when the table is empty.
"""

import argparse
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from report import Report
from sakuin.app.private_mariadb import private_mariadb
from sakuin.queue import create_schema, open_engine, push_many, read, replay
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import Jobs, Worker

jobs = Jobs()
WARM_UP = 200
MOST_SECONDS = 300.0


@jobs.job("nothing")
def do_nothing() -> None:
    """Cost nothing: what remains is what the queue costs."""


@dataclass(frozen=True, slots=True)
class Load:
    """So many workers with so many processes each, that claim so many messages at once."""

    workers: int
    processes: int
    batch: int


LOADS = (
    Load(1, 1, 1),
    Load(1, 4, 1),
    Load(4, 1, 1),
    Load(1, 1, 10),
    Load(1, 1, 100),
    Load(1, 4, 100),
    Load(4, 1, 100),
)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=("mariadb", "sqlite"), default="mariadb")
    parser.add_argument("--seconds", type=float, default=3.0, help="about so long a load")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    report = Report(
        "Jobs that do nothing", ("workers", "processes each", "batch", "jobs", "jobs/s")
    )
    best = 0.0
    for load in LOADS:
        with _database(arguments.db) as url:
            count, rate = _rate(url, load, arguments.seconds)
        report.add(load.workers, load.processes, load.batch, count, rate)
        best = max(best, rate if load.batch == 1 else 0.0)
    report.conclude("one message a claim: most jobs a second", best)
    report.write(arguments.json)


@contextmanager
def _database(kind: str) -> Iterator[str]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sakuin-bench-")))
        if kind == "mariadb":
            yield stack.enter_context(private_mariadb(folder / "mariadb")).url
        else:
            yield f"sqlite:///{folder / 'jobs.db'}"


def _rate(url: str, load: Load, seconds: float) -> tuple[int, float]:
    engine = open_engine(url)
    create_schema(engine)
    context = multiprocessing.get_context("spawn")
    crew = [context.Process(target=_work, args=(url, load)) for _ in range(load.workers)]
    for one in crew:
        one.start()
    try:
        _drain(engine, WARM_UP * load.workers)
        count = max(500, round(1000 / _drain(engine, 1000) * seconds))
        return count, count / _drain(engine, count)
    finally:
        for one in crew:
            one.kill()
            one.join()
        engine.dispose()


def _work(url: str, load: Load) -> None:
    worker = Worker(open_engine(url), "job_speed:jobs", processes=load.processes, batch=load.batch)
    worker.run(threading.Event())


def _drain(engine: Engine, count: int) -> float:
    """Push so many, and return how long it takes until there are none."""
    replay(
        engine, lambda on: push_many(on, "default", (b"{}" for _ in range(count)), kind="nothing")
    )
    began = time.perf_counter()
    while read(engine, lambda on: execute(on, "SELECT 1 FROM sakuin_messages LIMIT 1").all()):
        if time.perf_counter() - began > MOST_SECONDS:
            raise SystemExit(f"{count} jobs are not done after {MOST_SECONDS:g} s")
        time.sleep(0.01)  # between two looks
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
