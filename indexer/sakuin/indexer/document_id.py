"""How a row's key is written as the id of its document: one text for one key, always the same."""

import json
from collections.abc import Sequence


def composite_id(parts: Sequence[str | int]) -> str:
    """Return the id of a key of several columns: a JSON array without blanks, `["a",17]`.

    Whoever writes such arrays (databases differ in blanks and escapes) is brought to this text.
    """
    return json.dumps(list(parts), ensure_ascii=False, separators=(",", ":"))


def composite_parts(document_id: str) -> list[str | int] | None:
    """Return the parts of an id that `composite_id` made; None when it did not."""
    try:
        parts = json.loads(document_id)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parts, list) or not all(type(part) in (str, int) for part in parts):
        return None
    return parts if composite_id(parts) == document_id else None
