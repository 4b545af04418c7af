"""How queues and messages are printed: tables for people, and text that a terminal cannot obey."""

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len, set_cell_size

from sakuin.app.commands.options import put
from sakuin.queue.peek import as_text

MOST_SHOWN = 100
"""Cells of a message's data, or of a reason, in a table."""

_OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""What parts letters and joins emoji is text like any other."""


def printable(text: str) -> str:
    """Return the text in one line, with whatever a terminal would obey spelled out."""
    return "".join(
        each
        if unicodedata.category(each) not in _OBEYED or each in _JOINERS
        else each.encode("unicode_escape").decode()
        for each in text
    )


def short(text: str, most: int = MOST_SHOWN) -> str:
    """Return the text printable and cut to so many cells."""
    shown = printable(text[: most + 1])
    if cell_len(shown) <= most and len(text) <= most:
        return shown
    return set_cell_size(shown, most - 1).rstrip() + "…"


def data_shown(data: bytes, whole_bytes: int) -> str:
    """Return the beginning of a message's data: as text, or in hexadecimal digits."""
    is_cut = len(data) < whole_bytes
    text = as_text(data, is_cut=is_cut)
    shown = f"0x{data.hex()}" if text is None else text
    return short(shown + " …" * is_cut)


def data_json(data: bytes, whole_bytes: int) -> dict[str, Any]:
    """Return data for programs: "data" is null where it is no UTF-8, and "hex" has it then."""
    is_cut = len(data) < whole_bytes
    text = as_text(data, is_cut=is_cut)
    return {
        "bytes": whole_bytes,
        "data": text,
        "hex": data.hex() if text is None else None,
        "is_cut": is_cut,
    }


def key_json(key: bytes | None) -> str | None:
    """Return a key as text; what is no UTF-8 in it is spelled out."""
    return None if key is None else key.decode("utf-8", "backslashreplace")


def time_json(moment: datetime | None) -> str | None:
    """Return a time for programs: ISO 8601 in UTC."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def time_shown(moment: datetime | None) -> str:
    """Return a time for people, in UTC."""
    return "-" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def age_shown(seconds: float | None) -> str:
    """Return how long something has lasted, in its largest unit."""
    if seconds is None:
        return "-"
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def put_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows below their heads, numbers to the right, in columns that fit; the last is free.

    Whatever a terminal would obey is spelled out: plain SQL may have written any name.
    """
    shown = [
        [f"{each:,}" if isinstance(each, int) else printable(str(each)) for each in row]
        for row in rows
    ]
    widths = [max(map(cell_len, column)) for column in zip(heads, *shown, strict=True)]
    numeric = [any(isinstance(row[at], int) for row in rows) for at in range(len(heads))]
    for row in (list(heads), *shown):
        put("  ".join(map(_fit, row, widths, numeric)).rstrip())


def _fit(text: str, width: int, is_number: bool) -> str:
    blank = " " * (width - cell_len(text))
    return blank + text if is_number else text + blank
