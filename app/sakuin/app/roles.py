"""What the children of `sakuin queue run` do that the queue alone does not know of."""

from collections.abc import Callable

from sakuin.app.assemble import installation
from sakuin.app.index_workers import IndexWorkers
from sakuin.app.recurring_tasks import declare_all, recurring_tasks
from sakuin.app.settings import read_settings
from sakuin.queue.processes import Duty
from sakuin.queue.recurring import Scheduler


def schedule(duty: Duty) -> Callable[[], object]:
    """Declare the tasks of this installation, and push their runs."""
    tasks = recurring_tasks(read_settings())
    scheduler = Scheduler(duty.engine)
    duty.heart.detail, duty.heart.is_well = scheduler.detail, scheduler.is_well

    def run() -> None:
        declare_all(duty.engine, tasks, duty.stop)
        scheduler.run(duty.stop)

    return run


def index(duty: Duty) -> Callable[[], object]:
    """Make saves searchable, as `sakuin worker` does."""
    settings = read_settings()

    def run() -> None:
        with installation(settings) as opened:
            working = IndexWorkers(opened, stop=duty.stop)
            duty.heart.detail = working.detail
            working.run()

    return run
