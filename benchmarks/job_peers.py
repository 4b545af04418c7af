"""Jobs that do nothing, a second: ours beside Celery on Redis and dj-queue, where installed.

    python benchmarks/job_peers.py [--celery-python PATH] [--dj-queue-python PATH]
                                   [--seconds 5] [--rounds 3] [--json FILE]

PATH is an interpreter that has celery and redis, or dj-queue and mysqlclient, installed. A peer
that is not there is reported as "not installed".

Jobs are put in first, then the worker is started. The clock runs from the first finished job that
is seen until none is left, over the jobs that were left at its start: neither putting in nor
starting is on it. All run by turns on one machine, with client and server on it, and the figure is
the median of the rounds: take the ratios, not the figures. They do not do the same work:

- Ours: one worker with 1 or 4 child processes, each message claimed by a statement of its own
  ("1 a claim"; 4 as Celery's prefetch; 100 for information), ahead of the children, by one thread
  or (4) two. Several messages that are done are acked by one statement and one commit. Every
  commit is flushed
  (innodb_flush_log_at_trx_commit=1). At least once; nothing is kept of a finished message.
- dj-queue: the same server, so the same flushes. `--only-work` with its defaults: 1 or 4
  processes of three threads each, which claim up to six jobs ahead (prefetch 2 for each thread).
  Each job is finished in a transaction of its own, and its row with its result is kept. What a
  killed worker held fails, and waits for a person.
- Celery: prefork with 1 or 4 children, acks_late, results ignored, prefetch 4 for each child. One
  job is one message to Redis, taken and acked by itself. Redis flushes every change, as the
  others do (`appendfsync always`; by default it would lose the last minutes).
"""

import argparse
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sqlalchemy import Engine, text

from peer_redis import private_redis
from peer_systems import HERE, CeleryOnRedis, DjQueue, Ours, System, version_of
from report import Report
from sakuin.app.private_mariadb import private_mariadb
from sakuin.queue import create_schema, open_engine

WORKERS = (1, 4)
TRIAL = 600
MOST_SECONDS = 120.0
STOP_SECONDS = 20.0
Rates = dict[tuple[str, int], list[float]]


def main() -> None:
    """Measure by turns, and print a table."""
    arguments = _arguments()
    report = Report(
        "Jobs that do nothing, beside peers",
        ("system", "workers", "jobs", "jobs/s", "slowest", "fastest"),
    )
    began = os.getloadavg()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sakuin-bench-")))
        engine = open_engine(stack.enter_context(private_mariadb(folder / "mariadb")).url)
        create_schema(engine)
        _check_flushes(engine)
        systems: list[System] = [Ours(engine, 1), Ours(engine, 4), Ours(engine, 100)]
        missing = _add_peers(systems, arguments, engine, folder, stack)
        counts, rates = _measure(systems, arguments, folder / "worker.log")
        engine.dispose()
    for (name, workers), measured in rates.items():
        median = statistics.median(measured)
        report.add(name, workers, counts[name, workers], median, min(measured), max(measured))
    for name in missing:
        report.add(name, "-", "-", "not installed", "-", "-")
    _conclude(report, rates)
    report.conclude("load average at the start", round(began[0], 2))
    report.conclude("load average at the end (its own work too)", round(os.getloadavg()[0], 2))
    report.write(arguments.json)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--celery-python", help="an interpreter with celery and redis")
    parser.add_argument("--dj-queue-python", help="an interpreter with dj-queue and mysqlclient")
    parser.add_argument("--seconds", type=float, default=5.0, help="about so long a run")
    parser.add_argument("--rounds", type=int, default=3, help="runs a figure (default: 3)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser.parse_args()


def _check_flushes(engine: Engine) -> None:
    with engine.connect() as on:
        flushes = on.execute(text("SELECT @@innodb_flush_log_at_trx_commit")).scalar_one()
    if flushes != 1:
        raise SystemExit(f"innodb_flush_log_at_trx_commit={flushes}: commits are not durable")


def _add_peers(
    systems: list[System],
    arguments: argparse.Namespace,
    engine: Engine,
    folder: Path,
    stack: ExitStack,
) -> list[str]:
    """Add the peers that are there; return the names of the others."""
    missing = []
    python = arguments.celery_python
    version = version_of(python, "celery") and version_of(python, "redis")
    try:
        port = stack.enter_context(private_redis()) if version else 0
    except FileNotFoundError:
        port = 0
    if port:
        systems.append(CeleryOnRedis(python, version_of(python, "celery") or "", port))
    else:
        missing.append("celery on redis")
    python = arguments.dj_queue_python
    version = version_of(python, "dj-queue")
    if version and version_of(python, "mysqlclient"):
        dj_queue = DjQueue(python, version, engine, folder / "dj_queue.json")
        dj_queue.prepare()
        systems.append(dj_queue)
    else:
        missing.append("dj-queue on MariaDB")
    return missing


def _measure(
    systems: list[System], arguments: argparse.Namespace, log: Path
) -> tuple[dict[tuple[str, int], int], Rates]:
    """Find how many jobs last so long, then run all by turns."""
    turns = [(system, workers) for workers in WORKERS for system in systems]
    counts = {}
    for system, workers in turns:
        rate = _drain(system, workers, TRIAL, log)
        counts[system.name, workers] = max(TRIAL, round(rate * arguments.seconds))
    rates: Rates = {key: [] for key in counts}
    for _ in range(arguments.rounds):
        for system, workers in turns:
            count = counts[system.name, workers]
            rates[system.name, workers].append(_drain(system, workers, count, log))
    return counts, rates


def _drain(system: System, workers: int, count: int, log: Path) -> float:
    """Put so many jobs in, start the worker, and return how many a second it does."""
    system.put(count)
    if system.left() != count:
        raise SystemExit(f"{system.name}: {system.left()} jobs are there, not {count}")
    with _running(system.command(workers), log):
        deadline = time.monotonic() + MOST_SECONDS
        while (left := system.left()) == count:
            _pause(system, deadline, log)
        began = time.perf_counter()
        while not system.is_done():
            _pause(system, deadline, log)
        seconds = time.perf_counter() - began
    system.check(count)
    if "Traceback" in (said := log.read_text(encoding="utf-8", errors="replace")):
        raise SystemExit(f"{system.name}:\n{said[-2_000:]}")
    if not left:
        raise SystemExit(f"{system.name}: {count} jobs were done before one was seen: ask for more")
    return left / seconds


def _pause(system: System, deadline: float, log: Path) -> None:
    if time.monotonic() > deadline:
        said = log.read_text(encoding="utf-8", errors="replace")[-2_000:]
        raise SystemExit(f"{system.name} is not done after {MOST_SECONDS:g} s:\n{said}")
    time.sleep(0.02)  # between two looks


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    """Run a worker in a process group of its own; nothing of it is left afterwards."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=HERE,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with suppress(ProcessLookupError):  # most have ended their children themselves
            os.killpg(process.pid, signal.SIGKILL)


def _conclude(report: Report, rates: Rates) -> None:
    for workers in WORKERS:
        for ours in ("ours, 1 a claim", "ours, 4 a claim"):
            rate = statistics.median(rates[ours, workers])
            for name, count in rates:
                if count == workers and not name.startswith("ours"):
                    peer = statistics.median(rates[name, workers])
                    report.conclude(f"{ours}, against {name}, {workers} worker(s)", rate / peer)


if __name__ == "__main__":
    main()
