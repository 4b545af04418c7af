"""A process that does something else, and dispatches and schedules beside it, in threads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Engine

from sakuin.queue.notices.rule import Rule
from sakuin.queue.notices.send_notice import Senders
from sakuin.queue.processes.chores import every_chore, notices_chore
from sakuin.queue.processes.dispatcher import Dispatcher
from sakuin.queue.processes.heartbeat import Heartbeat
from sakuin.queue.processes.in_threads import in_threads
from sakuin.queue.processes.registry import DEAD_AFTER_SECONDS
from sakuin.queue.recurring.scheduler import Scheduler


@contextmanager
def tidy_beside(
    engine: Engine,
    role: str,
    *,
    rules: Sequence[Rule] = (),
    senders: Senders | None = None,
    dead_after_seconds: float = DEAD_AFTER_SECONDS,
    detail: Callable[[], Mapping[str, object]] = dict,
) -> Iterator[Heartbeat]:
    """Be registered as a process of that role, and tidy, while the block runs.

    Recurring tasks that are declared are pushed, `rules` evaluated, and notices sent where there
    are `senders`. Waits for no database; raises DatabaseRefused for one that will not do.
    """
    dispatcher, scheduler = Dispatcher(engine, every_chore(rules)), Scheduler(engine)
    runs = {"dispatcher": dispatcher.run, "scheduler": scheduler.run}
    with Heartbeat(engine, role, dead_after_seconds=dead_after_seconds, detail=detail) as heart:
        if senders:
            sending = Dispatcher(engine, [notices_chore(senders, lambda: heart.id)])
            runs["notices"] = sending.run
        heart.is_well = lambda: dispatcher.is_well() and scheduler.is_well()
        with in_threads(runs):
            yield heart
