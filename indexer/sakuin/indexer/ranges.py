"""Values of number and time filters, and ranges of them: 5, >=100, 10..20, 2024-01..2024-03."""

import re
import unicodedata

from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.document import FilterKind
from sakuin.indexer.moments import read_moment, write_moments

_LEAST, _MOST = -(2**63), 2**63 - 1
_NUMBER = re.compile(r"[-+]?[0-9]{1,19}")
_COMPARED = re.compile("(>=|<=|>|<|=|)(.*)", re.DOTALL)
_SIGNS = str.maketrans({"≧": ">=", "≥": ">=", "≦": "<=", "≤": "<=", "−": "-"})

Bounds = tuple[int | None, int | None]


def read_range(text: str, kind: FilterKind) -> Bounds | DiagnosticCode:
    """Return the lowest and the highest value asked for (None: open), or why it cannot be read."""
    plain = unicodedata.normalize("NFKC", text).translate(_SIGNS).strip()
    bounds = _spanned(plain, kind) if ".." in plain else _compared(plain, kind)
    if bounds is None:
        return unreadable(kind)
    low, high = bounds
    if (_LEAST if low is None else low) > (_MOST if high is None else high):
        return DiagnosticCode.EMPTY_RANGE
    fits = all(each is None or _LEAST <= each <= _MOST for each in bounds)
    return bounds if fits else unreadable(kind)


def unreadable(kind: FilterKind) -> DiagnosticCode:
    """Return the remark about a value that is none of this kind."""
    return DiagnosticCode.BAD_TIME if kind is FilterKind.TIME else DiagnosticCode.BAD_NUMBER


def write_range(low: int | None, high: int | None, kind: FilterKind) -> str:
    """Return the text that is read as this range; a star for one that is open on both sides."""
    if low is high is None:
        return "*"
    if kind is FilterKind.TIME:
        return write_moments(low, high)
    first, last = ("" if each is None else str(each) for each in (low, high))
    return first if first == last else f"{first}..{last}"


def _spanned(text: str, kind: FilterKind) -> Bounds | None:
    before, _, behind = text.partition("..")
    first, last = _span(before, kind), _span(behind, kind)
    if (before and first is None) or (behind and last is None) or first is last is None:
        return None
    return first and first[0], last and last[1]


def _compared(text: str, kind: FilterKind) -> Bounds | None:
    found = _COMPARED.fullmatch(text)
    span = _span(found[2], kind) if found else None
    if found is None or span is None:
        return None
    first, last = span
    sides: dict[str, Bounds] = {
        ">=": (first, None),
        ">": (last + 1, None),
        "<=": (None, last),
        "<": (None, first - 1),
    }
    return sides.get(found[1], span)


def _span(text: str, kind: FilterKind) -> tuple[int, int] | None:
    if kind is FilterKind.TIME:
        return read_moment(text)
    text = text.strip()
    return (int(text), int(text)) if _NUMBER.fullmatch(text) else None
