"""What every engine keeps beside the text: filter values as they compare, and keys of orders.

A key is a text or bytes whose plain order is the order wanted, so that no engine needs to know
more than how to compare.
"""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Final

from sakuin.indexer.document import Document, Fields, FilterKind
from sakuin.indexer.fold import Folding, fold

LOWEST: Final = -(2**63)
HIGHEST: Final = 2**63 - 1
LONGEST: Final = 32_000
"""Bytes of an id or a keyword, before and after folding: engines drop longer terms in silence."""

_WIDEST: Final = 18 * 4  # bytes that a single character folds to, at most
_LETTERS: Final = str.maketrans("0123456789abcdef", "bcdefghijklmnopq")
_END = "a"  # before every letter, so that what ends first comes first


def kinds_of(fields: Fields) -> dict[str, FilterKind]:
    """Return the kind of each filter, for `check_document`."""
    return {each.name: each.kind for each in fields.filters}


def check_document(document: Document, kinds: Mapping[str, FilterKind], folding: Folding) -> None:
    """Raise ValueError where the id or a value cannot be kept; the error names it."""
    if len(document.id) > LONGEST // 4:
        _check_length(document.id, "the id")
    for name, value in document.values.items():
        if name not in kinds:
            raise ValueError(
                f"document {document.id!r} has a value of {name!r}, which is no filter"
            )
        if kinds[name] is not FilterKind.KEYWORD:
            if not isinstance(value, int) or not LOWEST <= value <= HIGHEST:
                raise ValueError(
                    f"the value of {name!r} must be a number of 64 bits, not {value!r}"
                )
        elif not isinstance(value, str):
            raise ValueError(f"the value of {name!r} must be a text, not {value!r}")
        elif len(value) * _WIDEST > LONGEST:
            _check_length(value, f"the value of {name!r}")
            _check_length(fold(value, folding), f"the folded value of {name!r}")


@cache
def keyword_in(folding: Folding) -> Callable[[str], str]:
    """Return what gives a keyword as it compares in an index of this folding."""
    # Documents of one source come together.
    return lru_cache(maxsize=1_024)(partial(fold, folding=folding))


@lru_cache(maxsize=1_024)  # documents of one place come together
def text_key(text: str) -> str:
    """Return lower-case letters, at least one, that order as the code points of the text do."""
    return "b" + text.encode().hex().translate(_LETTERS)


def id_number(one: str) -> int:
    """Return an id of an index whose ids are numbers; ValueError if it is none.

    An id has one spelling, that of `str`: Python also reads other scripts' digits, 1_0 and +5.
    """
    try:
        number = int(one)
    except ValueError:
        number = None
    if number is None or str(number) != one:
        raise ValueError(f"ids of this index are numbers, and {one[:40]!r} is none")
    return max(LOWEST, min(number, HIGHEST))


def place_key(values: Mapping[str, str | int], place: tuple[str, str]) -> str:
    """Return letters that order by the text of the place, then by whether it has a number.

    What is missing comes first. The number itself comes after these letters.
    """
    text, number = values.get(place[0]), values.get(place[1])
    start = _END if text is None else text_key(str(text))
    return f"{start}{_END}{'a' if number is None else 'b'}"


def place_number(values: Mapping[str, str | int], place: tuple[str, str]) -> int:
    """Return the number of the place, 0 where it has none."""
    return int(values.get(place[1], 0))


def _check_length(text: str, what: str) -> None:
    if len(text) > LONGEST // 4 and len(text.encode()) > LONGEST:
        raise ValueError(f"{what} {text[:40]!r}… is longer than {LONGEST} bytes")
