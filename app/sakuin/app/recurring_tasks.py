"""The recurring tasks of this installation: Sakuin's maintenance, and the file of the settings."""

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from sqlalchemy import Engine

from sakuin.app.maintenance import MAINTENANCE_ORIGIN, maintenance_tasks
from sakuin.app.settings import Settings
from sakuin.queue import DatabaseAway, DatabaseBusy, OutcomeUnknown
from sakuin.queue.recurring import Task, declare_tasks, read_tasks

_RETRY_SECONDS = 1.0

Tasks = Mapping[str, Iterable[Task]]
"""Tasks by their origin."""


def recurring_tasks(settings: Settings) -> Tasks:
    """Return the tasks that the settings ask for. Raises BadTaskFile, and BadTask for the zone.

    A task of the file has the place of that one of the maintenance which has its key.
    """
    own: dict[str, Iterable[Task]] = {}
    keys: set[str] = set()
    if settings.tasks:
        path = Path(settings.tasks).resolve()
        declared = read_tasks(path)
        own[str(path)] = declared
        keys = {task.key for task in declared}
    maintenance = [task for task in maintenance_tasks(settings) if task.key not in keys]
    return {MAINTENANCE_ORIGIN: maintenance, **own}


def declare_all(engine: Engine, tasks: Tasks, stop: threading.Event) -> None:
    """Declare the tasks; wait for a database that is away, until `stop` is set."""
    for origin, declared in tasks.items():
        while not stop.is_set():
            try:
                declare_tasks(engine, declared, origin)
            except (DatabaseAway, DatabaseBusy, OutcomeUnknown):
                stop.wait(_RETRY_SECONDS)
            else:
                break
