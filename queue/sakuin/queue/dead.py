"""The dead list: what was given up, to be read, retried or discarded."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Engine, Row
from sqlalchemy.exc import IntegrityError

from sakuin.queue.dialect import cut, execute, moment_or_epoch
from sakuin.queue.errors import BadMessage
from sakuin.queue.make_room import enter_waiting
from sakuin.queue.message import DeadMessage
from sakuin.queue.replay import TRIES, replay
from sakuin.queue.tell_jobs import tell_merged, tell_waiting

MOST_LISTED = 1_000

_COLUMNS = (
    "SELECT id, message_id, queue, priority, attempts, {raw_data} AS data, reason, traceback,"
    " created_at, dead_at, kind, errors FROM sakuin_dead"
)
_RETRY = (
    "INSERT INTO sakuin_messages (id, queue, priority, created_at, kind, unique_key, limit_key,"
    " limit_to, limit_seconds, data)"
    " SELECT CASE WHEN m.id IS NULL THEN d.message_id END, d.queue, d.priority, d.created_at,"
    " d.kind, d.unique_key, d.limit_key, d.limit_to, d.limit_seconds, d.data"
    " FROM sakuin_dead d LEFT JOIN sakuin_messages m ON m.id = d.message_id"
    " WHERE d.id IN ({ids}) AND NOT EXISTS (SELECT 1 FROM sakuin_messages n"
    " WHERE n.queue = d.queue AND n.unique_key = d.unique_key)"
    " ORDER BY d.id"
)
_DISCARD = "DELETE FROM sakuin_dead WHERE id IN ({ids})"
_LOCK = (
    "SELECT id, message_id, queue, unique_key, limit_key FROM sakuin_dead WHERE id IN ({ids})"
    " ORDER BY id {lock}"
)
_THERE = "SELECT id FROM sakuin_messages {by_id} WHERE id IN ({ids})"
_NEWER = "SELECT id FROM sakuin_messages WHERE queue = ? AND unique_key = ?"


def dead_messages(
    connection: Connection,
    queue: str | None = None,
    *,
    message_id: int | None = None,
    limit: int = 100,
    before_id: int | None = None,
) -> tuple[DeadMessage, ...]:
    """Return dead messages, newest first: of one queue, or of one message, or all.

    For the next page give the last `id` as `before_id`. One message can have several entries,
    because parts of it may have died one by one (`bury_part`).
    """
    if not 1 <= limit <= MOST_LISTED:
        raise BadMessage(f"limit={limit}: list 1 to {MOST_LISTED:,} dead messages at a time")
    wanted = {"queue = ?": queue, "message_id = ?": message_id, "id < ?": before_id}
    given = {condition: value for condition, value in wanted.items() if value is not None}
    where = " WHERE " + " AND ".join(given) if given else ""
    sql = f"{_COLUMNS}{where} ORDER BY id DESC LIMIT ?"
    return tuple(
        DeadMessage(
            **{
                **row._asdict(),
                "created_at": moment_or_epoch(row.created_at),
                "dead_at": moment_or_epoch(row.dead_at),
            }
        )
        for row in execute(connection, sql, *given.values(), limit)
    )


def retry_dead(engine: Engine, dead_ids: Iterable[int]) -> int:
    """Push dead messages again, at the end of their queues and with no attempts; return how many.

    A message keeps its id, unless a live one bears it: then a part of it died, and that part gets
    an id of its own. It does not expire again. One whose unique key another message waits under
    is taken off the list, since that one will do its work.
    """
    ids = sorted(set(dead_ids))

    def once() -> int:
        return replay(
            engine,
            lambda connection: _retry(connection, ids),
            committed=lambda connection, _: _are_gone(connection, ids),
        )

    for _ in range(TRIES - 1):
        with suppress(IntegrityError):  # another put a message of that unique key, or id, in place
            return once()
    return once()


def _retry(connection: Connection, ids: Sequence[int]) -> int:
    found = [row for part in cut(ids) for row in execute(connection, _LOCK, ids=part)]
    plain: dict[int, int] = {}
    for row in found:
        if row.unique_key is None:
            plain.setdefault(row.message_id, row.id)
    together = sorted(plain.values())
    for part in cut(together):
        execute(connection, _RETRY, ids=part)
    alone = set(together)
    for row in found:
        if row.id not in alone:
            _push_again(connection, row)
    for part in cut([row.id for row in found]):
        execute(connection, _DISCARD, ids=part)
    enter_waiting(connection, [row.message_id for row in found if row.limit_key is not None])
    tell_waiting(connection, {row.message_id for row in found})
    return len(found)


def _push_again(connection: Connection, row: Row[Any]) -> None:
    added = execute(connection, _RETRY, ids=[row.id]).rowcount
    if added or execute(connection, _THERE, ids=[row.message_id]).all():
        return
    newer = execute(connection, _NEWER, row.queue, row.unique_key).scalar_one_or_none()
    if newer is not None:
        tell_merged(connection, row.message_id, newer)


def discard_dead(engine: Engine, dead_ids: Iterable[int]) -> int:
    """Delete entries of the dead list for good; return how many there were."""
    ids = sorted(set(dead_ids))

    def work(connection: Connection) -> int:
        return sum(execute(connection, _DISCARD, ids=part).rowcount for part in cut(ids))

    return replay(engine, work, committed=lambda connection, _: _are_gone(connection, ids))


def _are_gone(connection: Connection, ids: list[int]) -> bool:
    return not any(execute(connection, _LOCK, ids=part).all() for part in cut(ids))
