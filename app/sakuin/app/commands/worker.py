"""`sakuin worker`."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated

import typer

from sakuin.app.assemble import Installation
from sakuin.app.commands.options import (
    DatabaseUrl,
    DataDir,
    EngineName,
    installed,
    say,
    setting,
)
from sakuin.app.follow import look
from sakuin.app.index_workers import IndexWorkers
from sakuin.app.maintenance_worker import MaintenanceWorker
from sakuin.app.notice_senders import senders_of
from sakuin.app.recurring_tasks import recurring_tasks
from sakuin.app.settings import read_settings
from sakuin.indexer.batch import Batch
from sakuin.queue.notices import read_rules
from sakuin.queue.processes.in_threads import in_threads
from sakuin.queue.processes.tidy_beside import tidy_beside

Drain = Annotated[
    bool,
    typer.Option(
        "--drain",
        help="Work until nothing is ready, leased or in back-off, then exit: 0, or 1 if a "
        "message died, or 75 if a queue is paused. Good for cron. (no variable; default: off)",
        show_default=False,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", help="Log no batches. (no variable; default: off)", show_default=False),
]


def worker(
    drain: Drain = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    engine: EngineName = None,
    index: Annotated[
        str | None,
        typer.Option(
            help="Work on this index alone. (no variable; default: all indexes)",
            show_default=False,
        ),
    ] = None,
    batch_documents: Annotated[int | None, setting("batch_documents")] = None,
    batch_bytes: Annotated[int | None, setting("batch_bytes")] = None,
    gather_seconds: Annotated[float | None, setting("gather_seconds")] = None,
    poll_seconds: Annotated[float | None, setting("poll_seconds")] = None,
    lease_seconds: Annotated[float | None, setting("lease_seconds")] = None,
    quiet: Quiet = False,
    stop_with_parent: Annotated[bool, typer.Option("--stop-with-parent", hidden=True)] = False,
) -> None:
    """Make saves searchable: drain the queues in batches, each published as a new generation.

    Works on every index: paragraphs, models and attached tables. Does what nobody waits for beside
    it: recurring tasks, the maintenance by night, alerts and notices (`sakuin queue schedule`).
    Ends cleanly on SIGTERM or Ctrl-C. Waits while the database is away. A second worker of the
    same index stands by.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    flags = {
        "data_dir": data_dir,
        "database_url": database_url,
        "engine": engine,
        "batch_documents": batch_documents,
        "batch_bytes": batch_bytes,
        "gather_seconds": gather_seconds,
        "poll_seconds": poll_seconds,
        "lease_seconds": lease_seconds,
    }
    with installed(read_settings(flags)) as opened:
        if drain and not opened.settings.is_sqlite:
            look(opened.parts())  # tells at once, by the exit code, that the database is away
        working = IndexWorkers(opened, index)
        _stop_on_signals(working)
        if stop_with_parent:
            threading.Thread(target=_stop_at_eof, args=(working,), daemon=True).start()
        told = (lambda *_: None) if quiet else _tell
        if not drain:
            if not quiet:
                say("Indexing; Ctrl-C ends.")
            with _tidying(opened, working):
                working.run(told)
            return
        died = working.drain(told)
        is_unfinished = working.was_told_to_stop and working.waits(lambda p: look(p).waiting)
    if is_unfinished:
        raise typer.Exit(75)
    if died > 0:
        say(f"{died} messages died; `sakuin status` counts them")
        raise typer.Exit(1)


@contextmanager
def _tidying(opened: Installation, working: IndexWorkers) -> Iterator[None]:
    """Do beside the indexing what nobody waits for: recurring tasks, maintenance, notices."""
    settings, database = opened.settings, opened.database
    rules = read_rules(Path(settings.alerts)) if settings.alerts else ()
    ways_out = senders_of(settings)
    tasks = recurring_tasks(settings)
    with tidy_beside(
        database,
        "index",
        rules=rules,
        senders=ways_out if ways_out.mail or ways_out.webhooks else None,
        detail=working.detail,
    ) as heart:
        maintenance = MaintenanceWorker(database, tasks, heart)
        with in_threads({"maintenance": maintenance.run}):
            yield


def _tell(index: str, batch: Batch) -> None:
    logging.getLogger("sakuin.worker").info(
        "%s generation %d: %d documents (%d changed) of %d messages%s",
        index,
        batch.generation,
        batch.documents,
        batch.changed,
        batch.messages,
        f", {batch.failed} failed" if batch.failed else "",
    )


def _stop_on_signals(working: IndexWorkers) -> None:
    """Stop at a signal: by a thread, since one handler may interrupt another within a lock."""
    arrived: SimpleQueue[int] = SimpleQueue()  # its put() may be interrupted by itself
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: arrived.put(number))

    def wait() -> None:
        arrived.get()
        working.stop.set()

    threading.Thread(target=wait, name="signals", daemon=True).start()


def _stop_at_eof(working: IndexWorkers) -> None:
    """Stop when the process that started us is gone: it held the other end of our input."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    working.stop.set()
