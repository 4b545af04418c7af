"""Short windows of a text, measured in columns and cut between characters and words."""

from dataclasses import dataclass

from sakuin.indexer.grapheme import columns, cut_after, cut_before
from sakuin.indexer.tokens import is_spaced

_LONGEST_NUDGE = 16


@dataclass(frozen=True, slots=True)
class Window:
    """Code points start..end of a text."""

    start: int
    end: int


def head(text: str, width: int) -> Window:
    """Return the beginning of a text, at most `width` columns; all of it if it fits.

    A first character that alone is too much is shown whole.
    """
    end, _ = _walk(text, 0, width, 1)
    return Window(0, end if end == len(text) else _some_end(text, 0, end))


def window_around(text: str, start: int, end: int, width: int) -> Window:
    """Return about `width` columns around text[start:end], two thirds of the rest behind it.

    What one side cannot use goes to the other. Too much for the width: it is cut behind.
    """
    reach, left = _walk(text, start, width, 1, stop=end)
    if reach < end:
        return Window(start, _some_end(text, start, reach))
    first, unused = _walk(text, start, left // 3, -1)
    last, unused = _walk(text, end, left - left // 3 + unused, 1)
    if unused:
        first, _ = _walk(text, first, unused, -1)
    return Window(_start(text, first, start), _end(text, end, last))


def _walk(text: str, at: int, width: int, step: int, stop: int = -1) -> tuple[int, int]:
    """Go `width` columns from `at` at most; return the place reached and the columns left.

    And no more than four code points a column, however many of them take no room.
    """
    stop = (len(text) if step > 0 else 0) if stop < 0 else stop
    most = 4 * width
    near = text[at : min(stop, at + most)] if step > 0 else text[max(stop, at - most) : at][::-1]
    gone = 0
    for needed in map(columns, near):
        if needed > width:
            break
        width -= needed
        gone += 1
    at += gone * step
    return at, width if at == stop else 0


def _start(text: str, at: int, most: int) -> int:
    """Move the start of a window forward to where a word begins, if that is near."""
    if at > 0:
        for place in range(at, min(most, at + _LONGEST_NUDGE) + 1):
            if not (_inside_word(text, place) or text[place : place + 1].isspace()):
                at = place
                break
    return min(cut_after(text, at), most)


def _some_end(text: str, start: int, at: int) -> int:
    end = _end(text, start, at)
    return end if end > start else cut_after(text, start + 1)


def _end(text: str, least: int, at: int) -> int:
    """Move the end of a window back to where a word ends, if that is near."""
    if at < len(text):
        for place in range(at, max(least, at - _LONGEST_NUDGE) - 1, -1):
            if not (_inside_word(text, place) or text[place - 1 : place].isspace()):
                at = place
                break
    return max(cut_before(text, at), least)


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and is_spaced(text[at - 1]) and is_spaced(text[at])
