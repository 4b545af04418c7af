"""Where in a settled text words stand that are asked to be near each other, counted in units."""

from collections.abc import Iterator, Sequence
from typing import Final

from sakuin.indexer.errors import NearTooCommon
from sakuin.indexer.standing import standing
from sakuin.indexer.tokens import count_units, units_before

_AT_ONCE: Final = 4_000
_CHARACTERS_A_STEP: Final = 4

Place = tuple[int, int, int, int]
"""Units first to last, counted from somewhere before; which part; its first character."""


class Steps:
    """What may be looked at before it is too much. Counted, not timed: the same everywhere.

    A step is a place of a word, or 4 characters around such places, or a set of words found
    beside a place of a word that may overlap one of them.
    """

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def take(self, steps: int) -> None:
        """Note that so many were taken. Raises NearTooCommon when they are more than were left."""
        self._left -= steps
        if self._left < 0:
            raise NearTooCommon(f"the words have too many places, for {self._most:,} steps")


def neighbourhoods(
    text: str, parts: Sequence[str], room: int, steps: Steps
) -> Iterator[list[Place]]:
    """Yield all places around those of the rarest part, as many of it at once as is good.

    A place may come twice; each of the rarest part comes once with all that are near enough.
    """
    counts = [text.count(part) for part in parts]
    if not all(counts):
        return
    if len(text) <= _AT_ONCE:
        yield _places(text, parts, 0, len(text), steps)
        return
    rarest = parts[counts.index(min(counts))]
    low = last = -1
    for start, end, fits in standing(text, rarest):
        steps.take(1)
        if not fits:
            continue
        full = last - low > _AT_ONCE
        if low >= 0 and (full or start > last + room):  # no unit is less than a character
            high = _reach(text, last, 1, room, steps)
            if full or start > high:
                yield _places(text, parts, low, high, steps)
                low = -1
        if low < 0:
            low = _reach(text, start, -1, room, steps)
        last = end
    if low >= 0:
        yield _places(text, parts, low, _reach(text, last, 1, room, steps), steps)


def _reach(text: str, at: int, step: int, room: int, steps: Steps) -> int:
    """Go back (-1) or on (1) by at least so many units, if there are so many."""
    size = 2 * room + 50
    while True:
        steps.take(1 + size // _CHARACTERS_A_STEP)
        reached = min(max(at + step * size, 0), len(text))
        part = text[at:reached] if step > 0 else text[reached:at]
        if reached in (0, len(text)) or count_units(part) > room + 1:  # the last may be cut
            return reached
        size *= 2


def _places(text: str, parts: Sequence[str], low: int, high: int, steps: Steps) -> list[Place]:
    """Return the places of all parts that begin at characters low..high, ascending."""
    found: list[tuple[int, int, int]] = []
    for number, part in enumerate(parts):
        for start, end, fits in standing(text, part, low):
            steps.take(1)
            if start >= high:
                break
            if fits:
                found.append((start, end, number))
    if not found:
        return []
    last = max(end for _, end, _ in found)
    steps.take((last - low) // _CHARACTERS_A_STEP)
    units = units_before(text[low:last])
    return sorted(
        (units[start - low], units[end - low], number, start) for start, end, number in found
    )
