"""Words near each other, in any order (`"a b"~5`): where in a settled text they stand so.

Counted are units: a word of a spaced script is one, any other visible character is one, a blank
is none. One place is taken of each part, none overlapping another, and the window from the first
to the last may hold `distance` units beside them. A part that stands there once more is beside
them too, like any other text. As every place begins and ends where a unit does, places are
compared in units.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from sakuin.indexer.standing import standing
from sakuin.indexer.tokens import count_units, units_before

_AT_ONCE = 4_000
_MOST_LOOKS = 100_000
_MOST_PLACES, _MOST_SETS = 2**12, 2**17


class _Place(NamedTuple):
    """Units first..last, counted from some place before, are a part: characters start..end."""

    first: int
    last: int
    part: int
    start: int
    end: int


# For sets of parts (bit masks): the unit where the shortest window with a place of each begins.
_Windows = dict[int, int]


class NearParts:
    """Words asked to be near each other, settled as the texts are in which they are looked for.

    `places_seen` counts where they stood in the texts looked at: most of the work done.
    """

    def __init__(self, parts: Sequence[str], distance: int) -> None:
        self._parts, self.places_seen = parts, 0
        self._room = distance + sum(map(count_units, parts))
        numbers = range(len(parts))
        self._equals = _equals(parts, numbers)
        self._equals_backwards = _equals(parts, reversed(numbers))
        self._others = [(1 << len(parts)) - 1 ^ 1 << number for number in numbers]

    def are_in(self, settled: str) -> bool:
        """Tell whether they stand near enough to each other in a text."""
        for places in _neighbourhoods(settled, self._parts, self._room):
            self.places_seen += len(places)
            for place, windows in _chains(places, self._room, self._equals):
                first = windows.get(self._others[place.part])
                if first is not None and place.last - first <= self._room:
                    return True
        return False

    def spans_in(self, settled: str) -> list[tuple[int, int]]:
        """Return where one of them belongs to a small enough window: characters start..end.

        They come ascending. Of very many places the first are looked at, in bounded time.
        """
        near = set[tuple[int, int]]()
        left = min(_MOST_PLACES, _MOST_SETS >> len(self._parts))
        for some in _neighbourhoods(settled, self._parts, self._room, _MOST_LOOKS):
            places = some[:left]
            near |= {(each.start, each.end) for each in self._in_windows(places)}
            left -= len(places)
            if not left:
                break
        return sorted(near)

    def _in_windows(self, places: Sequence[_Place]) -> Iterator[_Place]:
        """Yield each place that others stand before and behind, so that it is small enough."""
        before = [windows for _, windows in _chains(places, self._room, self._equals)]
        turned = sorted(map(_mirrored, places))
        chains = _chains(turned, self._room, self._equals_backwards)
        behind = {_mirrored(place): windows for place, windows in chains}
        for place, windows in zip(places, before, strict=True):
            others = self._others[place.part]
            earlier = {0: place.first, **windows}
            later = {0: -place.last, **behind[place]}
            if any(
                -later[others ^ mask] - first <= self._room
                for mask, first in earlier.items()
                if not mask & ~others and others ^ mask in later
            ):
                yield place


def _mirrored(place: _Place) -> _Place:
    """Return the place as the text read backwards has it."""
    return _Place(-place.last, -place.first, place.part, place.start, place.end)


def _equals(parts: Sequence[str], numbers: Iterable[int]) -> dict[int, int]:
    """Return for each part the set of the one equal to it before it, if any.

    Equal parts take their places in this order: otherwise each would be tried at each place.
    """
    last: dict[str, int] = {}
    sets = {}
    for number in numbers:
        sets[number] = last.get(parts[number], 0)
        last[parts[number]] = 1 << number
    return sets


def _chains(
    places: Iterable[_Place], room: int, equals: Mapping[int, int]
) -> Iterator[tuple[_Place, _Windows]]:
    """Yield each of the ascending places, and the windows before it that are near enough to it.

    Each place makes those windows longer by itself, and they count from where it ends: so time
    grows with the places, times the sets of parts that stand near each other.
    """
    windows: _Windows = {}
    waiting: list[tuple[int, int, int]] = []
    for place in places:
        least = place.last - room
        windows = {mask: first for mask, first in windows.items() if first >= least}
        while waiting and waiting[0][0] <= place.first:
            _, mask, first = heappop(waiting)
            if first >= windows.get(mask, least):
                windows[mask] = first
        yield place, windows
        own, needed = 1 << place.part, equals[place.part]
        if not needed:
            heappush(waiting, (place.last, own, place.first))
        for mask, first in windows.items():
            if not mask & own and mask & needed == needed:
                heappush(waiting, (place.last, mask | own, first))


def _neighbourhoods(
    text: str, parts: Sequence[str], room: int, most: int | None = None
) -> Iterator[list[_Place]]:
    """Yield all places around those of the rarest part, as many of it at once as is good.

    A place may come twice; each of the rarest part comes once with all that are near enough.
    """
    counts = [text.count(part) for part in parts]
    if not all(counts):
        return
    if len(text) <= _AT_ONCE:
        yield _places(text, parts, 0, len(text))
        return
    rarest = parts[counts.index(min(counts))]
    low = high = 0
    for start, end, fits in islice(standing(text, rarest), most):
        if fits and (start > high or high - low > _AT_ONCE):
            if high:
                yield _places(text, parts, low, high)
            low = _reach(text, start, -1, room)
        if fits:
            high = _reach(text, end, 1, room)
    if high:
        yield _places(text, parts, low, high)


def _reach(text: str, at: int, step: int, room: int) -> int:
    """Go back (-1) or on (1) by at least so many units, if there are so many."""
    size = 2 * room + 50
    while True:
        reached = min(max(at + step * size, 0), len(text))
        part = text[at:reached] if step > 0 else text[reached:at]
        if reached in (0, len(text)) or count_units(part) > room + 1:  # the last may be cut
            return reached
        size *= 2


def _places(text: str, parts: Sequence[str], low: int, high: int) -> list[_Place]:
    """Return the places of all parts that begin at characters low..high, ascending."""
    found: list[tuple[int, int, int]] = []
    for number, part in enumerate(parts):
        for start, end, fits in standing(text, part, low):
            if start >= high:
                break
            if fits:
                found.append((start, end, number))
    if not found:
        return []
    last = max(end for _, end, _ in found)
    units = units_before(text[low:last])
    return sorted(
        _Place(units[start - low], units[end - low], number, start, end)
        for start, end, number in found
    )
