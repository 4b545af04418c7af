"""Which chores a dispatcher does, and how often: everything that nobody waits for."""

from collections.abc import Callable, Sequence

from sqlalchemy import Engine

from sakuin.queue.free_limits import free_stale_limits, tidy_limits
from sakuin.queue.jobs.end_batches import end_batches
from sakuin.queue.jobs.measures import KEEP_MEASURES_SECONDS
from sakuin.queue.jobs.prune import MOST_AT_ONCE, Old, prune
from sakuin.queue.jobs.settle_orphans import free_left_jobs, settle_orphans
from sakuin.queue.notices.deliver import deliver_notices
from sakuin.queue.notices.evaluate import evaluate_alerts
from sakuin.queue.notices.rule import Rule
from sakuin.queue.notices.send_notice import Senders
from sakuin.queue.processes.dispatcher import Chore
from sakuin.queue.processes.prune_dead import Touch, prune_dead
from sakuin.queue.recurring.prune_runs import KEEP_SECONDS, prune_runs

PRUNE_DEAD_SECONDS = 2.0
SOON_SECONDS = 1.0
ALERTS_SECONDS = 10.0
NOTICES_SECONDS = 5.0
MINUTE_SECONDS, HOUR_SECONDS = 60.0, 3600.0


def every_chore(
    rules: Sequence[Rule] = (),
    *,
    keep_measures_seconds: float = KEEP_MEASURES_SECONDS,
    keep_runs_seconds: float = KEEP_SECONDS,
) -> tuple[Chore, ...]:
    """Return the chores of one dispatcher; `rules` are the alerts that it evaluates."""
    measures = Old("sakuin_measures", "at", keep_measures_seconds, key=("kind", "at"))

    def evaluate(engine: Engine) -> int:
        return len(evaluate_alerts(engine, rules))

    # Not at once: workers that start with us are not there yet, and "no worker" would be told.
    alerts = Chore("evaluate alerts", ALERTS_SECONDS, evaluate, first_seconds=ALERTS_SECONDS)

    def prune_kept(engine: Engine) -> int:
        return prune(engine, measures)

    def forget_runs(engine: Engine) -> int:
        return prune_runs(engine, keep_runs_seconds)

    return (
        prune_dead_chore(PRUNE_DEAD_SECONDS),
        Chore("free stale limits", SOON_SECONDS, free_stale_limits),
        Chore("end batches", SOON_SECONDS, end_batches),
        *([alerts] if rules else []),
        Chore("settle orphans", MINUTE_SECONDS, settle_orphans),
        Chore("free left jobs", MINUTE_SECONDS, free_left_jobs),
        Chore("prune jobs, batches and measures", MINUTE_SECONDS, prune_kept, most=MOST_AT_ONCE),
        Chore("tidy limits", MINUTE_SECONDS, tidy_limits),
        Chore("prune runs", HOUR_SECONDS, forget_runs),
    )


def prune_dead_chore(every_seconds: float) -> Chore:
    """Return the chore that gives back what dead processes held."""
    touch = Touch(3 * every_seconds)

    def prune_processes(engine: Engine) -> int:
        return len(prune_dead(engine, touch))

    return Chore("prune dead processes", every_seconds, prune_processes)


def notices_chore(senders: Senders, holder: Callable[[], bytes]) -> Chore:
    """Return the chore that sends notices, which may take minutes: for a dispatcher of its own."""

    def send(engine: Engine) -> int:
        return deliver_notices(engine, senders, holder=holder())

    return Chore("send notices", NOTICES_SECONDS, send, most=1)
