"""Reads what is ready in a queue, in order and locked: the first half of a claim."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from sakuin.queue.dialect import dialect_of, execute, moment, moment_or_epoch
from sakuin.queue.limits import MAX_SECONDS

HEAD = (
    "SELECT priority, locked_until AS start, {later} AS until,"
    " CASE WHEN locked_until <= {now} THEN 1 ELSE 0 END AS is_ready"
    " FROM sakuin_messages {by_claim_key} WHERE queue = ? AND priority >= ?"
    " AND NOT EXISTS (SELECT 1 FROM sakuin_pauses WHERE queue = ?)"
    " ORDER BY priority, locked_until, id LIMIT 1"
)
"""Where the next priority level begins. Settled messages leave entries in the index until the
server purges them; this read steps over them 20 times faster than the locking one could."""

_SELECT = (
    "SELECT id, {raw_data}, {packed}, COALESCE(unique_key, held_key), limit_key"
    " FROM sakuin_messages {by_claim_key}"
    " WHERE queue = ? AND priority = ? AND locked_until >= ? AND locked_until <= {now}"
    " ORDER BY locked_until, id LIMIT ? {skip_locked}"
)
_HAS_JOB = "EXISTS (SELECT 1 FROM sakuin_jobs j WHERE j.message_id = sakuin_messages.id {lock})"
"""Locked, so that it sees what is committed now, as the locking read around it does. By an older
view the job of a message that was pushed this very moment would be overlooked."""

_PACKED_MYSQL = (
    "CONCAT_WS('|', attempts, errors, COALESCE(expires_at <= {now}, 0), limit_to,"
    f" COALESCE(limit_seconds, 0), {_HAS_JOB}, locked_until, created_at, COALESCE(kind, ''))"
)
_PACKED_SQLITE = (
    "CAST(attempts AS INTEGER) || '|' || CAST(errors AS INTEGER) || '|'"
    " || COALESCE(expires_at <= {now}, 0) || '|' || CAST(limit_to AS INTEGER) || '|'"
    f" || CAST(COALESCE(limit_seconds, 0) AS REAL) || '|' || {_HAS_JOB} || '|'"
    " || locked_until || '|' || created_at || '|' || COALESCE(kind, '')"
)
READY = {
    "mysql": _SELECT.replace("{packed}", _PACKED_MYSQL),
    "sqlite": _SELECT.replace("{packed}", f"CAST({_PACKED_SQLITE} AS BLOB)")
    .replace("COALESCE(unique_key, held_key)", "CAST(COALESCE(unique_key, held_key) AS BLOB)")
    .replace(", limit_key", ", CAST(limit_key AS BLOB)"),
}
"""What can be comes as one text, its parts parted by bars: a driver that is written in Python
takes as long for every column as the server for the whole row. SQLite gives everything as bytes:
it keeps any text that anybody wrote, and reading what is not UTF-8 as text fails."""


@dataclass(slots=True)
class Ready:
    """A ready message, locked in the transaction that read it. Counts are those before a claim."""

    id: int
    priority: int
    data: bytes
    attempts: int
    errors: int
    is_expired: bool
    created_at: datetime
    ready_at: datetime
    kind: str | None
    unique_key: bytes | None
    limit_key: bytes | None
    limit_to: int
    limit_seconds: float
    has_job: bool


def read_ready(
    connection: Connection, queue: str, most: int, lease_seconds: float
) -> tuple[list[Ready], datetime]:
    """Return up to `most` ready messages, and when a lease of them would end.

    One query a priority level keeps to the index; over several levels the server would sort.
    """
    dialect = dialect_of(connection)
    lease = dialect.shift(lease_seconds)
    found: list[Ready] = []
    until = datetime.fromtimestamp(0, UTC)
    least = 0
    while len(found) < most:
        head = execute(connection, HEAD, lease, queue, least, queue).one_or_none()
        if head is None:
            break
        least = head.priority + 1
        if head.is_ready:
            until = moment(head.until) if not found else until
            level = (queue, head.priority, head.start, most - len(found))
            rows: Iterable[Any] = execute(connection, READY[dialect.name], *level)
            found += [_ready(head.priority, *row) for row in rows]
    return found, until


def _ready(
    priority: int,
    message_id: int,
    data: bytes,
    packed: bytes | str,
    unique_key: bytes | None,
    limit_key: bytes | None,
) -> Ready:
    if isinstance(packed, bytes):
        packed = packed.decode("utf-8", "backslashreplace")
    attempts, errors, is_expired, limit_to, seconds, has_job, since, made, kind = packed.split(
        "|", 8
    )
    return Ready(
        message_id,
        priority,
        data,
        int(attempts),
        int(errors),
        is_expired == "1",
        moment_or_epoch(made),
        moment_or_epoch(since),
        kind or None,
        unique_key,
        limit_key,
        max(1, int(limit_to)),
        min(max(float(seconds), 0.0), MAX_SECONDS),  # anybody may write anything by SQL
        has_job == "1",
    )
