"""What a save returns, and what became of it. A receipt is opaque to who holds it.

"searchable" is never early: it is said only when the message is settled and the current
generation holds the document as the table has it now. A message that was merely flushed away
does not read as success.
"""

import base64
import binascii
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field, TypeAdapter
from sqlalchemy import Connection

from sakuin.app.assemble import Parts
from sakuin.app.save import Saved
from sakuin.queue import read, state_of, waiting_count

_MOST_CHARACTERS = 16_384
_TRIES = 3


class Status(StrEnum):
    """Where a save is on its way to being found."""

    WAITING = "waiting"
    INDEXING = "indexing"
    SEARCHABLE = "searchable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Names an index, the messages of a save, and one document of each."""

    index: str
    messages: tuple[Annotated[int, Field(ge=1, lt=2**63)], ...]
    documents: tuple[Annotated[str, Field(max_length=255)], ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """A receipt's status, and the reason when it failed."""

    status: Status
    reason: str = ""


class UnknownReceipt(Exception):
    """Not a receipt of this installation."""


_ADAPTER = TypeAdapter(Receipt)


def write_receipt(receipt: Receipt) -> str:
    """Return the receipt as a string for an address: letters, digits, - and _."""
    return base64.urlsafe_b64encode(_ADAPTER.dump_json(receipt)).decode().rstrip("=")


def receipt_of(parts: Parts, saved: Saved) -> str:
    """Return the receipt of one document's save."""
    return write_receipt(Receipt(parts.index.name, (saved.message_id,), (str(saved.id),)))


def read_receipt(text: str) -> Receipt:
    """Return what a receipt names; UnknownReceipt for anything else."""
    try:
        if len(text) > _MOST_CHARACTERS:
            raise UnknownReceipt("this is no receipt")
        padded = text + "=" * (-len(text) % 4)
        raw = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
        return _ADAPTER.validate_json(raw)
    except (ValueError, binascii.Error):
        raise UnknownReceipt("this is no receipt") from None


def progress(parts: Parts, receipt: Receipt) -> Progress:
    """Look where the receipt's messages and documents are now; `parts` are of its index.

    Raises the queue's errors when the database is away.
    """
    for _ in range(_TRIES):
        found = read(parts.database, lambda c: _of_messages(c, receipt))
        if found is not None:
            return found
        wanted = read(parts.database, lambda c: _digests(c, parts, receipt))
        waiting = read(parts.database, lambda c: waiting_count(c, parts.index.queue, 1))
        if _held(parts, receipt) == wanted:
            return Progress(Status.SEARCHABLE)
        if waiting:
            return Progress(Status.WAITING)
        # Perhaps it was saved again and indexed between our two looks: look once more.
    return Progress(
        Status.FAILED, "its message is gone, but the index differs: `sakuin index rebuild`"
    )


def _of_messages(connection: Connection, receipt: Receipt) -> Progress | None:
    """Return what the message rows say; None when all of them are settled."""
    states = [state_of(connection, message) for message in receipt.messages]
    for state in states:
        if state is not None and state.status == "dead":
            return Progress(Status.FAILED, state.reason or "")
    statuses = {state.status for state in states if state is not None}
    if "leased" in statuses:
        return Progress(Status.INDEXING)
    return Progress(Status.WAITING) if statuses else None


def _digests(connection: Connection, parts: Parts, receipt: Receipt) -> dict[str, int]:
    documents = parts.index.loader.load(connection, receipt.documents)
    return {document.id: document.digest for document in documents}


def _held(parts: Parts, receipt: Receipt) -> dict[str, int] | None:
    with parts.reader.open() as opened:
        return opened.searcher.digests(receipt.documents) if opened else None
