"""What a query may hold of people is taken out before it is kept. Pure text, no I/O.

The kind of what stood there stays visible: «mail», «number», … In doubt it is taken out: rather
is a part number lost than a telephone number kept. Names cannot be told from other words, and
stay.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

from sakuin.indexer.normalize import is_dropped

MOST_CHARACTERS = 100
"""How long what is kept is at most; a longer text is cut, and ends with …"""
_LOOKED_AT = 4 * MOST_CHARACTERS  # were more of it kept than is looked at, it would be cut anyway
_LONGEST_SHORT = 6

_HYPHENS = r"\-~\u2010-\u2015\u2212\u301c\u30fc"
_JAPANESE = r"\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_LETTER = rf"[^\W{_JAPANESE}]"
_KANJI_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")

# One group each: what is taken out.
_USER = re.compile(r"//([^\s/?#]*)@")
_PARAMETERS = re.compile(r"://[^\s?#]*[?#](\S+)|\S[?#]([^\s=?#]+=\S*)")
_MAIL = re.compile(
    rf"((?:{_LETTER}|[.!#$%&'*+/=?^`{{|}}~-]){{1,99}}@(?=[a-z])(?:{_LETTER}|[.-])+)"
    r"|([\w.+\"-]{1,99} ?@ ?[\w-]+(?:\.[\w-]+)+)",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    r"(?:password|passwd|passphrase|pwd|パスワード|暗証番号)(?: ?[:=：＝] ?|[はが] ?)([^\s、。]+)",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:[a-z0-9]{4,}-){3,}[a-z0-9]{4,})\b"
    r"|\b((?:sk|pk|rk|xox[abprs]|gh[opsu]|glpat)[-_][\w-]{12,})"
    r"|([\w.+=-]{12,})",
    re.IGNORECASE | re.ASCII,
)
_HOST = re.compile(
    r"(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(?![\d.])"
    r"|\b((?:[0-9a-f]{1,4}::?){3,7}[0-9a-f]{1,4})\b",
    re.IGNORECASE | re.ASCII,
)
_POSTCODE = re.compile(rf"〒 ?(\d{{3}}[{_HYPHENS}]?\d{{4}})")
_DIGITS = re.compile(
    rf"(?:\+|\()?\d(?:(?: [{_HYPHENS}] |[{_HYPHENS}・_./ ]|\)[{_HYPHENS} ]?|[{_HYPHENS} ]?\()?\d)*"
)
_YEAR = r"(?:1\d|20)\d\d"
_TIME = re.compile(
    rf"{_YEAR}([-./])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-./])\d{{1,2}}\2{_YEAR}"
    rf"|{_YEAR}(?:[{_HYPHENS}/ ]{_YEAR})*"
)
_WORD_AND_NUMBER = re.compile(r"[a-z]?(?:[a-z]+|[A-Z]+)\d{1,4}", re.ASCII)


def redact(text: str) -> str | None:
    """Return what of a query may be kept, at most MOST_CHARACTERS; None where that is too little.

    Too little: nothing at all, or more than half of it had to be taken out. Blanks become one,
    and what nobody sees is dropped. Takes any string.
    """
    text = " ".join("".join(map(_clean, text[: 8 * _LOOKED_AT])).split())[:_LOOKED_AT]
    before, taken = sum(not each.isspace() for each in text), 0
    for kind, find in _FINDERS:
        plain = _plain(text)
        for start, end in reversed(list(find(plain))):
            taken += end - start
            text = f"{text[:start]}«{kind or _number_kind(plain[start:end])}»{text[end:]}"
    if not text or 2 * taken > before:
        return None
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def _clean(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " "
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return "" if is_dropped(character) else character


def _plain(text: str) -> str:
    """Return a text as long, in which digits and signs are the usual ones."""
    return text if text.isascii() else "".join(map(_plain_character, text))


def _plain_character(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def _by(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    def find(text: str) -> Iterator[tuple[int, int]]:
        """Find what is taken out, as spans that do not overlap."""
        for found in pattern.finditer(text):
            assert found.lastindex
            yield found.span(found.lastindex)

    return find


def _keys(text: str) -> Iterator[tuple[int, int]]:
    for found in _KEY.finditer(text):
        if found.lastindex == 1:
            parts = found[1].split("-")
            is_key = sum(any(map(str.isdigit, part)) for part in parts) > 1
            is_key = is_key and not found[1].replace("-", "").isdigit()
        elif found.lastindex == 2:  # as services begin their keys
            is_key = True
        else:
            is_key = any(map(_is_random, re.findall("[A-Za-z0-9]{12,}", found[0])))
        if is_key:
            yield found.span()


def _is_random(run: str) -> bool:
    """Tell whether letters and digits in a row look like a key, and not like `word2024`."""
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(run))
    if len(run) < 16:
        return changes >= 4
    return changes > 0 and not _WORD_AND_NUMBER.fullmatch(run)


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    """Find numbers of more than six digits, whatever parts them; dates and years are none."""
    text = text.translate(_KANJI_DIGITS)
    for found in _DIGITS.finditer(text):
        for start, end in _parts(found):
            number = text[start:end]
            if _count(number) > _LONGEST_SHORT and not _TIME.fullmatch(number):
                yield start, end


def _parts(found: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Tell what belongs together: blanks part numbers, but not those of telephones and cards."""
    groups = found[0].split(" ")
    lengths = [_count(each) for each in groups]
    is_one = found[0].startswith(("0", "+", "(")) or (sum(lengths) > 9 and min(lengths) > 2)
    if is_one and not all(map(_TIME.fullmatch, groups)):
        yield found.span()
        return
    at = found.start()
    for group in groups:
        yield at, at + len(group)
        at += len(group) + 1


def _count(number: str) -> int:
    return sum(map(str.isdigit, number))


def _number_kind(number: str) -> str:
    number = number.translate(_KANJI_DIGITS)
    is_phone = number.startswith(("0", "+", "(")) and 9 <= _count(number) <= 15
    return "phone" if is_phone else "number"


_FINDERS: tuple[tuple[str, Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    ("user", _by(_USER)),
    ("parameters", _by(_PARAMETERS)),
    ("mail", _by(_MAIL)),
    ("password", _by(_PASSWORD)),
    ("key", _keys),
    ("host", _by(_HOST)),
    ("postcode", _by(_POSTCODE)),
    ("", _numbers),
)
