"""Which encoding a text file is in, told from its bytes or taken as named. Opens no file.

A byte order mark and the escapes of ISO-2022-JP decide at once. Otherwise the bytes are read in
every encoding, and the reading that looks most like text wins: what does not decode counts
against it, kana and common kanji for it, and UTF-8 for being hardly ever valid by accident.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

SAMPLE_BYTES = 1 << 16
"""How many bytes are looked at; more would not tell more."""

_MARKS = (  # the mark of UTF-16 begins that of UTF-32
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BYTEWISE = ("utf-8", "cp932", "euc_jp")
_UTF_16 = ("utf-16-le", "utf-16-be")
# EUC-JP as Windows writes it (with ① and ㈱) is read by the newer standard, which holds the old.
_WIDER = {"euc_jp": "euc_jis_2004"}
# The 200 most frequent kanji of novels and encyclopedias: half of all kanji in running text.
_COMMON_KANJI = frozenset(
    "人私一事年出見分大生日自時来中行上思国言気方間子何本者地的下手立合二学前月家心会後先物"
    "知持同女世部彼今主無入三度力云通実所代山動十目用対聞不小当法場長定発業意教化母多関書成"
    "党体民以明名考顔外理内様現全御向話少第語口父高道身政取君面水共性文新作最東感活然金死戦"
    "男相結在屋要原近等居数次員帰問葉表変記連社声得産田和機切笑開直味僕経議落位市風白車起神"
    "置解色都真有制天奥平正呼強海足受野五西説引別眼京権命信木"
)
_REPLACED = "\ufffd"
_PLAIN = re.compile(rb"[\t-\r\x1b -~]*")
_CLEAR_LEAD = 0.2
_CLEAR_TEXT = 0.6


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding, the bytes of its mark to skip, and whether there is little doubt."""

    encoding: str
    mark_bytes: int = 0
    is_sure: bool = True


class UnknownEncoding(ValueError):
    """No text encoding has this name, or lines cannot be told apart in it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name[:40]!r} is no encoding that text can be loaded from: use utf-8, cp932, "
            "euc_jp, utf-16, iso2022_jp or another of Python's names"
        )


def guess_encoding(sample: bytes, *, whole: bool = False, is_start: bool = True) -> Guess:
    """Tell the encoding of a text from a part of it.

    `whole`: the text ends with the sample. `is_start`: the text begins with it; the sample of a
    later part must begin with a line. Text that is nothing known is read as UTF-8, unsure.
    """
    if is_start and (marked := _by_mark(sample)):
        return marked
    if len(sample) > SAMPLE_BYTES:
        sample, whole = sample[:SAMPLE_BYTES], False
    if _PLAIN.fullmatch(sample):
        return Guess("iso2022_jp" if _is_iso2022_jp(sample) else "utf-8")
    scores = _scores(sample, _BYTEWISE + (_UTF_16 if is_start else ()), whole=whole)
    best, second = sorted(scores, key=lambda name: -scores[name])[:2]
    if scores[best] <= 0:
        return Guess("utf-8", is_sure=False)
    is_clear = scores[best] >= _CLEAR_TEXT or best.startswith("utf")
    return Guess(best, is_sure=is_clear and scores[best] - scores[second] >= _CLEAR_LEAD)


def named_encoding(name: str, sample: bytes) -> Guess:
    """Return the named encoding for a text that begins with the sample; UnknownEncoding.

    A mark is skipped, and tells the byte order; without one the more likely order is taken.
    """
    encoding = check_encoding(name)
    marked = _by_mark(sample)
    if marked and marked.encoding.startswith(encoding):
        return marked
    if encoding == "utf-16":
        scores = _scores(sample[:SAMPLE_BYTES], _UTF_16, whole=False)
        return Guess(max(scores, key=lambda order: scores[order]))
    return Guess("utf-32-le" if encoding == "utf-32" else encoding)


def check_encoding(name: str) -> str:
    """Return an encoding's normal name, or raise UnknownEncoding."""
    try:
        encoding = codecs.lookup(name).name.removesuffix("-sig")
        keeps_lines = "a\n".encode(encoding) == b"a\n"
    except (LookupError, ValueError):
        raise UnknownEncoding(name) from None
    if not keeps_lines and not encoding.startswith(("utf-16", "utf-32")):
        raise UnknownEncoding(name)
    return encoding


def decode(data: bytes, encoding: str) -> str:
    """Decode strictly; UnicodeDecodeError names what the encoding does not hold."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        if encoding not in _WIDER:
            raise
        return data.decode(_WIDER[encoding])


def _by_mark(sample: bytes) -> Guess | None:
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return Guess(encoding, len(mark))
    return None


def _is_iso2022_jp(sample: bytes) -> bool:
    if b"\x1b$" not in sample and b"\x1b(" not in sample:
        return False
    try:
        codecs.getincrementaldecoder("iso2022_jp")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _scores(sample: bytes, encodings: Sequence[str], *, whole: bool) -> dict[str, float]:
    """Return how much the bytes look like text in each encoding, from -3 to 1.5.

    Measured on the bytes that tell encodings apart: plain ASCII would drown them.
    """
    telling = sum(byte >= 0x80 or byte == 0 for byte in sample) or 1
    plain = 0.5 * (len(sample) - telling)
    return {name: (_sum(sample, name, whole=whole) - plain) / telling for name in encodings}


def _sum(sample: bytes, encoding: str, *, whole: bool) -> float:
    codec = _WIDER.get(encoding, encoding)
    text = codecs.getincrementaldecoder(codec)("replace").decode(sample, final=whole)
    bonus = 0.5 if encoding == "utf-8" else 0.0
    total = 0.0
    for character, count in Counter(text).items():
        if character == _REPLACED:
            total -= 3.0 * count
        else:
            weight = _weight(character) + (0.0 if character.isascii() else bonus)
            total += weight * count * len(character.encode(codec, "replace"))
    return total


def _weight(character: str) -> float:
    """Return how likely a character is in a text that people read, from -2 to 1."""
    if character.isascii():
        return 0.5 if character.isprintable() or character in "\t\n\r\f\v" else -0.5
    if "\u3040" <= character <= "\u30ff" or character in "、。「」『』　":
        return 1.0
    if character in _COMMON_KANJI:
        return 1.0
    category = unicodedata.category(character)
    if category[0] == "C":
        return -2.0
    if "\u4e00" <= character <= "\u9fff":
        return 0.5 if _is_level_1(character) else 0.0
    if "\uff61" <= character <= "\uff9f" or (category[0] == "L" and character < "\u3000"):
        return 0.1
    return 0.4


def _is_level_1(character: str) -> bool:
    """Tell whether a kanji is among the 2,965 common ones of JIS X 0208."""
    return b"\xb0" <= character.encode("euc_jp", "replace")[:1] <= b"\xcf"
