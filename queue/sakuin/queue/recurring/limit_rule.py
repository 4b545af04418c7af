"""A task's concurrency limit as it is written in its row and in its file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields

from sakuin.queue.errors import BadMessage
from sakuin.queue.limit import Limit

_FIELDS = tuple(field.name for field in fields(Limit))


def limit_as_text(limit: Limit | None) -> str | None:
    """Return the limit as JSON."""
    return None if limit is None else json.dumps(asdict(limit), ensure_ascii=False)


def limit_from_text(text: str | None) -> Limit | None:
    """Return the limit that the JSON tells. Raises BadMessage: the table is open to anybody."""
    if text is None:
        return None
    try:
        return limit_from(json.loads(text))
    except ValueError as error:
        raise BadMessage(f"limit_rule {text[:120]!r}: {error}") from None


def limit_from(table: object) -> Limit:
    """Return the limit that a table of fields tells. Raises BadMessage that names the field."""
    if not isinstance(table, Mapping) or "key" not in table:
        raise BadMessage('write a table, as { key = "reports", to = 1, on_conflict = "discard" }')
    for name, value in table.items():
        if name not in _FIELDS:
            raise BadMessage(f"{name}: unknown; known: {', '.join(_FIELDS)}")
        is_text = name in ("key", "group", "on_conflict")
        kinds = str if is_text else int if name == "to" else int | float | None
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise BadMessage(f"{name}: {value!r} is no {'text' if is_text else 'number'}")
    return Limit(**table)
