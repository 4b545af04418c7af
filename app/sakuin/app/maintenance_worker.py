"""Does the maintenance beside an index worker: a process for it lives only while there is any."""

import threading

from sqlalchemy import Engine

from sakuin.app.installed_jobs import TARGET
from sakuin.app.maintenance import MAINTENANCE_QUEUE
from sakuin.app.recurring_tasks import Tasks, declare_all
from sakuin.queue import DatabaseAway, DatabaseBusy, read
from sakuin.queue.jobs import Worker
from sakuin.queue.processes import Heartbeat
from sakuin.queue.queue_stats import queue_stats

_LOOK_SECONDS = 2.0


class MaintenanceWorker:
    """Declares the recurring tasks, then works on Sakuin's own jobs whenever one is ready."""

    def __init__(self, engine: Engine, tasks: Tasks, heart: Heartbeat) -> None:
        self._engine, self._tasks, self._heart = engine, tasks, heart
        self._worker: Worker | None = None
        heart.on_renewal = self._take_id

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set; a job that runs then is given back."""
        declare_all(self._engine, self._tasks, stop)
        while not stop.is_set():
            if self._is_ready():
                self._worker = Worker(
                    self._engine,
                    TARGET,
                    queues=(MAINTENANCE_QUEUE,),
                    processes=1,
                    batch=1,
                    holder=self._heart.id,
                )
                self._worker.run(stop, until_drained=True)
                self._worker = None
            stop.wait(_LOOK_SECONDS)

    def _take_id(self, new_id: bytes) -> None:
        """Claim under the id that this process has now: it was taken for dead meanwhile."""
        worker = self._worker
        if worker is not None:
            worker.holder = new_id

    def _is_ready(self) -> bool:
        try:
            stats = read(
                self._engine, lambda connection: queue_stats(connection, MAINTENANCE_QUEUE)
            )
        except (DatabaseAway, DatabaseBusy):
            return False  # whoever beats for this process says so
        return stats.ready > 0 and not stats.is_paused
