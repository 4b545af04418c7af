"""`sakuin queue run`."""

import logging
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sakuin.app.commands.options import DatabaseUrl, DataDir, installed, say, setting
from sakuin.app.installed_jobs import TARGET, installed_jobs
from sakuin.app.recurring_tasks import recurring_tasks
from sakuin.app.settings import as_environment, read_settings
from sakuin.queue.notices import read_rules
from sakuin.queue.processes import Plan, Role, stop_on_signals, supervise, usual_plan

Queues = Annotated[
    list[str] | None,
    typer.Option(
        "--queue",
        help="Take from this queue: a name, a beginning and *, or * (all but those of indexes). "
        "Give it several times; the order is that of urgency. Messages without a kind that is "
        "known go to the dead list. (no variable; default: the queues of the kinds)",
        show_default=False,
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        min=1, max=64, help="How many workers. (no variable; default: 1)", show_default=False
    ),
]
Processes = Annotated[
    int,
    typer.Option(
        min=1,
        max=64,
        help="How many jobs each worker runs at once, each in a process of its own. "
        "(no variable; default: 2)",
        show_default=False,
    ),
]
StopSeconds = Annotated[
    float,
    typer.Option(
        min=0,
        max=3600,
        help="How long jobs may take to end when this is stopped; then they are stopped, and done "
        "again later. (no variable; default: 20)",
        show_default=False,
    ),
]
MaxJobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Replace a process after so many jobs. (no variable; default: never)",
        show_default=False,
    ),
]
MaxMemory = Annotated[
    int | None,
    typer.Option(
        "--max-memory-mb",
        min=1,
        help="Replace a process that holds more than so many MB after a job. "
        "(no variable; default: never)",
        show_default=False,
    ),
]
WithIndex = Annotated[
    bool,
    typer.Option(
        "--with-index",
        help="Make saves searchable too, as the command `sakuin worker` does. "
        "(no variable; default: off)",
        show_default=False,
    ),
]


def run_processes(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    queue: Queues = None,
    workers: Workers = 1,
    processes: Processes = 2,
    jobs: Annotated[str | None, setting("jobs")] = None,
    tasks: Annotated[str | None, setting("tasks")] = None,
    alerts: Annotated[str | None, setting("alerts")] = None,
    lease_seconds: Annotated[float | None, setting("lease_seconds")] = None,
    stop_seconds: StopSeconds = 20.0,
    max_jobs: MaxJobs = None,
    max_memory_mb: MaxMemory = None,
    with_index: WithIndex = False,
) -> None:
    """Work on jobs: workers, a dispatcher that tidies, a scheduler of recurring tasks.

    All of them are processes that this one watches: what dies is started again, and what it held
    is done by another at once. Ends in order on SIGTERM or Ctrl-C; a second Ctrl-C ends at once.
    Waits while the database is away.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    flags = {
        "data_dir": data_dir,
        "database_url": database_url,
        "jobs": jobs,
        "tasks": tasks,
        "alerts": alerts,
        "lease_seconds": lease_seconds,
    }
    settings = read_settings(flags)
    recurring_tasks(settings)  # a mistake in a file is told here, once
    if settings.alerts:
        read_rules(Path(settings.alerts))
    with installed(settings):
        pass  # SQLite's tables are made
    os.environ.update(as_environment(settings))  # the children read their settings there
    installed_jobs()  # a module that cannot be imported is told before anything runs
    plan = usual_plan(
        settings.database_url,
        jobs=TARGET,
        queues=queue or [],
        workers=workers,
        processes=processes,
        alerts_file=Path(settings.alerts) if settings.alerts else None,
        senders="sakuin.app.notice_senders:senders",
        lease_seconds=settings.lease_seconds,
        stop_seconds=stop_seconds,
        max_jobs=max_jobs,
        max_memory_bytes=None if max_memory_mb is None else max_memory_mb * 1_000_000,
    )
    stop, at_once = threading.Event(), threading.Event()
    with stop_on_signals(stop, at_once):
        say("Working on jobs; Ctrl-C ends. `sakuin queue processes` shows who is there.")
        supervise(_with_own_roles(plan, with_index=with_index), stop, at_once)


def _with_own_roles(plan: Plan, *, with_index: bool) -> Plan:
    """Let the scheduler know the tasks of this installation, and the index be worked on."""
    roles = [
        replace(role, target="sakuin.app.roles:schedule") if role.name == "scheduler" else role
        for role in plan.roles
    ]
    if with_index:
        roles.append(Role("index", "sakuin.app.roles:index"))
    return replace(plan, roles=tuple(roles))
