"""The messages of an index: which documents changed. What they say now is read later (I5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, TypeAdapter
from sqlalchemy import Connection

from sakuin.indexer.document_id import composite_id
from sakuin.indexer.index import Index
from sakuin.queue import PayloadError, push

IDS_PER_MESSAGE = 1000
BEHIND_SAVES = 8


def _as_id(value: object) -> object:
    """A composite key may come as an array, as a trigger writes it, with blanks or without."""
    if not isinstance(value, list):
        return value
    if not value or not all(type(part) in (str, int) for part in value):
        raise ValueError("the parts of a composite key must be texts and whole numbers")
    return composite_id(value)


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids of documents that were made, changed or deleted."""

    # Numbers are taken too: a program that pushes by SQL may well write {"ids": [17]}.
    ids: tuple[Annotated[str, Field(coerce_numbers_to_str=True), BeforeValidator(_as_id)], ...]


_ADAPTER = TypeAdapter(Changes)


def write_changes(ids: Sequence[str]) -> bytes:
    """Return the message for these ids: `{"ids": ["17", …]}`."""
    return _ADAPTER.dump_json(Changes(tuple(ids)))


def read_changes(data: bytes) -> tuple[str, ...]:
    """Return the ids of a message; PayloadError names the field that is wrong."""
    try:
        return _ADAPTER.validate_json(data, strict=False).ids
    except ValueError as error:
        raise PayloadError(f"not a message of an index: {error}") from None


def push_change(connection: Connection, index: Index, document_id: str) -> int:
    """Push the message that one document changed, in the caller's transaction; return its id."""
    return push(connection, index.queue, write_changes([document_id]))


def push_changes(
    connection: Connection, index: Index, ids: Sequence[str], *, priority: int = 5
) -> list[int]:
    """Push messages for many documents, 1,000 ids each, in the caller's transaction.

    BEHIND_SAVES as the priority lets whatever is saved meanwhile go first.
    """
    return [
        push(
            connection,
            index.queue,
            write_changes(ids[start : start + IDS_PER_MESSAGE]),
            priority=priority,
        )
        for start in range(0, len(ids), IDS_PER_MESSAGE)
    ]
