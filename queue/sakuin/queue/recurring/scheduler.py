"""The process that pushes recurring tasks when they are due. Any number of them may run at once."""

import logging
import threading
import time
from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from sakuin.queue.errors import DatabaseAway, DatabaseBusy, OutcomeUnknown, QueueError
from sakuin.queue.recurring.clock import Clock, database_clock
from sakuin.queue.recurring.due import due_runs
from sakuin.queue.recurring.enqueue import enqueue_run, leave_out
from sakuin.queue.recurring.planned import Planned, planned_tasks
from sakuin.queue.replay import read

_LOG = logging.getLogger("sakuin.scheduler")

MOST_SLEEP_SECONDS = 5.0
"""It looks so often at the least: for tasks that were declared, and for a clock that was set."""

LEAST_SLEEP_SECONDS = 0.01
STUCK_SECONDS = 300.0
_SELF = "scheduler"


class Scheduler:
    """Sleeps until the next run is due, and pushes it. It keeps no state that a restart would lose.

    A database that is away is told once, and waited for; so is a task that cannot be pushed, and
    the others go on.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock = database_clock,
        most_sleep_seconds: float = MOST_SLEEP_SECONDS,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._most_sleep_seconds = most_sleep_seconds
        self._trouble: dict[str, str] = {}
        self._pushed = 0
        self._moved_at = time.monotonic()

    def run(self, stop: threading.Event) -> None:
        """Push what is due until `stop` is set; a run that is being pushed is ended first."""
        while not stop.is_set():
            stop.wait(self._tick_safely(stop))

    def tick(self, stop: threading.Event | None = None) -> float:
        """Push what is due now, and return in how many seconds something is due again.

        With much to make up for it ends early when `stop` is set.

        Raises QueueError or SQLAlchemyError where the database is away.
        """
        now, tasks = read(self._engine, self._look)
        soonest = timedelta(seconds=self._most_sleep_seconds)
        for gone in self._trouble.keys() - {_SELF, *(_name(planned) for planned in tasks)}:
            del self._trouble[gone]
        for planned in tasks:
            if stop is not None and stop.is_set():
                break
            self._moved_at = time.monotonic()
            try:
                soonest = min(soonest, self._push_due(planned, now) - now)
            except (DatabaseAway, DatabaseBusy, OutcomeUnknown):
                raise
            except Exception as error:  # noqa: BLE001  one task's fault must not stop the others
                self._tell(_name(planned), f"{type(error).__name__}: {error}")
            else:
                self._going_on(_name(planned))
        return max(soonest.total_seconds(), LEAST_SLEEP_SECONDS)

    def is_well(self) -> bool:
        """Tell whether it moves on."""
        return time.monotonic() - self._moved_at < STUCK_SECONDS

    def detail(self) -> Mapping[str, object]:
        """Return what it shows of itself: how many runs it pushed, and what fails, with why."""
        return {"runs_pushed": self._pushed, "failing": dict(self._trouble)}

    def _look(self, connection: Connection) -> tuple[datetime, tuple[Planned, ...]]:
        return self._clock(connection), planned_tasks(connection)

    def _push_due(self, planned: Planned, now: datetime) -> datetime:
        """Push what is due of one task, oldest first, and return when the next run is."""
        schedule = planned.when()
        due = due_runs(schedule, planned.planned_from, now, planned.catch_up_seconds)
        if (
            due.left_out
            and due.left_out_until
            and leave_out(self._engine, planned, due.left_out_until)
        ):
            _LOG.warning(
                "task %s: runs from %s to %s were missed and are left out: they are older than"
                " catch_up_seconds=%g",
                planned.key,
                due.left_out.isoformat(),
                due.left_out_until.isoformat(),
                planned.catch_up_seconds,
            )
        for run_at in due.runs:
            if enqueue_run(self._engine, planned, run_at):
                self._pushed += 1
        last = due.runs[-1] if due.runs else due.left_out_until or planned.planned_from
        return schedule.next_after(last)

    def _tick_safely(self, stop: threading.Event) -> float:
        """Tick; whatever fails is told once, and tried again after a while."""
        self._moved_at = time.monotonic()
        try:
            seconds = self.tick(stop)
        except (QueueError, SQLAlchemyError) as error:
            self._tell(_SELF, str(error))
            return self._most_sleep_seconds
        self._going_on(_SELF)
        return seconds

    def _tell(self, who: str, trouble: str) -> None:
        if who not in self._trouble:
            _LOG.warning("%s: waiting, it is tried again and again: %s", who, trouble)
        self._trouble[who] = trouble[:500]

    def _going_on(self, who: str) -> None:
        if self._trouble.pop(who, None):
            _LOG.warning("%s: going on", who)


def _name(planned: Planned) -> str:
    return f"task {planned.key}"
