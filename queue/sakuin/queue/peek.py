"""Looks at messages without claiming them: takes no lock, changes nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row

from sakuin.queue.dialect import dialect_of, execute, moment_or_epoch, stored
from sakuin.queue.errors import BadMessage
from sakuin.queue.limits import check_queue

MOST_PEEKED = 1_000
MOST_BYTES = 1_000
"""How much of a message's data is read, unless told."""

PeekState = Literal["ready", "leased", "scheduled", "blocked"]
PEEK_STATES: tuple[PeekState, ...] = ("ready", "leased", "scheduled", "blocked")

MOST_LOOKED = 10_000
"""Leased and scheduled messages lie among each other; so many of both are looked at."""

_LATER = "locked_until > {now} AND locked_until < '9999-01-01'"
_STATES: dict[PeekState, tuple[str, str]] = {
    "ready": ("locked_until <= {now}", "1 = 1"),
    "leased": (_LATER, "token IS NOT NULL"),
    "scheduled": (_LATER, "token IS NULL"),
    "blocked": ("locked_until >= '9999-01-01'", "1 = 1"),
}
_LENGTH = {"mysql": "LENGTH(data)", "sqlite": "LENGTH(CAST(data AS BLOB))"}
_LEVEL = (
    "SELECT {most}(priority) FROM sakuin_messages {by_claim_key}"
    " WHERE queue = ? AND priority {beyond} ?"
)
_ROWS = (
    "SELECT id, priority, kind, attempts, errors, unique_key, held_key, limit_key, created_at,"
    " due_at, locked_until, expires_at, COALESCE(SUBSTR({raw_data}, 1, ?), '') AS data,"
    " {length} AS bytes"
    " FROM (SELECT id AS found FROM sakuin_messages {by_claim_key}"
    " WHERE queue = ? AND priority = ? AND {range}{from}"
    " ORDER BY locked_until {order}, id {order} LIMIT ?) AS some"
    " JOIN sakuin_messages ON id = found WHERE {which}"
    " ORDER BY locked_until {order}, id {order} LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class PeekPlace:
    """Where a message stands in its queue; a page of messages begins or ends there."""

    priority: int
    locked_until: datetime
    id: int


@dataclass(frozen=True, slots=True)
class PeekedMessage:
    """A message as it stands in its queue, and the beginning of its data.

    `data` holds at most as much as was asked for, of `bytes` in all. `locked_until` is when a
    scheduled message is due, or when a lease ends; `due_at` keeps the original time.
    """

    id: int
    queue: str
    priority: int
    kind: str | None
    state: PeekState
    attempts: int
    errors: int
    unique_key: bytes | None
    limit_key: bytes | None
    created_at: datetime
    due_at: datetime
    locked_until: datetime
    expires_at: datetime | None
    data: bytes
    bytes: int

    @property
    def place(self) -> PeekPlace:
        """Where the message stands: for the next page give it as `after`."""
        return PeekPlace(self.priority, self.locked_until, self.id)

    @property
    def text(self) -> str | None:
        """The data as text, or None if it is not UTF-8; a character cut in two is left out."""
        return as_text(self.data, is_cut=len(self.data) < self.bytes)


def as_text(data: bytes, *, is_cut: bool) -> str | None:
    """Return data as text, or None if it is not UTF-8. The end of what is cut may be half a one."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if is_cut and error.reason == "unexpected end of data":
            return data[: error.start].decode("utf-8")
        return None


def as_bytes(value: bytes | str) -> bytes:
    """Return stored data: SQLite gives back text where somebody wrote text."""
    return value.encode() if isinstance(value, str) else value


def peek(
    connection: Connection,
    queue: str,
    *,
    limit: int = 10,
    state: PeekState = "ready",
    after: PeekPlace | None = None,
    before: PeekPlace | None = None,
    most_bytes: int = MOST_BYTES,
) -> tuple[PeekedMessage, ...]:
    """Return messages of the queue in one state, in the order in which they would be claimed.

    That is most urgent first, then by the time when they were, or will be, ready. The first
    `limit` of them, or those next `after` a place, or those just `before` one. They are as they
    were a moment ago: others claim meanwhile. Leased and scheduled ones are found among the next
    MOST_LOOKED of both in a priority. Raises BadMessage for what cannot be asked.
    """
    check_queue(queue)
    if not 1 <= limit <= MOST_PEEKED:
        raise BadMessage(f"limit={limit}: peek at 1 to {MOST_PEEKED:,} messages at a time")
    if after and before:
        raise BadMessage("peek after one place, or before one, not both")
    if state not in _STATES:
        raise BadMessage(f"state={state!r}: use {', '.join(PEEK_STATES)}")
    rows: list[Row[Any]] = []
    place = before or after
    is_back = before is not None
    for priority in _levels(connection, queue, place, is_back=is_back):
        starts = _starts(place if place and place.priority == priority else None, is_back=is_back)
        for start, values in starts:
            if left := limit - len(rows):
                sql = _sql(connection, state, start, is_back=is_back)
                looked = left if state in ("ready", "blocked") else MOST_LOOKED
                of = (most_bytes, queue, priority, *values, looked, left)
                rows += execute(connection, sql, *of)
        if len(rows) >= limit:
            break
    if is_back:
        rows.reverse()
    return tuple(_peeked(row, queue, state, most_bytes) for row in rows)


def _levels(
    connection: Connection, queue: str, place: PeekPlace | None, *, is_back: bool
) -> Iterator[int]:
    """Yield the priorities that the queue holds, from the place on: one look a level."""
    most, beyond = ("MAX", "<=") if is_back else ("MIN", ">=")
    sql = _LEVEL.replace("{most}", most).replace("{beyond}", beyond)
    level: int | None = place.priority if place else 0
    while (level := execute(connection, sql, queue, level).scalar_one()) is not None:
        yield level
        level += -1 if is_back else 1


def _starts(place: PeekPlace | None, *, is_back: bool) -> Sequence[tuple[str, tuple[object, ...]]]:
    """Return conditions that continue from the place: two, since either is a range of the index."""
    if place is None:
        return [("", ())]
    than = "<" if is_back else ">"
    at = stored(place.locked_until)
    return [
        (f" AND locked_until = ? AND id {than} ?", (at, place.id)),
        (f" AND locked_until {than} ?", (at,)),
    ]


def _sql(connection: Connection, state: PeekState, start: str, *, is_back: bool) -> str:
    among, which = _STATES[state]
    sql = _ROWS.replace("{range}", among).replace("{which}", which).replace("{from}", start)
    sql = sql.replace("{order}", "DESC" if is_back else "ASC")
    return sql.replace("{length}", _LENGTH[dialect_of(connection).name])


def _peeked(row: Row[Any], queue: str, state: PeekState, most_bytes: int) -> PeekedMessage:
    key = row.unique_key if row.unique_key is not None else row.held_key
    expires = row.expires_at
    return PeekedMessage(
        id=row.id,
        queue=queue,
        priority=row.priority,
        kind=row.kind,
        state=state,
        attempts=row.attempts,
        errors=row.errors,
        unique_key=None if key is None else as_bytes(key),
        limit_key=None if row.limit_key is None else as_bytes(row.limit_key),
        created_at=moment_or_epoch(row.created_at),
        due_at=moment_or_epoch(row.due_at),
        locked_until=moment_or_epoch(row.locked_until),
        expires_at=None if expires is None else moment_or_epoch(expires),
        data=as_bytes(row.data)[:most_bytes],
        bytes=row.bytes,
    )
