"""A worker in a process of its own, for tests that kill one, or the database under it.

`python jobs_crew.py URL LEASE_SECONDS PROCESSES` works until SIGTERM.
"""

import logging
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sakuin.queue import open_engine
from sakuin.queue.jobs import Worker


@contextmanager
def crew(
    url: str, *, lease_seconds: float = 60.0, processes: int = 2
) -> Iterator["subprocess.Popen[str]"]:
    """Run such a process; what it logs comes on its stderr."""
    with subprocess.Popen(
        [sys.executable, "-W", "error", __file__, url, str(lease_seconds), str(processes)],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def rss_bytes(pid: int) -> int:
    """Return how much memory a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def children(pid: int) -> list[int]:
    """Return the ids of a process's children."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(one) for task in tasks for one in task.read_text().split()]


def main() -> None:
    """Work as told on the command line."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    url, lease_seconds, processes = sys.argv[1:]
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    engine = open_engine(url)
    worker = Worker(
        engine,
        "example_jobs:jobs",
        lease_seconds=float(lease_seconds),
        processes=int(processes),
        stop_seconds=2.0,
    )
    worker.run(stop)
    engine.dispose()


if __name__ == "__main__":
    main()
