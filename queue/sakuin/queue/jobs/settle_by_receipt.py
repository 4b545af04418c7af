"""Settles a message by its receipt: what a back end does that knows no more than this text."""

from sqlalchemy import Connection, Engine

from sakuin.queue.bury import bury
from sakuin.queue.dialect import execute, moment_or_epoch
from sakuin.queue.errors import BadMessage, LeaseLost
from sakuin.queue.jobs.end_job import finish_jobs_on
from sakuin.queue.jobs.job import Receipt, StaleReceipt, check_result
from sakuin.queue.message import Message
from sakuin.queue.replay import read
from sakuin.queue.settle import ack

_HELD = (
    "SELECT id, queue, priority, token, attempts + 0 AS attempts, errors + 0 AS errors, data,"
    " created_at, locked_until, kind, COALESCE(unique_key, held_key) AS unique_key, limit_key"
    " FROM sakuin_messages WHERE id = ? AND token = ?"
)


def settle_by_receipt(
    engine: Engine,
    receipt: str | Receipt,
    *,
    result: bytes | None = None,
    error: str | None = None,
) -> None:
    """Ack the message and finish its job with the result, or with `error` bury it and fail the job.

    One transaction, and only while the message bears the receipt's token. Raises StaleReceipt if
    it does not (nothing is changed), BadReceipt for a text that is none, and BadMessage for a
    result that is too large.
    """
    held = Receipt.parse(receipt)
    if result is not None:
        check_result(result)
        if error is not None:
            raise BadMessage("give a result or an error, not both")
    message = read(engine, lambda connection: _message(connection, held))
    results = {} if result is None else {message.id: result}
    try:
        if error is not None:
            bury(engine, message, error)
        else:
            ack(engine, message, also=lambda on, ids: finish_jobs_on(on, ids, results))
    except LeaseLost as lost:
        raise StaleReceipt(held) from lost


def _message(connection: Connection, held: Receipt) -> Message:
    row = execute(connection, _HELD, held.message_id, held.token).one_or_none()
    if row is None:
        raise StaleReceipt(held)
    times = {name: moment_or_epoch(getattr(row, name)) for name in ("created_at", "locked_until")}
    return Message(**{**row._asdict(), **times})
