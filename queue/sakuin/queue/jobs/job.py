"""A job as the application sees it: a message with a life that is remembered. Plain values."""

import math
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self

from sqlalchemy import Row

from sakuin.queue.dialect import moment
from sakuin.queue.errors import BadMessage, QueueError
from sakuin.queue.jobs.tell import addresses_from
from sakuin.queue.limits import check_seconds
from sakuin.queue.message import Message

JobStatus = Literal["waiting", "making", "finished", "failed"]

KEEP_SECONDS = 7 * 86400.0
"""How long a job or a batch is kept after its end, unless it says otherwise."""

MAX_RESULT_BYTES = 1024 * 1024
MOST_ERROR = 2_000
MOST_NOTE = 255
"""Characters of an error and of a note that are kept: the beginning."""

MOST_STEPS = 2**62
_RECEIPT = re.compile(r"([1-9][0-9]{0,18})-([0-9a-f]{32})")


class BadReceipt(QueueError, ValueError):
    """A text that is no receipt at all."""


class StaleReceipt(QueueError):
    """The message was settled, or delivered to another since; nothing was changed."""

    def __init__(self, receipt: "Receipt") -> None:
        super().__init__(
            f"receipt for message {receipt.message_id}: it is out of date, because the message"
            " was settled or its lease ran out and it was delivered again"
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """One delivery of one message: who holds it may report on it and settle it, nobody else.

    As text (`str`) it is the message's id and the lease's token, to be handed to a program that
    knows no more than this.
    """

    message_id: int
    token: bytes

    def __str__(self) -> str:
        return f"{self.message_id}-{self.token.hex()}"

    @classmethod
    def of(cls, message: Message) -> Self:
        """Return the receipt of a message that was claimed."""
        return cls(message.id, message.token)

    @classmethod
    def parse(cls, receipt: "str | Receipt") -> "Receipt":
        """Read a receipt from text. Raises BadReceipt."""
        if isinstance(receipt, Receipt):
            return receipt
        found = _RECEIPT.fullmatch(receipt)
        if found is None:
            raise BadReceipt(
                f"receipt {receipt[:80]!r}: it should be a message id, a hyphen and 32 hexadecimal"
                " digits; give it back as it was received"
            )
        return cls(int(found[1]), bytes.fromhex(found[2]))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is: `done` of `total` steps (None: unknown), with a short note.

    Raises BadMessage for what cannot be; the note is cut to MOST_NOTE characters when stored.
    """

    done: int
    total: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        most = MOST_STEPS if self.total is None else self.total
        if not 0 <= self.done <= most <= MOST_STEPS:
            raise BadMessage(f"progress {self.done} of {self.total}: use 0 <= done <= total")

    @property
    def share(self) -> float | None:
        """How much is done, from 0 to 1; None where the total is unknown."""
        if self.total is None:
            return None
        return self.done / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Job:
    """A job as its row says. Times are aware, in UTC, by the database's clock.

    `receipt` is there exactly while its message is received. `note` is that of its progress, or
    says how it came to an end that nobody told. `error` of a waiting job is why the last delivery
    ended. `result` is there in a finished job that gave one; lists leave it out.
    """

    id: int
    status: JobStatus
    message_id: int
    queue: str
    kind: str | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    keep_until: datetime | None
    keep_seconds: float
    receipt: Receipt | None
    progress: Progress | None
    note: str | None
    result: bytes | None
    error: str | None
    notify: tuple[str, ...]


def job_from(row: Row[Any]) -> Job:
    """Return the job that a row of `sakuin_jobs` is."""
    progress = None
    if row.done is not None:
        progress = Progress(row.done, row.total, row.note or "")
    return Job(
        id=row.id,
        status=row.status,
        message_id=row.message_id,
        queue=row.queue,
        kind=row.kind,
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
        started_at=moment_or_none(row.started_at),
        ended_at=moment_or_none(row.ended_at),
        keep_until=moment_or_none(row.keep_until),
        keep_seconds=row.keep_seconds,
        receipt=row.receipt_handle and Receipt(row.message_id, row.receipt_handle),
        progress=progress,
        note=row.note,
        result=row.result.encode() if isinstance(row.result, str) else row.result,
        error=row.error,
        notify=addresses_from(row.notify),
    )


def moment_or_none(stored: datetime | str | None) -> datetime | None:
    """Return a stored time as an aware datetime; None stays None."""
    return None if stored is None else moment(stored)


def check_result(result: bytes) -> bytes:
    """Return the result, or raise BadMessage."""
    if not isinstance(result, bytes):
        raise BadMessage(f"a result must be bytes, not {type(result).__name__}")
    if len(result) > MAX_RESULT_BYTES:
        raise BadMessage(
            f"result of {len(result):,} bytes: the limit is {MAX_RESULT_BYTES:,} bytes"
            " (MAX_RESULT_BYTES); keep the large part in a table and give back its id"
        )
    return result


def check_keep(keep_seconds: float) -> float:
    """Return the time to keep it, or raise BadMessage."""
    if not math.isfinite(keep_seconds):
        raise BadMessage(f"keep_seconds={keep_seconds}: use a finite number")
    return check_seconds("keep_seconds", keep_seconds)


def fitted(text: str, most: int) -> str:
    """Cut a text to length, and spell out lone surrogates, which no database stores."""
    return text[:most].encode("utf-8", "backslashreplace").decode("utf-8")[:most]
