"""Deletes rows that are old enough, in small transactions: a purge must never lock a table up."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, Row

from sakuin.queue.dialect import dialect_of, execute, render
from sakuin.queue.jobs.end_batches import forget_members
from sakuin.queue.limits import check_seconds
from sakuin.queue.replay import read, replay

CHUNK = 500
MOST_AT_ONCE = 10_000
"""How many rows of a table one call deletes: the rest is for the next one."""


@dataclass(frozen=True, slots=True)
class Old:
    """Which rows of a table may go: those whose time in `column` is `age_seconds` ago, or more.

    Rows without a time stay. `key` is the primary key, `only` one more condition; all of them are
    SQL of the program, never words of a user. There should be an index that begins with `column`.
    """

    table: str
    column: str
    age_seconds: float = 0.0
    key: tuple[str, ...] = ("id",)
    only: str = "1 = 1"

    def __post_init__(self) -> None:
        check_seconds("age_seconds", self.age_seconds)

    @property
    def is_old(self) -> str:
        """SQL for the condition."""
        return f"{self.column} <= {{later}} AND {self.only}"

    @property
    def find(self) -> str:
        """SQL for the keys of a chunk of the oldest rows."""
        names = ", ".join(self.key)
        order = f" ORDER BY {self.column}, {names} LIMIT {CHUNK}"
        return f"SELECT {names} FROM {self.table} WHERE {self.is_old}{order}"  # noqa: S608  names of ours


OLD_JOBS = Old("sakuin_jobs", "keep_until", only="status IN ('finished', 'failed')")
OLD_BATCHES = Old("sakuin_batches", "keep_until", only="ended_at IS NOT NULL")

_WITH_MEMBERS = (
    "SELECT id FROM sakuin_batches WHERE keep_until <= {now} AND ended_at IS NOT NULL AND EXISTS"
    " (SELECT 1 FROM sakuin_batch_messages b WHERE b.batch_id = sakuin_batches.id)"
    " ORDER BY keep_until, id LIMIT ?"
)


def prune(engine: Engine, *others: Old) -> int:
    """Delete jobs and batches that were kept long enough, and the `others`; return how many rows.

    What has not ended is never deleted. Every transaction deletes at most CHUNK rows, in the order
    of their keys, so nobody waits long for it; of each table at most MOST_AT_ONCE rows go.
    """
    for batch_id in read(engine, _with_members):
        forget_members(engine, batch_id)  # whoever ended it was stopped before this
    return sum(prune_rows(engine, old) for old in (OLD_JOBS, OLD_BATCHES, *others))


def prune_rows(engine: Engine, old: Old, most: int = MOST_AT_ONCE) -> int:
    """Delete old rows of one table, at most about `most`, and return how many."""
    count = 0
    while count < most:
        rows = read(engine, partial(_find, old=old))
        deleted = replay(engine, partial(_delete, old=old, rows=rows), committed=lambda *_: False)
        count += deleted
        if len(rows) < CHUNK or not deleted:  # another prunes the same, or all of it is gone
            break
    return count


def _with_members(connection: Connection) -> list[int]:
    return list(execute(connection, _WITH_MEMBERS, CHUNK).scalars())


def _find(connection: Connection, old: Old) -> list[Row[Any]]:
    before = dialect_of(connection).shift(-old.age_seconds)
    return sorted(execute(connection, old.find, before).all())


def _delete(connection: Connection, old: Old, rows: list[Row[Any]]) -> int:
    """Delete rows by their keys: they come unlocked, so only those that still may go."""
    if not rows:
        return 0
    dialect = dialect_of(connection)
    before = dialect.shift(-old.age_seconds)
    delete = dialect.delete_from(old.table) + " WHERE "
    if old.key == ("id",):
        by_ids = delete + "id IN ({ids}) AND " + old.is_old
        return execute(connection, by_ids, before, ids=[row.id for row in rows]).rowcount
    is_it = " AND ".join(f"{name} = ?" for name in old.key)
    by_key = render(dialect, f"{delete}{is_it} AND {old.is_old}")
    return connection.exec_driver_sql(by_key, [(*row, before) for row in rows]).rowcount
