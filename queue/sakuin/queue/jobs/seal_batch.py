"""Seals a batch: nothing is added any more, and from now on it can end."""

from sqlalchemy import Connection

from sakuin.queue.dialect import execute
from sakuin.queue.jobs.batch import Callback, callback_values, check_batch
from sakuin.queue.jobs.end_batches import end_batch_on

_SEAL = "UPDATE sakuin_batches SET sealed_at = {now} WHERE id = ? AND sealed_at IS NULL"
_CALL_BACK = (
    "UPDATE sakuin_batches SET callback_queue = ?, callback_kind = ?, callback_data = ?,"
    " callback_priority = ? WHERE id = ?"
)
_IS_EMPTY = "SELECT 1 FROM sakuin_batches WHERE id = ? AND messages = 0"


def seal_batch(connection: Connection, batch_id: int, callback: Callback | None = None) -> None:
    """Seal the batch, in the caller's transaction; an empty one ends with it. Sealing twice is one.

    `callback` replaces that of `open_batch`: by now its data can name the batch. Raises
    BadMessage if there is no such batch.
    """
    values = callback_values(callback)
    if not execute(connection, _SEAL, batch_id).rowcount:
        check_batch(connection, batch_id)
        return
    if callback is not None:
        execute(connection, _CALL_BACK, *values, batch_id)
    if execute(connection, _IS_EMPTY, batch_id).all():
        end_batch_on(connection, batch_id)
