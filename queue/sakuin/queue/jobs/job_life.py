"""The life of a job before its end: received, under way, waiting again. And how to look at it.

Functions that end in `_on` run inside the transaction that changes the messages, which locks
them: so no two transactions change the jobs of one message at once. Where no message has a job
each costs one short read.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row

from sakuin.queue.dialect import cut, execute
from sakuin.queue.errors import BadMessage
from sakuin.queue.jobs.batch_members import repoint_members_on, revive_members_on
from sakuin.queue.jobs.job import (
    MOST_ERROR,
    MOST_NOTE,
    Job,
    JobStatus,
    Progress,
    Receipt,
    fitted,
    job_from,
)
from sakuin.queue.message import Message
from sakuin.queue.replay import replay

MOST_LISTED = 1_000

_OF_MESSAGES = (
    "SELECT id, message_id, status, queue, kind, notify, keep_seconds FROM sakuin_jobs"
    " WHERE message_id IN ({ids})"
)
_RECEIVE = (
    "UPDATE sakuin_jobs {by_id} SET status = 'making', receipt_handle = ?, started_at = {now},"
    " updated_at = {now}, done = NULL, total = NULL, note = NULL"
    " WHERE id IN ({ids}) AND status IN ('waiting', 'making')"
)
_WAIT_AGAIN = (
    "UPDATE sakuin_jobs {by_id} SET status = 'waiting', receipt_handle = NULL,"
    " updated_at = {now}, ended_at = NULL, keep_until = NULL, error = COALESCE(?, error)"
    " WHERE id IN ({ids}) AND status <> 'finished'"
)
_REQUEUE = (
    "UPDATE sakuin_jobs {by_id} SET status = 'waiting', receipt_handle = NULL,"
    " updated_at = {now}, error = ? WHERE id IN ({ids}) AND status = 'making'"
    " AND receipt_handle >= ? AND receipt_handle <= ?"
)
_PROGRESS = (
    "UPDATE sakuin_jobs {by_id} SET done = ?, total = ?, note = ?, updated_at = {now}"
    " WHERE id IN ({ids}) AND receipt_handle = ? AND status = 'making' AND EXISTS (SELECT 1"
    " FROM sakuin_messages m WHERE m.id = sakuin_jobs.message_id AND m.token = receipt_handle)"
)
"""A message that was settled or claimed by plain SQL has told its job nothing: so look at both."""

_LIVE = "SELECT 1 FROM sakuin_messages WHERE id = ? AND token = ?"
_REPOINT = "UPDATE sakuin_jobs {by_id} SET message_id = ? WHERE id IN ({ids}) AND message_id = ?"
_COLUMNS = (
    "SELECT id, status, message_id, receipt_handle, created_at, updated_at, started_at, ended_at,"
    " queue, kind, done, total, note, error, notify, keep_seconds, keep_until,"
)
_ONE = _COLUMNS + " result FROM sakuin_jobs WHERE "
_LIST = _COLUMNS + " NULL AS result FROM sakuin_jobs"


def receive_jobs_on(connection: Connection, messages: Sequence[Message]) -> None:
    """Say that these messages were received: in the transaction of the claim."""
    by_token: dict[bytes, list[int]] = {}
    tokens = {message.id: message.token for message in messages if message.has_job}
    for row in jobs_of_messages(connection, tokens):
        by_token.setdefault(tokens[row.message_id], []).append(row.id)
    for token, ids in by_token.items():
        for part in cut(ids):
            execute(connection, _RECEIVE, token, ids=part)


def retry_jobs_on(connection: Connection, message_ids: Iterable[int], reason: str | None) -> None:
    """Say that these messages wait again, and why their delivery ended (None: for no fault)."""
    error = None if reason is None else fitted(reason, MOST_ERROR)
    rows = jobs_of_messages(connection, message_ids)
    for part in cut([row.id for row in rows if row.status in ("waiting", "making")]):
        execute(connection, _WAIT_AGAIN, error, ids=part)


def requeue_jobs_on(connection: Connection, message_ids: Iterable[int], holder: bytes) -> None:
    """Say that those of these messages wait again which were leased to a process that is dead.

    `holder` begins its tokens, and so the handles of its jobs.
    """
    held = (holder + b"\x00" * 8, holder + b"\xff" * 8)
    for part in cut([row.id for row in jobs_of_messages(connection, message_ids)]):
        execute(connection, _REQUEUE, "the process that worked on it died", *held, ids=part)


def wait_again_on(connection: Connection, message_ids: Iterable[int]) -> None:
    """Say that these dead messages were pushed again: failed jobs, and batches, wait again."""
    ids = sorted(message_ids)
    rows = jobs_of_messages(connection, ids)
    for part in cut([row.id for row in rows if row.status != "finished"]):
        execute(connection, _WAIT_AGAIN, None, ids=part)
    revive_members_on(connection, ids)


def repoint_jobs_on(connection: Connection, old_message_id: int, new_message_id: int) -> None:
    """Say that the new message does the work of the old one, which is removed: a merge.

    What was under way, or had failed, waits again; a batch that held the old message holds the new
    one.
    """
    rows = jobs_of_messages(connection, [old_message_id])
    moved = [row.id for row in rows if row.status != "finished"]
    for part in cut(moved):
        execute(connection, _REPOINT, new_message_id, old_message_id, ids=part)
        execute(connection, _WAIT_AGAIN, None, ids=part)
    repoint_members_on(connection, old_message_id, new_message_id)


def jobs_of_messages(connection: Connection, message_ids: Iterable[int]) -> list[Row[Any]]:
    """Return the rows of the jobs that these messages have, ascending by id; locks nothing."""
    rows: list[Row[Any]] = []
    for part in cut(sorted(message_ids)):
        rows += execute(connection, _OF_MESSAGES, ids=part).all()
    return sorted(rows, key=lambda row: int(row.id))


def set_progress(
    engine: Engine, receipt: str | Receipt, done: int, total: int | None = None, note: str = ""
) -> bool:
    """Say how far the work is, and return whether the receipt is live (if not, no change).

    Raises BadMessage unless 0 <= done <= total, and BadReceipt.
    """
    held = Receipt.parse(receipt)
    progress = Progress(done, total, note)
    values = (progress.done, progress.total, fitted(progress.note, MOST_NOTE))

    def work(connection: Connection) -> bool:
        ids = [row.id for row in jobs_of_messages(connection, [held.message_id])]
        return bool(ids and execute(connection, _PROGRESS, *values, held.token, ids=ids).rowcount)

    return replay(engine, work, committed=lambda *_: False)


def is_live(connection: Connection, receipt: str | Receipt) -> bool:
    """Tell whether the receipt may still settle its message. Raises BadReceipt."""
    held = Receipt.parse(receipt)
    return bool(execute(connection, _LIVE, held.message_id, held.token).all())


def job_of(connection: Connection, job_id: int) -> Job | None:
    """Return the job, or None if there is none (any more)."""
    row = execute(connection, _ONE + "id = ?", job_id).one_or_none()
    return None if row is None else job_from(row)


def job_of_receipt(connection: Connection, receipt: str | Receipt) -> Job | None:
    """Return the job of the receipt's message, live or not. Raises BadReceipt."""
    held = Receipt.parse(receipt)
    found = execute(connection, _ONE + "message_id = ? ORDER BY id LIMIT 1", held.message_id)
    row = found.one_or_none()
    return None if row is None else job_from(row)


def jobs_page(
    connection: Connection,
    *,
    status: JobStatus | None = None,
    limit: int = 50,
    before_id: int | None = None,
) -> tuple[Job, ...]:
    """Return jobs, newest first, without their results; for the next page give the last `id`."""
    if not 1 <= limit <= MOST_LISTED:
        raise BadMessage(f"limit={limit}: list 1 to {MOST_LISTED:,} jobs at a time")
    wanted = {"status = ?": status, "id < ?": before_id}
    given = {condition: value for condition, value in wanted.items() if value is not None}
    where = " WHERE " + " AND ".join(given) if given else ""
    sql = f"{_LIST}{where} ORDER BY id DESC LIMIT ?"
    return tuple(job_from(row) for row in execute(connection, sql, *given.values(), limit))
