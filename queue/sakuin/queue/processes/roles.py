"""The three roles that a supervisor usually runs; each is loaded in the child alone."""

from collections.abc import Callable
from pathlib import Path

from sakuin.queue.errors import DatabaseAway, DatabaseBusy, OutcomeUnknown
from sakuin.queue.jobs.worker import Worker
from sakuin.queue.notices.alert_file import read_rules
from sakuin.queue.processes.chores import every_chore
from sakuin.queue.processes.dispatcher import Dispatcher
from sakuin.queue.processes.duty import Duty
from sakuin.queue.recurring.declare import declare_tasks
from sakuin.queue.recurring.scheduler import Scheduler
from sakuin.queue.recurring.task_file import read_tasks

_RETRY_SECONDS = 1.0


def work(duty: Duty) -> Callable[[], object]:
    """Work on jobs; the options are those of a Worker."""
    worker = Worker(duty.engine, holder=duty.heart.id, **duty.options)

    def take_id(new_id: bytes) -> None:
        worker.holder = new_id

    duty.heart.on_renewal = take_id
    duty.heart.detail, duty.heart.is_well = worker.detail, worker.is_well
    return lambda: worker.run(duty.stop)


def dispatch(duty: Duty) -> Callable[[], object]:
    """Tidy; option `alerts` is the path of a file of alert rules."""
    path = duty.options.get("alerts")
    dispatcher = Dispatcher(duty.engine, every_chore(read_rules(Path(path)) if path else ()))
    duty.heart.detail, duty.heart.is_well = dispatcher.detail, dispatcher.is_well
    return lambda: dispatcher.run(duty.stop)


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
