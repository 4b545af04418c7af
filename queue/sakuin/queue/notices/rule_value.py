"""The value that a rule watches, as it is now: one bounded look for each."""

from typing import Any

from sqlalchemy import Connection, Row

from sakuin.queue.dialect import dialect_of, execute, moment
from sakuin.queue.notices.rule import MOST_DEAD, OF_A_KIND, Rule
from sakuin.queue.queue_stats import oldest_seconds

_RUNS = (
    "SELECT SUM(runs) AS runs, SUM(failed) AS failed, SUM(seconds) AS seconds,"
    " MAX(longest_seconds) AS longest FROM sakuin_measures WHERE kind = ? AND at > {later}"
)
_WORKERS = (
    "SELECT beat_at, dead_after_seconds, {now} AS seen_at FROM sakuin_processes"
    " WHERE role IN ('worker', 'index')"
)
"""The roles of those that claim messages."""

_DEAD = "SELECT COUNT(*) FROM (SELECT id FROM sakuin_dead WHERE queue = ? LIMIT ?) AS some"


def value_of(connection: Connection, rule: Rule) -> float | None:
    """Return the value, or None where there is none: too few runs, no message that is ready.

    That of `no_worker` is how many processes work.
    """
    if rule.when in OF_A_KIND:
        return _of_runs(connection, rule)
    if rule.when == "no_worker":
        return float(sum(_lives(row) for row in execute(connection, _WORKERS)))
    assert rule.queue is not None
    if rule.when == "oldest_seconds":
        return oldest_seconds(connection, rule.queue)
    return float(execute(connection, _DEAD, rule.queue, MOST_DEAD).scalar_one())


def _of_runs(connection: Connection, rule: Rule) -> float | None:
    since = dialect_of(connection).shift(-rule.window_seconds)
    row = execute(connection, _RUNS, rule.kind, since).one()
    if row.runs is None or row.runs < rule.least_runs:
        return None
    if rule.when == "longest_seconds":
        return float(row.longest)
    return float(row.failed if rule.when == "failure_rate" else row.seconds) / float(row.runs)


def _lives(process: Row[Any]) -> bool:
    age = (moment(process.seen_at) - moment(process.beat_at)).total_seconds()
    return age <= float(process.dead_after_seconds)
