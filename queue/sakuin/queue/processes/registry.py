"""Who works on the queue: register, beat, deregister, list. Times are the database's."""

import json
import os
import secrets
import socket
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Engine, Row

from sakuin.queue.dialect import execute, moment
from sakuin.queue.errors import BadMessage
from sakuin.queue.limits import check_seconds
from sakuin.queue.processes.process import Process, check_role
from sakuin.queue.replay import replay
from sakuin.queue.requeue import HOLDER_BYTES, requeue_held_on

DEAD_AFTER_SECONDS = 30.0
MAX_DETAIL_BYTES = 60_000
"""MySQL's TEXT takes 65,535."""

_ENTER = (
    "INSERT INTO sakuin_processes"
    " (id, role, host, pid, supervisor_id, detail, dead_after_seconds)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_BEAT = "UPDATE sakuin_processes SET beat_at = {now}, detail = ? WHERE id = ?"
_LEAVE = "DELETE FROM sakuin_processes WHERE id = ?"
_EVERY = "SELECT p.*, {now} AS seen_at FROM sakuin_processes p ORDER BY started_at, id"
_ONE = "SELECT p.*, {now} AS seen_at FROM sakuin_processes p WHERE id = ?"


def new_id() -> bytes:
    """Return a fresh random id for a process."""
    return secrets.token_bytes(HOLDER_BYTES)


def register(
    engine: Engine,
    role: str,
    supervisor_id: bytes | None = None,
    detail: Mapping[str, object] | None = None,
    dead_after_seconds: float = DEAD_AFTER_SECONDS,
    *,
    process_id: bytes | None = None,
) -> Process:
    """Enter this process, under a fresh random id or the one given, and return it.

    It has to `beat` more often than every `dead_after_seconds`: after that others may requeue
    what it holds. Raises BadMessage, or the queue's errors while the database is away.
    """
    if supervisor_id is not None:
        check_id(supervisor_id)
    own_id = new_id() if process_id is None else check_id(process_id)
    values = (
        own_id,
        check_role(role),
        socket.gethostname()[:255],
        os.getpid(),
        supervisor_id,
        detail_text(detail or {}),
        check_seconds("dead_after_seconds", dead_after_seconds, positive=True),
    )

    def enter(connection: Connection) -> Process:
        execute(connection, _ENTER, *values)
        return _process(execute(connection, _ONE, own_id).one())

    def is_entered(connection: Connection, _process: Process) -> bool:
        return bool(execute(connection, _ONE + " {lock}", own_id).all())

    return replay(engine, enter, committed=is_entered)


def beat(engine: Engine, process_id: bytes, detail: Mapping[str, object]) -> bool:
    """Say that the process lives, and what it does; False if it is registered no more.

    Who was pruned has lost its leases: it registers anew, under a new id, or stops.
    """
    text = detail_text(detail)

    def work(connection: Connection) -> bool:
        return execute(connection, _BEAT, text, check_id(process_id)).rowcount > 0

    # A beat whose COMMIT got lost is sent again: doing it twice changes nothing.
    return replay(engine, work, committed=lambda _connection, _result: False)


def deregister(engine: Engine, process_id: bytes) -> int:
    """Remove the process and make what it still holds ready again; return how many messages.

    The attempts of those stay counted. Safe to repeat, and for several at once.
    """
    check_id(process_id)
    return replay(
        engine,
        lambda connection: deregister_on(connection, process_id),
        committed=lambda _connection, _result: False,
    )


def deregister_on(connection: Connection, process_id: bytes) -> int:
    """As `deregister`, in the caller's transaction: who waits for the row then finds it gone."""
    execute(connection, _LEAVE, process_id)
    return requeue_held_on(connection, process_id)


def processes(connection: Connection) -> tuple[Process, ...]:
    """Return every registered process, the oldest first, dead ones too (`is_dead`)."""
    return tuple(_process(row) for row in execute(connection, _EVERY).all())


def process_of(connection: Connection, process_id: bytes, *, lock: str = "") -> Process | None:
    """Return the process of that id, if it is registered; `lock` is "{lock}" or the like."""
    row = execute(connection, f"{_ONE} {lock}", process_id).one_or_none()
    return _process(row) if row else None


def check_id(process_id: bytes) -> bytes:
    """Return the id, or raise BadMessage."""
    if not isinstance(process_id, bytes) or len(process_id) != HOLDER_BYTES:
        raise BadMessage(f"process id {process_id!r}: it has {HOLDER_BYTES} bytes")
    return process_id


def detail_text(detail: Mapping[str, object]) -> str:
    """Return the JSON that is stored. Raises BadMessage if there is none, or too much."""
    try:
        text = json.dumps(detail, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise BadMessage(f"the detail of a process cannot be written as JSON: {error}") from error
    size = len(text.encode())
    if size > MAX_DETAIL_BYTES:
        raise BadMessage(f"the detail of a process has {size} bytes: use up to {MAX_DETAIL_BYTES}")
    return text


def _process(row: Row[Any]) -> Process:
    beat_at = moment(row.beat_at)
    return Process(
        id=row.id,
        role=row.role,
        host=row.host,
        pid=row.pid,
        supervisor_id=row.supervisor_id,
        detail=_detail(row.detail),
        dead_after_seconds=row.dead_after_seconds,
        started_at=moment(row.started_at),
        beat_at=beat_at,
        age_seconds=max(0.0, (moment(row.seen_at) - beat_at).total_seconds()),
    )


def _detail(text: str | None) -> Mapping[str, object]:
    """Return what a process says of itself; a row that others wrote must not hide all the rest."""
    try:
        detail = json.loads(text or "{}")
    except ValueError:
        detail = None
    return detail if isinstance(detail, dict) else {"unreadable": str(text)[:200]}
