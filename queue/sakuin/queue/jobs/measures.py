"""What happened to each kind of job, minute by minute: how many, how long, how many failed.

Workers count in memory and write every few seconds, and when they end: a worker that is killed
takes the last few seconds of its counts along. What happened is told in the minute in which it
is written, by the database's clock.
"""

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row
from sqlalchemy.exc import SQLAlchemyError

from sakuin.queue.dialect import execute, moment, stored
from sakuin.queue.errors import QueueError
from sakuin.queue.limits import check_kind, check_seconds
from sakuin.queue.replay import replay

_LOG = logging.getLogger("sakuin.jobs")
KEEP_MEASURES_SECONDS = 30 * 86400.0
"""How long the history is, unless whoever prunes says otherwise: table, column `at`, this age."""

_NOW = "SELECT {now}"
_ADD = (
    "INSERT INTO sakuin_measures"
    " (kind, at, runs, failed, seconds, longest_seconds, waited_seconds)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
    " {on_duplicate} runs = runs + ?, failed = failed + ?, seconds = seconds + ?,"
    " longest_seconds = CASE WHEN longest_seconds < ? THEN ? ELSE longest_seconds END,"
    " waited_seconds = waited_seconds + ?"
)
_TOTALS = (
    "SELECT MIN(kind) AS kind, SUM(runs) AS runs, SUM(failed) AS failed, SUM(seconds) AS seconds,"
    " MAX(longest_seconds) AS longest_seconds, SUM(waited_seconds) AS waited_seconds, {}"
    " FROM sakuin_measures WHERE at >= ?"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """What happened to the jobs of one kind in some time: `of_seconds`, from `at` on.

    `failed` of the `runs` raised, took too long, crashed, or could not be read. `seconds` is the
    time that all handlers took, `waited_seconds` the time that the messages were ready before.
    """

    kind: str
    at: datetime
    of_seconds: float
    runs: int
    failed: int
    seconds: float
    longest_seconds: float
    waited_seconds: float

    @property
    def failure_rate(self) -> float:
        """The share of the runs that failed, 0 to 1."""
        return self.failed / self.runs if self.runs else 0.0

    @property
    def mean_seconds(self) -> float:
        """How long a handler took."""
        return self.seconds / self.runs if self.runs else 0.0

    @property
    def mean_waited_seconds(self) -> float:
        """How long a message waited."""
        return self.waited_seconds / self.runs if self.runs else 0.0

    @property
    def runs_a_second(self) -> float:
        """The throughput."""
        return self.runs / self.of_seconds


@dataclass(slots=True)
class _Count:
    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    waited: float = 0.0


class MeasureBuffer:
    """Counts of one worker that are not written yet. Any thread may use it."""

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}
        self._turn = threading.Lock()

    def add(self, kind: str, seconds: float, waited_seconds: float, *, is_failed: bool) -> None:
        """Count one run."""
        with self._turn:
            count = self._counts.setdefault(kind, _Count())
            count.runs += 1
            count.failed += is_failed
            count.seconds += seconds
            count.longest = max(count.longest, seconds)
            count.waited += max(0.0, waited_seconds)

    def flush(self, engine: Engine) -> None:
        """Write what was counted; if the database will not have it now, keep it for the next time.

        After a COMMIT whose outcome is unknown it counts as written: a count may be lost, but
        none is told twice.
        """
        with self._turn:
            counts, self._counts = self._counts, {}
        if not counts:
            return
        try:
            replay(engine, lambda on: add_measures_on(on, counts), committed=lambda *_: True)
        except (QueueError, SQLAlchemyError) as error:
            _LOG.debug("measures are put off: %s", error)
            self._put_back(counts)

    def _put_back(self, counts: Mapping[str, _Count]) -> None:
        with self._turn:
            for kind, old in counts.items():
                count = self._counts.setdefault(kind, _Count())
                count.runs += old.runs
                count.failed += old.failed
                count.seconds += old.seconds
                count.longest = max(count.longest, old.longest)
                count.waited += old.waited


def add_measures_on(connection: Connection, counts: Mapping[str, _Count]) -> None:
    """Add counts to this minute, in the caller's transaction."""
    now = moment(execute(connection, _NOW).scalar_one())
    minute = stored(now.replace(second=0, microsecond=0))
    for kind, one in sorted(counts.items()):
        sums = (one.runs, one.failed, one.seconds)
        more = (*sums, one.longest, one.longest, one.waited)
        execute(connection, _ADD, kind, minute, *sums, one.longest, one.waited, *more)


def measures(
    connection: Connection, kind: str | None = None, *, since_seconds: float = 3600.0
) -> tuple[Measure, ...]:
    """Return what happened since then, one measure for each kind that ran, by name.

    The time begins with a minute: it is up to a minute longer than asked for.
    """
    rows, start, now = _rows(connection, kind, since_seconds, "MIN(at) AS at", " GROUP BY kind")
    length = (now - start).total_seconds()
    return tuple(_measure(row, start, length) for row in rows)


def measures_by_minute(
    connection: Connection, kind: str | None = None, *, since_seconds: float = 3600.0
) -> tuple[Measure, ...]:
    """Return what happened since then, one measure a minute, oldest first, of one kind or all.

    Minutes in which nothing ran are left out. Of all kinds together, `kind` is "".
    """
    rows, _, _ = _rows(connection, kind, since_seconds, "at", " GROUP BY at")
    return tuple(_measure(row, moment(row.at), 60.0, kind or "") for row in rows)


def _rows(
    connection: Connection, kind: str | None, since_seconds: float, at: str, group: str
) -> tuple[list[Row[Any]], datetime, datetime]:
    check_seconds("since_seconds", since_seconds, positive=True)
    now = moment(execute(connection, _NOW).scalar_one())
    start = (now - timedelta(seconds=since_seconds)).replace(second=0, microsecond=0)
    sql, values = _TOTALS.format(at), [stored(start)]
    if check_kind(kind) is not None:
        sql += " AND kind = ?"
        values.append(str(kind))
    order = group.replace("GROUP", "ORDER")
    return list(execute(connection, sql + group + order, *values).all()), start, now


def _measure(row: Row[Any], at: datetime, of_seconds: float, kind: str | None = None) -> Measure:
    return Measure(
        kind=row.kind if kind is None else kind,
        at=at,
        of_seconds=of_seconds,
        runs=int(row.runs),
        failed=int(row.failed),
        seconds=float(row.seconds),
        longest_seconds=float(row.longest_seconds),
        waited_seconds=float(row.waited_seconds),
    )
