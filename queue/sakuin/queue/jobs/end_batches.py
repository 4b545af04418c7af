"""Finds batches whose messages are all settled, and ends each of them once.

A message is settled when it is in the queue no more. Members that are seen settled are deleted
as they go, so that a look reads only what may be left; those on the dead list are kept and marked
until the end, because they may be pushed again before it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.jobs.batch_members import count_seen, mark_dead, unmark_dead
from sakuin.queue.jobs.tell import tell_on
from sakuin.queue.push import push
from sakuin.queue.replay import read, replay

CHUNK = 500
CHUNKS_A_LOOK = 10
"""How much of one batch is looked at before the other batches get their turn."""

_SEALED = (
    "SELECT id FROM sakuin_batches WHERE ended_at IS NULL AND sealed_at IS NOT NULL ORDER BY id"
)
_MEMBERS = (
    "SELECT b.message_id, m.id AS live_id,"
    " m.id IS NULL AND EXISTS"
    " (SELECT 1 FROM sakuin_dead d WHERE d.message_id = b.message_id) AS is_dead"
    " FROM sakuin_batch_messages b LEFT JOIN sakuin_messages m ON m.id = b.message_id"
    " WHERE b.batch_id = ? AND b.is_dead = 0 ORDER BY b.message_id LIMIT ?"
)
_OPEN = " FROM sakuin_batches WHERE id = ? AND ended_at IS NULL AND sealed_at IS NOT NULL"
_LOCK = "SELECT 1" + _OPEN + " {skip_locked}"
_LOCK_ROW = (
    "SELECT id, description, messages, failed, callback_queue, callback_kind, callback_data,"
    " callback_priority, notify, keep_seconds" + _OPEN + " {skip_locked}"
)
_FORGET = " WHERE batch_id = ? AND message_id IN ({ids})"
_LEFT = "SELECT 1 FROM sakuin_batch_messages WHERE batch_id = ? AND is_dead = 0 LIMIT 1"
_PUSHED_AGAIN = (
    "SELECT b.message_id FROM sakuin_batch_messages b"
    " JOIN sakuin_messages m ON m.id = b.message_id"
    " WHERE b.batch_id = ? AND b.is_dead = 1 ORDER BY b.message_id LIMIT ?"
)
_END = (
    "UPDATE sakuin_batches SET ended_at = {now}, keep_until = {later}"
    " WHERE id = ? AND ended_at IS NULL"
)
_HAS_ENDED = "SELECT 1 FROM sakuin_batches WHERE id = ? AND ended_at IS NOT NULL {lock}"
_REST = "SELECT message_id FROM sakuin_batch_messages WHERE batch_id = ? LIMIT ?"


@dataclass(frozen=True, slots=True)
class _Look:
    """What a chunk of members is: settled, dead, or still in the queue."""

    settled: Sequence[int]
    dead: Sequence[int]
    live: int

    @property
    def is_empty(self) -> bool:
        return not (self.settled or self.dead or self.live)


def end_batches(engine: Engine) -> int:
    """End the sealed batches that have no message left in the queue; return how many ended.

    For a dispatcher, every second or so; any number of them may do it at once. Every transaction
    is short.
    """
    sealed = read(engine, lambda connection: execute(connection, _SEALED).scalars().all())
    return sum(_look_at(engine, batch_id) for batch_id in sealed)


def end_batch_on(connection: Connection, batch_id: int) -> bool:
    """End a sealed batch if no message of it is left, in the caller's transaction.

    Who is not first finds it ended, or locked, and does nothing.
    """
    row = execute(connection, _LOCK_ROW, batch_id).one_or_none()
    if row is None or execute(connection, _LEFT, batch_id).all():
        return False
    again = execute(connection, _PUSHED_AGAIN, batch_id, CHUNK).scalars().all()
    if again:
        unmark_dead(connection, batch_id, again)  # by plain SQL: `wait_again_on` does it at once
        return False
    execute(connection, _END, dialect_of(connection).shift(row.keep_seconds), batch_id)
    if row.callback_queue is not None:
        push(
            connection,
            row.callback_queue,
            row.callback_data,
            kind=row.callback_kind,
            priority=row.callback_priority,
        )
    name = f"Batch {row.id}" + (f" ({row.description})" if row.description else "")
    text = f"{name} has ended: {row.messages} messages, {row.failed} of them failed."
    facts = {"batch": row.id, "messages": row.messages, "failed": row.failed}
    tell_on(connection, row.notify, f"{name} has ended", text, facts)
    return True


def _look_at(engine: Engine, batch_id: int) -> bool:
    for _ in range(CHUNKS_A_LOOK):
        look = read(engine, partial(_look, batch_id=batch_id))
        if look.is_empty:
            break
        if not look.settled and not look.dead:
            return False
        if not replay(engine, partial(_note, batch_id=batch_id, look=look), committed=_no):
            return False
    else:
        return False
    has_ended = replay(
        engine,
        lambda connection: end_batch_on(connection, batch_id),
        committed=lambda connection, _: bool(execute(connection, _HAS_ENDED, batch_id).all()),
    )
    if has_ended:
        forget_members(engine, batch_id)
    return has_ended


def _look(connection: Connection, batch_id: int) -> _Look:
    rows = execute(connection, _MEMBERS, batch_id, CHUNK).all()
    gone = [row for row in rows if row.live_id is None]
    return _Look(
        settled=[row.message_id for row in gone if not row.is_dead],
        dead=[row.message_id for row in gone if row.is_dead],
        live=len(rows) - len(gone),
    )


def _note(connection: Connection, batch_id: int, look: _Look) -> bool:
    """Delete or mark what was seen; what another noted meanwhile is counted by him alone."""
    if not execute(connection, _LOCK, batch_id).all():
        return False
    settled = dead = 0
    if look.settled:
        settled = _forget(connection, batch_id, look.settled)
    if look.dead:
        dead = mark_dead(connection, batch_id, look.dead)
    count_seen(connection, batch_id, settled + dead, dead)
    return True


def forget_members(engine: Engine, batch_id: int) -> None:
    """Delete what is left of the members of a batch that has ended, in short transactions."""

    def forget(connection: Connection) -> int:
        ids = execute(connection, _REST, batch_id, CHUNK).scalars().all()
        return _forget(connection, batch_id, ids) if ids else 0

    while replay(engine, forget, committed=_no):
        pass


def _forget(connection: Connection, batch_id: int, ids: Sequence[int]) -> int:
    """Delete members. By any other way the server would wait for those of strangers."""
    delete = dialect_of(connection).delete_from("sakuin_batch_messages")
    return execute(connection, delete + _FORGET, batch_id, ids=ids).rowcount


_no: Callable[[Connection, object], bool] = lambda *_: False  # noqa: E731  a value that is given twice
"""After a lost COMMIT: do it again, it does no harm."""
