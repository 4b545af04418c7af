"""Words near each other, in any order (`"a b"~5`): where in a settled text they stand so.

Counted are units: a word of a spaced script is one, any other visible character is one, a blank
is none. One place is taken of each part, none overlapping another, and the window from the first
to the last may hold `distance` units beside them. A part that stands there once more is beside
them too, like any other text. As every place begins and ends where a unit does, places are
compared in units.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Final

from sakuin.indexer.errors import NearTooCommon
from sakuin.indexer.near_places import Place, Steps, neighbourhoods
from sakuin.indexer.tokens import count_units, units_before

_MOST_MARKED: Final = 2**11
_MOST_SETS: Final = 2**14
_STEPS_OF_MARKS: Final = 25_000

# For sets of parts (bit masks): the unit where the shortest window with a place of each begins.
_Windows = dict[int, int]


class NearParts:
    """Words asked to be near each other, settled as the texts are in which they are looked for."""

    def __init__(self, parts: Sequence[str], distance: int) -> None:
        self._parts = parts
        self._room = distance + sum(map(count_units, parts))
        numbers = range(len(parts))
        self._equals = _equals(parts, numbers)
        self._equals_backwards = _equals(parts, reversed(numbers))
        self._others = [(1 << len(parts)) - 1 ^ 1 << number for number in numbers]
        self._groups = _may_overlap(parts)

    def are_in(self, settled: str, steps: Steps) -> bool:
        """Tell whether they stand near enough to each other in a text.

        Raises NearTooCommon if that takes more steps than are left.
        """
        return any(
            True
            for places in neighbourhoods(settled, self._parts, self._room, steps)
            for _ in self._ends(places, steps)
        )

    def spans_in(self, settled: str) -> list[tuple[int, int]]:
        """Return where one of them belongs to a small enough window: characters start..end.

        They come ascending. The time is bounded: if there are too many places to look at, those
        that were found until then; and of very many that are found, the first.
        """
        near = set[tuple[int, int]]()
        left = min(_MOST_MARKED, _MOST_SETS >> len(self._parts))
        steps = Steps(_STEPS_OF_MARKS)
        try:
            for some in neighbourhoods(settled, self._parts, self._room, steps):
                places = self._promising(some, steps)[:left]
                for _, _, part, start in self._in_windows(places):
                    near.add((start, start + len(self._parts[part])))
                left -= len(places)
                if not left:
                    break
        except NearTooCommon:
            pass  # what was found until then is marked
        return sorted(near)

    def _ends(self, places: Sequence[Place], steps: Steps) -> Iterator[int]:
        """Yield, ascending, the units where a small enough window of all parts ends.

        Words that cannot overlap each other need no more than their last places; of those that
        can, all windows that hold a whole group are looked for first.
        """
        ends: list[tuple[int, int, int]] = []
        for number, group in enumerate(self._groups):
            some = [place for place in places if group >> place[2] & 1]
            ends += ((last, first, number) for last, first in self._whole(some, group, steps))
        firsts = [-1 - self._room] * len(self._groups)
        for last, first, number in sorted(ends):
            firsts[number] = max(first, firsts[number])
            if last - min(firsts) <= self._room:
                yield last

    def _whole(
        self, places: Sequence[Place], group: int, steps: Steps
    ) -> Iterator[tuple[int, int]]:
        """Yield where windows with all parts of a group end and begin, the shortest of each end."""
        if group.bit_count() == 1:
            yield from ((last, first) for first, last, _, _ in places)
            return
        for (_, last, part, _), windows in _chains(places, self._room, self._equals, steps):
            begins = windows.get(group ^ 1 << part)
            if begins is not None:
                yield last, begins

    def _promising(self, places: Sequence[Place], steps: Steps) -> list[Place]:
        """Return the places that are no further from such an end than a window is long."""
        ends = self._ends(places, steps)
        end, found = next(ends, None), list[Place]()
        for place in sorted(places, key=lambda place: place[1]):
            while end is not None and end < place[1]:
                end = next(ends, None)
            if end is None:
                break
            if place[0] >= end - self._room:
                found.append(place)
        return sorted(found)

    def _in_windows(self, places: Sequence[Place]) -> Iterator[Place]:
        """Yield each place that others stand before and behind, so that it is small enough."""
        steps = Steps(2 * len(places) << len(self._parts))
        before = [windows for _, windows in _chains(places, self._room, self._equals, steps)]
        turned = sorted(map(_mirrored, places))
        chains = _chains(turned, self._room, self._equals_backwards, steps)
        behind = {_mirrored(place): windows for place, windows in chains}
        for place, windows in zip(places, before, strict=True):
            first, last, part, _ = place
            others = self._others[part]
            earlier = {0: first, **windows}
            later = {0: -last, **behind[place]}
            if any(
                -later[others ^ mask] - begins <= self._room
                for mask, begins in earlier.items()
                if not mask & ~others and others ^ mask in later
            ):
                yield place


def _mirrored(place: Place) -> Place:
    """Return the place as the text read backwards has it."""
    first, last, part, start = place
    return -last, -first, part, start


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


def _may_overlap(parts: Sequence[str]) -> list[int]:
    """Return the parts in sets, so that no two of different sets have a unit in common."""
    groups: list[tuple[int, set[str]]] = []
    for number, part in enumerate(parts):
        mine, units = 1 << number, _units(part)
        for group in [group for group in groups if group[1] & units]:
            groups.remove(group)
            mine, units = mine | group[0], units | group[1]
        groups.append((mine, units))
    return [group for group, _ in groups]


def _units(part: str) -> set[str]:
    """Return the words and other visible characters of a part."""
    units: dict[int, str] = {}
    for before, character in zip(units_before(part), part, strict=False):
        units[before] = units.get(before, "") + character
    return {unit.strip() for unit in units.values()} - {""}


def _chains(
    places: Iterable[Place], room: int, equals: Mapping[int, int], steps: Steps
) -> Iterator[tuple[Place, _Windows]]:
    """Yield each of the ascending places, and the windows before it that are near enough to it.

    Each place makes those windows longer by itself, and they count from where it ends: so time
    grows with the places, times the sets of parts that stand near each other.
    """
    windows: _Windows = {}
    waiting: list[tuple[int, int, int]] = []
    for place in places:
        begins, ends, part, _ = place
        least = ends - room
        windows = {mask: first for mask, first in windows.items() if first >= least}
        while waiting and waiting[0][0] <= begins:
            _, mask, first = heappop(waiting)
            if first >= windows.get(mask, least):
                windows[mask] = first
        steps.take(len(windows))
        yield place, windows
        own, needed = 1 << part, equals[part]
        if not needed:
            heappush(waiting, (ends, own, begins))
        for mask, first in windows.items():
            if not mask & own and mask & needed == needed:
                heappush(waiting, (ends, mask | own, first))
