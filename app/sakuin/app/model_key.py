"""A row's primary key as the id of its document, and back."""

from collections.abc import Sequence
from uuid import UUID

from sakuin.indexer.document_id import composite_id, composite_parts

Part = int | str | UUID
"""What one column of a key may be."""

KINDS: tuple[type[int] | type[str] | type[UUID], ...] = (int, str, UUID)
_LONGEST_NUMBER = 20


def key_id(key: Sequence[Part]) -> str:
    """Return the id of a row: its key's text, or of several columns their JSON array."""
    if len(key) == 1:
        return str(key[0])
    return composite_id([str(part) if isinstance(part, UUID) else part for part in key])


def read_key(document_id: str, kinds: Sequence[type]) -> tuple[Part, ...] | None:
    """Return the key that an id names, a part for each of `kinds`; None when it names none.

    Only the spelling that `key_id` writes is an id: `017` is none.
    """
    if len(kinds) == 1:
        part = _part(_number(document_id) if kinds[0] is int else document_id, kinds[0])
        return None if part is None or str(part) != document_id else (part,)
    parts = composite_parts(document_id)
    if parts is None or len(parts) != len(kinds):
        return None
    key = tuple(_part(part, kind) for part, kind in zip(parts, kinds, strict=True))
    known = tuple(part for part in key if part is not None)
    return known if len(known) == len(key) and key_id(known) == document_id else None


def _number(text: str) -> int | str:
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
    return int(text) if is_number else text


def _part(part: str | int, kind: type) -> Part | None:
    if kind is not UUID:
        return part if type(part) is kind else None
    try:
        return UUID(part) if isinstance(part, str) else None
    except ValueError:
        return None
