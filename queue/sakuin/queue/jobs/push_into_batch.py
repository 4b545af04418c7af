"""Pushes many messages into a batch, which has to know their ids."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from sakuin.queue.dialect import dialect_of, render
from sakuin.queue.jobs.batch import add_to_batch
from sakuin.queue.limits import check_kind, check_priority, check_queue, check_seconds
from sakuin.queue.push import parts_of, push

_INSERT = "INSERT INTO sakuin_messages (queue, priority, locked_until, due_at, kind, data) VALUES "
_ROW = "(?, ?, {later}, {later}, ?, ?)"
_ROW_VALUES = 6


def push_into_batch(
    connection: Connection,
    batch_id: int,
    queue: str,
    datas: Iterable[bytes],
    *,
    kind: str | None = None,
    priority: int = 5,
    delay_seconds: float = 0.0,
) -> tuple[int, ...]:
    """Push one message for each of `datas`, add them to the batch, and return their ids in order.

    In the caller's transaction; options and errors as for `push_many` and `add_to_batch`.
    """
    wait = dialect_of(connection).shift(check_seconds("delay_seconds", delay_seconds))
    start = (check_queue(queue), check_priority(priority), wait, wait, check_kind(kind))
    ids: list[int] = []
    for part in parts_of(connection, datas):
        if connection.dialect.insert_returning:
            pushed = _insert(connection, [value for data in part for value in (*start, data)])
        else:  # MySQL tells no ids of a long INSERT that a cluster of servers could not mix up
            pushed = [
                push(
                    connection,
                    queue,
                    data,
                    kind=kind,
                    priority=priority,
                    delay_seconds=delay_seconds,
                )
                for data in part
            ]
        add_to_batch(connection, batch_id, pushed)
        ids += pushed
    return tuple(ids)


def _insert(connection: Connection, values: Sequence[object]) -> list[int]:
    """Insert rows and return their ids, which grow in the order of the rows."""
    row = render(dialect_of(connection), _ROW)
    rows = ", ".join([row] * (len(values) // _ROW_VALUES))
    sql = f"{_INSERT}{rows} RETURNING id"
    return sorted(connection.exec_driver_sql(sql, tuple(values)).scalars())
