"""The three roles that a supervisor usually runs; each is loaded in the child alone."""

from collections.abc import Callable
from pathlib import Path

from sakuin.queue.errors import DatabaseAway, DatabaseBusy, OutcomeUnknown
from sakuin.queue.jobs.crew import START_SECONDS
from sakuin.queue.jobs.worker import Worker
from sakuin.queue.notices.alert_file import read_rules
from sakuin.queue.processes.chores import every_chore, notices_chore
from sakuin.queue.processes.dispatcher import Dispatcher
from sakuin.queue.processes.duty import Duty, load
from sakuin.queue.processes.in_threads import in_threads
from sakuin.queue.recurring.declare import declare_tasks
from sakuin.queue.recurring.scheduler import Scheduler
from sakuin.queue.recurring.task_file import read_tasks

_RETRY_SECONDS = 1.0
STUCK_SECONDS = START_SECONDS + 30.0
"""So long a worker may wait for the first import of its jobs; later it looks all the time."""


def work(duty: Duty) -> Callable[[], object]:
    """Work on jobs; the options are those of a Worker."""
    worker = Worker(duty.engine, holder=duty.heart.id, **duty.options)

    def take_id(new_id: bytes) -> None:
        worker.holder = new_id

    def is_well() -> bool:
        # At the end it waits for its jobs, and must beat until the last of them is drained.
        return duty.stop.is_set() or worker.is_well(STUCK_SECONDS)

    duty.heart.on_renewal = take_id
    duty.heart.detail, duty.heart.is_well = worker.detail, is_well
    return lambda: worker.run(duty.stop)


def dispatch(duty: Duty) -> Callable[[], object]:
    """Tidy; and send notices where a way out is set, so that "no worker" is told to somebody.

    Option `alerts` is the path of a file of alert rules; `senders` is "module:function", which is
    called here and returns the `Senders`.
    """
    alerts, senders = duty.options.get("alerts"), duty.options.get("senders")
    tidying = Dispatcher(duty.engine, every_chore(read_rules(Path(alerts)) if alerts else ()))
    duty.heart.detail, duty.heart.is_well = tidying.detail, tidying.is_well
    if not senders:
        return lambda: tidying.run(duty.stop)
    sending = Dispatcher(duty.engine, [notices_chore(load(senders)(), lambda: duty.heart.id)])
    duty.heart.is_well = lambda: tidying.is_well() and sending.is_well()

    def run() -> None:
        with in_threads({"notices": sending.run}):
            tidying.run(duty.stop)

    return run


def schedule(duty: Duty) -> Callable[[], object]:
    """Push recurring tasks; option `tasks` is the path of their file, which is declared first."""
    path = duty.options.get("tasks")
    tasks = read_tasks(Path(path)) if path else ()
    scheduler = Scheduler(duty.engine)
    duty.heart.detail, duty.heart.is_well = scheduler.detail, scheduler.is_well

    def run() -> None:
        while path and not duty.stop.is_set():
            try:
                declare_tasks(duty.engine, tasks, path)
            except (DatabaseAway, DatabaseBusy, OutcomeUnknown):
                duty.stop.wait(_RETRY_SECONDS)  # the heartbeat says so
            else:
                break
        scheduler.run(duty.stop)

    return run
