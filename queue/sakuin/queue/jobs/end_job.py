"""Ends jobs, in the transaction that ends their messages, and pushes the notices of it.

A job ends once: what is finished or failed already is left alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Row

from sakuin.queue.dialect import cut, dialect_of, execute
from sakuin.queue.jobs.job import MOST_ERROR, JobStatus, check_result, fitted
from sakuin.queue.jobs.job_life import jobs_of_messages
from sakuin.queue.jobs.tell import tell_on
from sakuin.queue.message import Message
from sakuin.queue.push import check_packet

_END = (
    "UPDATE sakuin_jobs {by_id} SET status = ?, receipt_handle = NULL, ended_at = {now},"
    " updated_at = {now}, keep_until = {later}, result = ?, error = ?, note = COALESCE(?, note),"
    " done = CASE WHEN ? = 'finished' THEN COALESCE(total, done) ELSE done END"
    " WHERE id IN ({ids}) AND status IN ('waiting', 'making')"
)


NO_RESULTS: Mapping[int, bytes] = MappingProxyType({})


def finish_jobs_on(
    connection: Connection,
    messages: Iterable[Message | int],
    results: Mapping[int, bytes] = NO_RESULTS,
) -> None:
    """Say that these messages (or ids of such) were worked on to a good end.

    `results` gives by message id what came out of it. Raises BadMessage for one that is too
    large, also for the server's max_allowed_packet: that undoes the transaction.
    """
    ids = [one if isinstance(one, int) else one.id for one in messages]
    end_rows(connection, _unfinished(connection, ids), "finished", results=results)


def fail_jobs_on(connection: Connection, message_ids: Iterable[int], reason: str) -> None:
    """Say that these messages were given up, and why: as they go to the dead list."""
    error = fitted(reason, MOST_ERROR)
    end_rows(connection, _unfinished(connection, message_ids), "failed", error=error)


def _unfinished(connection: Connection, message_ids: Iterable[int]) -> list[Row[Any]]:
    rows = jobs_of_messages(connection, message_ids)
    return [row for row in rows if row.status in ("waiting", "making")]


def end_rows(
    connection: Connection,
    rows: Sequence[Row[Any]],
    status: JobStatus,
    *,
    results: Mapping[int, bytes] = NO_RESULTS,
    error: str | None = None,
    note: str | None = None,
) -> None:
    """End these jobs, which the caller has locked, by themselves or by their messages."""
    alike: defaultdict[tuple[float, bytes | None], list[int]] = defaultdict(list)
    for row in rows:
        result = results.get(row.message_id)
        if result is not None:
            check_packet(connection, check_result(result))
        alike[row.keep_seconds, result].append(row.id)
    for (keep_seconds, result), ids in alike.items():
        keep = dialect_of(connection).shift(keep_seconds)
        for part in cut(ids):
            execute(connection, _END, status, keep, result, error, note, status, ids=part)
    for row in rows:
        _tell(connection, row, status, error)


def _tell(connection: Connection, row: Row[Any], status: JobStatus, error: str | None) -> None:
    name = f"Job {row.id}" + (f" ({row.kind})" if row.kind else "")
    text = f"{name} of queue {row.queue} has {status}." + (f"\n\n{error}" if error else "")
    facts = {"job": row.id, "status": status, "queue": row.queue, "kind": row.kind, "error": error}
    tell_on(connection, row.notify, f"{name} has {status}", text, facts)
