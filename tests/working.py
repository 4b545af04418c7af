"""A worker that runs while a test looks on."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from sakuin.queue import DeadMessage, dead_messages, read
from sakuin.queue.jobs import Worker

TARGET = "example_jobs:jobs"


@contextmanager
def working(engine: Engine, **options: Any) -> Iterator[Worker]:
    """Run a worker in a thread while the block runs; then stop it in order."""
    worker = Worker(engine, TARGET, **{"processes": 1, "lease_seconds": 60.0, **options})
    stop = threading.Event()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            worker.run(stop)
        except BaseException as error:  # noqa: BLE001  told by the assertion below
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield worker
    finally:
        stop.set()
        thread.join()
    assert not errors, errors


def drain(engine: Engine, **options: Any) -> Worker:
    """Run a worker until there is nothing left to do."""
    worker = Worker(engine, TARGET, **{"processes": 2, "lease_seconds": 60.0, **options})
    worker.run(threading.Event(), until_drained=True)
    return worker


def dead(engine: Engine) -> dict[int, DeadMessage]:
    """Return the dead list by message id."""
    found = read(engine, lambda connection: dead_messages(connection))
    return {one.message_id: one for one in found}


def lines(path: Path) -> list[str]:
    """Return what the handlers noted in the file."""
    return path.read_text().splitlines() if path.exists() else []
