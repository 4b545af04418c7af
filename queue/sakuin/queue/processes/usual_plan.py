"""The plan of one command that runs it all: workers, a dispatcher, a scheduler."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sakuin.queue.processes.plan import Plan, Role
from sakuin.queue.processes.registry import DEAD_AFTER_SECONDS

_ROLES = "sakuin.queue.processes.roles"
END_SECONDS = 10.0
"""What a worker may need to give back its jobs, after the time they had to end."""


def usual_plan(
    database_url: str,
    *,
    jobs: str | None = None,
    queues: Sequence[str] = ("*",),
    workers: int = 1,
    tasks_file: Path | None = None,
    alerts_file: Path | None = None,
    senders: str | None = None,
    has_dispatcher: bool = True,
    has_scheduler: bool = True,
    dead_after_seconds: float = DEAD_AFTER_SECONDS,
    stop_seconds: float = 20.0,
    **worker_options: Any,
) -> Plan:
    """Return a plan of `workers` for the registry `jobs` ("module:name"; without it none).

    `senders`, "module:function", gives the dispatcher the ways out for notices; workers that know
    the kind of notices do without. Jobs that are running at the end have `stop_seconds` to finish.
    The other options are those of `Worker`, the number of `processes` that each worker runs jobs
    in among them.
    """
    options = {
        "target": jobs,
        "queues": list(queues),
        "stop_seconds": stop_seconds,
        **worker_options,
    }
    tidying = {"alerts": _text(alerts_file), "senders": senders}
    dispatcher = Role("dispatcher", f"{_ROLES}:dispatch", tidying)
    scheduler = Role("scheduler", f"{_ROLES}:schedule", {"tasks": _text(tasks_file)})
    roles = (
        *([Role("worker", f"{_ROLES}:work", options, workers)] if jobs else []),
        *([dispatcher] if has_dispatcher else []),
        *([scheduler] if has_scheduler else []),
    )
    return Plan(database_url, roles, dead_after_seconds, stop_seconds + END_SECONDS)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())
