"""Puts messages into a queue, in the caller's transaction: they commit with the caller's rows."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import Connection

from sakuin.queue.dialect import MYSQL, Dialect, dialect_of, execute, stored
from sakuin.queue.errors import BadMessage
from sakuin.queue.limit import Limit
from sakuin.queue.limits import (
    check_data,
    check_kind,
    check_moment,
    check_priority,
    check_queue,
    check_seconds,
    check_unique_key,
)
from sakuin.queue.make_room import enter_waiting, make_room

ROWS_A_STATEMENT = 1_000
BYTES_A_STATEMENT = 1024 * 1024
ROW_BYTES = 64
"""What a row of a long INSERT costs besides its data, generously."""

_INSERT = (
    "INSERT INTO sakuin_messages"
    " (queue, priority, locked_until, due_at, expires_at, unique_key, kind, data)"
    " VALUES (?, ?, {later}, {later}, {later}, ?, ?, ?)"
)
_INSERT_LIMITED = (
    "INSERT INTO sakuin_messages"
    " (queue, priority, locked_until, due_at, expires_at, unique_key, kind, data,"
    " limit_key, limit_to, limit_seconds)"
    " VALUES (?, ?, {later}, {later}, {later}, ?, ?, ?, ?, ?, ?)"
)
_WAITING = "SELECT id FROM sakuin_messages WHERE queue = ? AND unique_key = ?"
_STAYS = "SELECT id FROM sakuin_messages {by_id} WHERE id IN ({ids}) AND unique_key = ? {lock}"
"""Locks as a claim does, the row before the entry in the index of keys. An INSERT that met it would
lock them the other way round, and one of the two would be the victim of a deadlock."""
_MERGE_MYSQL = " ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)"
_MERGE_SQLITE = " ON CONFLICT (queue, unique_key) DO NOTHING"


def push(
    connection: Connection,
    queue: str,
    data: bytes,
    *,
    priority: int = 5,
    delay_seconds: float = 0.0,
    at: datetime | None = None,
    unique_key: str | None = None,
    expires_seconds: float | None = None,
    kind: str | None = None,
    limit: Limit | None = None,
) -> int:
    """Add one message and return its id; it exists if and only if the caller commits.

    Priority 0 is the most urgent. It is ready after `delay_seconds`, or at the aware time `at`
    (one that is past means now). With `unique_key` there is at most one message of that key
    waiting in the queue (one that was claimed waits no longer): if there is one, nothing is added
    and its id is returned. After `expires_seconds` an unclaimed message goes to the dead list.
    `kind` says to a worker what to do with it. With `limit` only so many are worked on at once.
    Raises BadMessage before any SQL, and LimitReached if the limit says to discard and is full
    (not where nothing is added anyway, since one of the unique key waits).
    """
    check_data(data)
    dialect = dialect_of(connection)
    wait = _wait(dialect, delay_seconds, at)
    key = check_unique_key(unique_key)
    values = [
        check_queue(queue),
        check_priority(priority),
        wait,
        wait,
        dialect.shift(_check_expiry(expires_seconds)),
        key,
        check_kind(kind),
        data,
    ]
    sql = _INSERT
    if limit is not None:
        sql = _INSERT_LIMITED
        values += [limit.stored_key, limit.to, limit.seconds]
    if at is not None:
        sql = sql.replace("{later}", "{at}", 2)
    check_packet(connection, data)
    if limit is not None and limit.on_conflict == "discard":
        # Before the limit is locked: a claim locks a message first, and then its limit.
        if key is not None and (waiting := _stays(connection, queue, key)):
            return waiting
        make_room(connection, limit)
    message_id = _insert(connection, sql, values, key)
    if limit is not None and limit.on_conflict == "discard":
        enter_waiting(connection, [message_id])
    return message_id


def _insert(connection: Connection, sql: str, values: Sequence[object], key: bytes | None) -> int:
    """Insert one message; return its id, or that of the one which waits under its key."""
    if key is None:
        return int(execute(connection, sql, *values).lastrowid)
    if dialect_of(connection) is MYSQL:
        if waiting := _stays(connection, values[0], key):
            return waiting
        return int(execute(connection, sql + _MERGE_MYSQL, *values).lastrowid)
    added = execute(connection, sql + _MERGE_SQLITE, *values)
    if added.rowcount:
        return int(added.lastrowid)
    return int(execute(connection, _WAITING, values[0], key).scalar_one())


def _stays(connection: Connection, queue: object, key: bytes) -> int | None:
    """Return the message that waits under the key, locked so that it goes on waiting."""
    waiting = execute(connection, _WAITING, queue, key).scalar_one_or_none()
    if waiting and execute(connection, _STAYS, key, ids=[waiting]).all():
        return int(waiting)
    return None


def _wait(dialect: Dialect, delay_seconds: float, at: datetime | None) -> object:
    """Return what `{later}`, or with a time `{at}`, is bound to."""
    delay = check_seconds("delay_seconds", delay_seconds)
    if at is None:
        return dialect.shift(delay)
    if delay:
        raise BadMessage("give delay_seconds or at, not both")
    return stored(check_moment("at", at))


def push_many(
    connection: Connection,
    queue: str,
    datas: Iterable[bytes],
    *,
    priority: int = 5,
    delay_seconds: float = 0.0,
    expires_seconds: float | None = None,
    kind: str | None = None,
) -> int:
    """Add one message for each of `datas`, in order, and return how many.

    They go in long INSERT statements, cut by rows and bytes; options and errors as for `push`.
    Statements before a refused message have run: roll back.
    """
    dialect = dialect_of(connection)
    options: dict[str, object] = {
        "queue": check_queue(queue),
        "priority": check_priority(priority),
        "kind": check_kind(kind),
    }
    later: dict[str, object] = {}
    if delay := check_seconds("delay_seconds", delay_seconds):
        later = {"locked_until": dialect.shift(delay), "due_at": dialect.shift(delay)}
    if expiry := _check_expiry(expires_seconds):
        later["expires_at"] = dialect.shift(expiry)
    name = dialect.named.format
    values = [name(column) for column in options]
    values += [dialect.later.replace("?", name(column)) for column in later]
    options |= later
    insert = f"INSERT INTO sakuin_messages ({', '.join(options)}, data) VALUES "  # noqa: S608 - names
    start = f"({', '.join(values)}, "
    count = 0
    for part in parts_of(connection, datas):
        rows = ", ".join(f"{start}{name(f'd{number}')})" for number in range(len(part)))
        named = {f"d{number}": data for number, data in enumerate(part)}
        connection.exec_driver_sql(insert + rows, {**options, **named})
        count += len(part)
    return count


def parts_of(connection: Connection, datas: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Cut datas into what one INSERT takes, by rows and bytes. Raises BadMessage for a long one."""
    part: list[bytes] = []
    size = 0
    for data in datas:
        cost = 2 * len(check_data(data)) + ROW_BYTES
        if part and (len(part) >= ROWS_A_STATEMENT or size + cost > BYTES_A_STATEMENT):
            yield part
            part, size = [], 0
        check_packet(connection, data)
        part.append(data)
        size += cost
    if part:
        yield part


def _check_expiry(expires_seconds: float | None) -> float | None:
    if expires_seconds is None:
        return None
    return check_seconds("expires_seconds", expires_seconds, positive=True)


def check_packet(connection: Connection, data: bytes) -> None:
    """Refuse by name what the server would cut the connection for (escaping at most doubles)."""
    worst = 2 * len(data) + 1024
    if worst <= 64 * 1024 or dialect_of(connection) is not MYSQL:
        return
    most = connection.info.get("sakuin_packet_bytes")
    if most is None:
        most = int(execute(connection, "SELECT @@max_allowed_packet").scalar_one())
        connection.info["sakuin_packet_bytes"] = most
    if worst > most:
        raise BadMessage(
            f"message of {len(data):,} bytes: too long for the server's max_allowed_packet of "
            f"{most:,} bytes; raise it to {worst:,}"
        )
