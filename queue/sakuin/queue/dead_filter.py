"""Finds dead messages by what is known of them, and retries or discards all that are found.

In bulk they go 500 at a time, in ascending order of their ids, each chunk in a transaction of its
own: nothing is locked for long, and who stops in between has done a beginning.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row

from sakuin.queue.dead import MOST_LISTED, discard_dead, retry_dead
from sakuin.queue.dialect import IDS_A_STATEMENT, cut, dialect_of, execute, moment_or_epoch, stored
from sakuin.queue.errors import BadMessage
from sakuin.queue.limits import check_seconds
from sakuin.queue.peek import MOST_BYTES, as_bytes, as_text
from sakuin.queue.queue_names import check_patterns
from sakuin.queue.queue_stats import MOST_COUNTED
from sakuin.queue.replay import read

_BY_QUEUE = {
    "mysql": "FORCE INDEX (sakuin_dead_queue)",
    "sqlite": "INDEXED BY sakuin_dead_queue",
}
_BY_MESSAGE = {
    "mysql": "FORCE INDEX (sakuin_dead_message)",
    "sqlite": "INDEXED BY sakuin_dead_message",
}
_BY_ID = {"mysql": "FORCE INDEX (PRIMARY)", "sqlite": "NOT INDEXED"}
_LENGTH = {"mysql": "LENGTH(data)", "sqlite": "LENGTH(CAST(data AS BLOB))"}

_COLUMNS = (
    "id, message_id, queue, kind, priority, attempts, errors, reason, traceback, created_at,"
    " dead_at, COALESCE(SUBSTR({raw_data}, 1, ?), '') AS data, {length} AS bytes"
)
_HIGHEST = "SELECT MAX(id) FROM sakuin_dead"


@dataclass(frozen=True, slots=True)
class DeadFilter:
    """What dead messages are meant: those for which all that is given holds; nothing given: all.

    `queue` is a name, or a beginning and `*`. `reason` is text that the reason holds, whatever the
    case of its letters. `dead_before` and `dead_after` are aware times, or ages by the database's
    clock: `dead_before=timedelta(hours=2)` means more than two hours ago. `ids` are of the dead
    list, `message_id` is what the push returned. Raises BadMessage for what cannot be asked.
    """

    queue: str | None = None
    kind: str | None = None
    reason: str | None = None
    dead_before: datetime | timedelta | None = None
    dead_after: datetime | timedelta | None = None
    message_id: int | None = None
    ids: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.queue is not None:
            check_patterns([self.queue])
        for name in ("dead_before", "dead_after"):
            time = getattr(self, name)
            if isinstance(time, timedelta):
                check_seconds(name, time.total_seconds())
            elif time is not None and time.tzinfo is None:
                raise BadMessage(f"{name}={time}: it has no time zone; give it one")


@dataclass(frozen=True, slots=True)
class FoundDead:
    """An entry of the dead list, with the beginning of its data, of `bytes` in all.

    `id` numbers the dead list itself; `message_id` is the id that the push returned.
    """

    id: int
    message_id: int
    queue: str
    kind: str | None
    priority: int
    attempts: int
    errors: int
    reason: str
    traceback: str | None
    created_at: datetime
    dead_at: datetime
    data: bytes
    bytes: int

    @property
    def text(self) -> str | None:
        """The data as text, or None if it is not UTF-8."""
        return as_text(self.data, is_cut=len(self.data) < self.bytes)


def find_dead(
    connection: Connection,
    wanted: DeadFilter,
    *,
    limit: int = 100,
    before_id: int | None = None,
    most_bytes: int = MOST_BYTES,
) -> tuple[FoundDead, ...]:
    """Return the dead messages that are meant, newest first; for the next page give `before_id`."""
    if not 1 <= limit <= MOST_LISTED:
        raise BadMessage(f"limit={limit}: list 1 to {MOST_LISTED:,} dead messages at a time")
    ids: list[int] = []
    for some in _parts(wanted.ids, is_back=True):
        more = {} if before_id is None else {"id < ?": before_id}
        left = limit - len(ids)
        ids += _ids(connection, wanted, some, more, "ORDER BY id DESC LIMIT ?", left)
        if len(ids) == limit:
            break
    columns = _COLUMNS.replace("{length}", _LENGTH[dialect_of(connection).name])
    sql = f"SELECT {columns} FROM sakuin_dead {{by_id}} WHERE id IN ({{ids}}) ORDER BY id DESC"  # noqa: S608  our names
    return tuple(
        _found(row, most_bytes)
        for part in cut(ids)
        for row in execute(connection, sql, most_bytes, ids=part)
    )


def count_dead(connection: Connection, wanted: DeadFilter, most: int = MOST_COUNTED) -> int:
    """Return how many dead messages are meant, but count no further than `most`."""
    count = 0
    for some in _parts(wanted.ids):
        count += len(_ids(connection, wanted, some, {}, "LIMIT ?", most - count))
        if count >= most:
            break
    return count


def retry_found(engine: Engine, wanted: DeadFilter) -> Iterator[int]:
    """Push all that are meant again (as `retry_dead`), and yield how many each chunk did.

    Whoever stops iterating stops the work, between two chunks. What dies meanwhile is not meant,
    and what another one retries or discards at the same time is not done twice.
    """
    return _in_chunks(engine, wanted, retry_dead)


def discard_found(engine: Engine, wanted: DeadFilter) -> Iterator[int]:
    """Delete all that are meant for good, and yield how many each chunk did; as `retry_found`."""
    return _in_chunks(engine, wanted, discard_dead)


def _in_chunks(
    engine: Engine, wanted: DeadFilter, work: Callable[[Engine, Sequence[int]], int]
) -> Iterator[int]:
    highest = read(engine, lambda connection: execute(connection, _HIGHEST).scalar_one()) or 0
    for some in _parts(wanted.ids):
        last = 0
        while ids := read(engine, lambda c: _next(c, wanted, some, last, highest)):  # noqa: B023  run at once
            yield work(engine, ids)
            last = ids[-1]


def _next(
    connection: Connection, wanted: DeadFilter, some: Sequence[int] | None, last: int, highest: int
) -> list[int]:
    between = {"id > ?": last, "id <= ?": highest}
    return _ids(connection, wanted, some, between, "ORDER BY id LIMIT ?", IDS_A_STATEMENT)


def _parts(ids: tuple[int, ...] | None, *, is_back: bool = False) -> Iterator[Sequence[int] | None]:
    """Yield the ids in order, few enough for a statement; or None once, which means any."""
    if ids is None:
        yield None
    else:
        yield from cut(sorted(set(ids), reverse=is_back))


def _ids(
    connection: Connection,
    wanted: DeadFilter,
    some: Sequence[int] | None,
    more: dict[str, int],
    end: str,
    limit: int,
) -> list[int]:
    name = dialect_of(connection).name
    conditions, values = _conditions(connection, wanted)
    conditions += more
    if some is not None:
        conditions.append("id IN ({ids})")
    index = _BY_ID
    if some is None and wanted.message_id is not None:
        index = _BY_MESSAGE
    elif some is None and wanted.queue and not wanted.queue.endswith("*"):
        index = _BY_QUEUE
    where = "WHERE " + " AND ".join(conditions) if conditions else ""
    sql = f"SELECT id FROM sakuin_dead {index[name]} {where} {end}"  # noqa: S608  our names
    return list(execute(connection, sql, *values, *more.values(), limit, ids=some).scalars())


def _conditions(connection: Connection, wanted: DeadFilter) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []

    def demand(condition: str, *given: object) -> None:
        conditions.append(condition)
        values.extend(given)

    if wanted.queue is not None and wanted.queue.endswith("*"):
        start = wanted.queue[:-1]
        demand("queue >= ? AND queue <= ?", start, start + "\U0010ffff")
    elif wanted.queue is not None:
        demand("queue = ?", wanted.queue)
    if wanted.kind is not None:
        demand("kind = ?", wanted.kind)
    if wanted.message_id is not None:
        demand("message_id = ?", wanted.message_id)
    if wanted.reason is not None:
        demand("INSTR(LOWER(reason), LOWER(?)) > 0", wanted.reason)
    for time, than in ((wanted.dead_before, "<"), (wanted.dead_after, ">")):
        if isinstance(time, timedelta):
            shift = dialect_of(connection).shift(-time.total_seconds())
            demand(f"dead_at {than} {{later}}", shift)
        elif time is not None:
            demand(f"dead_at {than} ?", stored(time))
    return conditions, values


def _found(row: Row[Any], most_bytes: int) -> FoundDead:
    times = {name: moment_or_epoch(getattr(row, name)) for name in ("created_at", "dead_at")}
    return FoundDead(**{**row._asdict(), **times, "data": as_bytes(row.data)[:most_bytes]})
