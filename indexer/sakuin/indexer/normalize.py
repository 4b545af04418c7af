"""Unicode's part of folding: NFKC(casefold(NFKC(text))), without what nobody sees.

Default-ignorable code points and noncharacters are dropped, the two wave dashes are one, lone
surrogates become U+FFFD.
"""

import re
import unicodedata
from functools import lru_cache

_WAVE_DASH, _FULL_WIDTH_TILDE = "\u301c", "\uff5e"

# DerivedCoreProperties.txt, Default_Ignorable_Code_Point, the same from Unicode 14 to 17
# (the property is kept reserved in whole blocks, so new versions add characters, not ranges).
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NONCHARACTER = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
_DROPPED = re.compile(f"[{_IGNORABLE}{_NONCHARACTER}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# One cheap pass tells that a text has nothing to drop; a single range for all that is astral
# keeps it 5 times faster than the exact set, and astral characters are rare.
_SUSPECT = re.compile(
    f"[{_IGNORABLE.split(chr(0x1BCA0))[0]}\ud800-\udfff\ufdd0-\ufdef\ufffe-\U0010ffff{_WAVE_DASH}]"
)
# `unicodedata.normalize` sorts a run of marks in quadratic time: a run is sorted before that.
_SHORT = 512
_LONG_RUN = 30


def normalize(text: str) -> str:
    """Return the folded text; doing it twice changes nothing more."""
    if _SUSPECT.search(text):
        text = _SURROGATE.sub("\ufffd", _DROPPED.sub("", text))
        text = text.replace(_WAVE_DASH, _FULL_WIDTH_TILDE)
    if len(text) > _SHORT:
        text = _sort_long_runs(text)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def is_dropped(character: str) -> bool:
    """Tell whether folding leaves nothing of it."""
    return _DROPPED.match(character) is not None


@lru_cache(maxsize=8192)
def joins(character: str) -> bool:
    """Tell whether something before it may combine with it, or change places with it.

    Every second half of a canonical composition is a mark, or a Hangul vowel or final.
    """
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


def _sort_long_runs(text: str) -> str:
    """Put long runs of combining marks into canonical order; changes nothing that NFKC sees."""
    marks = [c for c in set(text) if _is_reordered(c)]
    if not marks:
        return text
    run = re.compile(f"[{re.escape(''.join(marks))}]{{{_LONG_RUN},}}")
    return run.sub(_sorted_run, text)


@lru_cache(maxsize=8192)
def _is_reordered(character: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0


def _sorted_run(run: re.Match[str]) -> str:
    decomposed = "".join(unicodedata.normalize("NFKD", mark) for mark in run[0])
    return "".join(sorted(decomposed, key=unicodedata.combining))
