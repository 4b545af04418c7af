"""Workers as processes that kill or stop themselves at a named point, run by the crash tests.

    python crash_worker.py '{"url": …, "root": …, "jobs": [{"index": …, "at": …}, …]}'

Every job is a process of its own, forked from this one: a real Worker that drains its index, or a
rebuild. `at` is a step's name, or how many of its doings (system calls that Python reports, SQL
statements, commits) it lives. Prints a JSON line whenever a process has stopped or ended.
"""

import itertools
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine as Database
from sqlalchemy import event

from notes import elapse_lease, notes_copy
from sakuin.app.settings import read_settings
from sakuin.app.worker import Worker
from sakuin.indexer.engines import engine_named
from sakuin.indexer.rebuild import rebuild
from sakuin.queue import open_engine

_DOINGS = ("open", "os.", "fcntl.", "shutil.", "socket.")
SETTINGS = {"lease_seconds": 1.0, "poll_seconds": 0.02, "gather_seconds": 0.01}
DEADLY = "deadly"
"""In a job with `has_killer` a note with this word kills whoever reads it; the process is then
started again, its lease being over, until it gets through."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does, and how it ends: `how` is a signal, sent to itself at `at`."""

    index: str
    engine: str = "tantivy"
    at: str | int = "never"
    how: int = signal.SIGKILL
    work: str = "drain"
    documents: int = 20_000
    has_killer: bool = False


def main(plan: dict[str, Any]) -> None:
    """Run all jobs at once and tell what becomes of them."""
    running = {_start(job, plan): job for job in [Job(**each) for each in plan["jobs"]]}
    while running:
        pid, status = os.waitpid(-1, os.WUNTRACED)
        is_stopped = os.WIFSTOPPED(status)
        end = os.WSTOPSIG(status) if is_stopped else os.waitstatus_to_exitcode(status)
        print(json.dumps({"index": running[pid].index, "pid": pid, "end": end}), flush=True)
        if not is_stopped:
            job = running.pop(pid)
            if job.has_killer and end == -signal.SIGKILL:
                running[_start(job, plan)] = job


def _start(job: Job, plan: dict[str, Any]) -> int:
    pid = os.fork()
    if not pid:
        _run(job, plan)
    return pid


def _run(job: Job, plan: dict[str, Any]) -> None:
    try:
        _work(job, plan)
    except BaseException:  # noqa: BLE001  printed, and told by the exit code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _work(job: Job, plan: dict[str, Any]) -> None:
    database = open_engine(plan["url"])
    engine = engine_named(job.engine)

    def read_body(body: str) -> None:
        if job.has_killer and DEADLY in body:
            send_to_self(signal.SIGKILL)

    root = Path(plan["root"])
    copy = notes_copy(database, root, name=job.index, engine=engine, on_body=read_body)
    if job.has_killer:
        elapse_lease(copy)

    passed = set[str]()

    def on_step(step: str) -> None:
        if step == job.at and step not in passed:
            passed.add(step)
            send_to_self(job.how)

    doings = itertools.count()

    def on_doing() -> None:
        if next(doings) == job.at:
            send_to_self(job.how)

    if isinstance(job.at, int):
        count_doings(database, on_doing)
    if job.work == "rebuild":
        rebuild(copy, on_step=on_step)
    else:
        flags = {**SETTINGS, "data_dir": root, "batch_documents": job.documents}
        worker = Worker(copy, read_settings(flags, {}, root), on_step)
        signal.signal(signal.SIGTERM, lambda *_: worker.stop.set())
        worker.drain()


def send_to_self(number: int) -> None:
    """Send a signal to this thread: one to the process may let this thread run on for a while."""
    signal.pthread_kill(threading.get_ident(), number)


def count_doings(database: Database, on_doing: Callable[[], None]) -> None:
    """Call `on_doing` before everything that this process does to files or to the database."""

    def audit(name: str, _arguments: tuple[object, ...]) -> None:
        if name.startswith(_DOINGS):
            on_doing()

    event.listen(database, "before_cursor_execute", lambda *_: on_doing())
    event.listen(database, "commit", lambda _: on_doing())
    sys.addaudithook(audit)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
