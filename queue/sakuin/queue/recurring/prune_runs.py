"""Deletes the records of old runs, in short transactions; the last run of each task stays."""

from functools import partial

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.limits import check_seconds
from sakuin.queue.replay import read, replay

ROWS_AT_ONCE = 500
KEEP_SECONDS = 30 * 86400.0

_KEYS = "SELECT task_key, MAX(run_at) AS last_at FROM sakuin_runs GROUP BY task_key"
_OLD = (
    "SELECT run_at FROM sakuin_runs"
    " WHERE task_key = ? AND run_at < ? AND run_at < {later} ORDER BY run_at LIMIT ?"
)
_DELETE = "DELETE FROM sakuin_runs WHERE task_key = ? AND run_at <= ?"


def prune_runs(engine: Engine, keep_seconds: float = KEEP_SECONDS) -> int:
    """Delete the records of runs that were due longer ago, and return how many.

    The plan does not rest on them: no run is pushed again. Raises BadMessage for a bad duration.
    """
    check_seconds("keep_seconds", keep_seconds)
    deleted = 0
    for run in read(engine, lambda connection: execute(connection, _KEYS).all()):
        prune = partial(_prune, key=run.task_key, last_at=run.last_at, keep_seconds=keep_seconds)
        count = ROWS_AT_ONCE
        while count == ROWS_AT_ONCE:
            count = replay(engine, prune, committed=lambda _connection, _result: False)
            deleted += count
    return deleted


def _prune(connection: Connection, *, key: str, last_at: object, keep_seconds: float) -> int:
    ago = dialect_of(connection).shift(-keep_seconds)
    old = execute(connection, _OLD, key, last_at, ago, ROWS_AT_ONCE).scalars().all()
    if not old:
        return 0
    return int(execute(connection, _DELETE, key, old[-1]).rowcount)
