"""Which row of a source is which line of its new text. Pure; knows texts by digest only.

compare   what stands where it stood is kept and forgotten, the rest is remembered
match     the same text, in order, is the same row; what stands between the same neighbours
          is a row that was edited; other rows are gone, other lines are new
in_steps  the order in which rows can go to their positions, each of them free by then
"""

import hashlib
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from sakuin.app.save import NewParagraph

K = TypeVar("K", bound=Hashable)


class Stored(NamedTuple):
    """A row as it is in the table."""

    position: int
    id: int
    body: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row that does not stand where its text stands now. `after`: the last kept position."""

    id: int
    position: int
    digest: bytes
    after: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not at its place yet; `place` finds its text of `size` bytes again."""

    position: int
    digest: bytes
    after: int
    place: int
    size: int


@dataclass(slots=True)
class Differences:
    """What has to be matched. `last` is the new text's last position, `seal` a hash of it all."""

    rows: list[Row] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    last: int = 0
    seal: int = 0


@dataclass(frozen=True, slots=True)
class Matched:
    """Rows that become lines, rows that are gone, and lines that are new, each in order."""

    pairs: list[tuple[Row, Line]]
    gone: list[Row]
    new: list[Line]

    def keeping_all(self, last: int) -> "Matched":
        """Let the rows that are gone stay, for a text that was read in part, `last` being its end.

        They stay where they are, where a line was refused, and otherwise go behind the end.
        """
        taken = {line.position for _, line in self.pairs} | {line.position for line in self.new}
        pairs, behind = list(self.pairs), last
        for row in self.gone:
            end = row.position
            if end > last or end in taken:
                end = behind = max(behind + 1, end)
            pairs.append((row, Line(end, row.digest, 0, 0, 0)))
        return Matched(pairs, [], self.new)


@dataclass(frozen=True, slots=True)
class Step:
    """A row goes from a position to another, or stays, and takes the text of `edit` if given."""

    id: int
    start: int
    end: int
    edit: Line | None = None


def seal(before: int, position: int, body: str) -> int:
    """Return the hash, good in this process, of a text that goes on with this paragraph."""
    return hash((before, position, body))


def compare(
    rows: Iterable[Stored],
    lines: Iterable[NewParagraph],
    keep_text: Callable[[bytes], int],
    on_kept: Callable[[], None],
) -> Differences:
    """Walk through both by position, which must ascend; `keep_text` puts a new text somewhere."""
    found, kept = Differences(), 0
    for row, line in _side_by_side(iter(rows), iter(lines)):
        if line is not None:
            found.last, found.seal = line.position, seal(found.seal, line.position, line.body)
            if row is not None and row.body == line.body:
                kept = line.position
                on_kept()
                continue
            text = line.body.encode()
            place = keep_text(text)
            found.lines.append(Line(line.position, _digest(text), kept, place, len(text)))
        if row is not None:
            found.rows.append(Row(row.id, row.position, _digest(row.body.encode()), kept))
    return found


def match(rows: Sequence[Row], lines: Sequence[Line]) -> Matched:
    """Match the rows with the lines. Every text keeps as many rows as it can."""
    same = _InOrder([row.digest for row in rows])
    taken = [same.take(line.digest) for line in lines]
    is_used = bytearray(len(rows))
    for index in taken:
        if index is not None:
            is_used[index] = 1
    spare = _InOrder(
        list(_neighbours(rows, [i if used else None for i, used in enumerate(is_used)]))
    )
    pairs: list[tuple[Row, Line]] = []
    new: list[Line] = []
    for line, index, neighbour in zip(lines, taken, _neighbours(lines, taken), strict=True):
        if index is None:
            index = spare.take(neighbour)
        if index is None:
            new.append(line)
        else:
            is_used[index] = 1
            pairs.append((rows[index], line))
    return Matched(pairs, [row for row, used in zip(rows, is_used, strict=True) if not used], new)


def in_steps(pairs: Sequence[tuple[Row, Line]], last: int) -> tuple[list[Step], list[Step]]:
    """Return what to do first and what to do then; `last` is the last position of other rows.

    First, a row of every ring (each wants the place of the next) is parked behind them all.
    Done in order, one by one or many at once, every step finds its position free.
    """
    first: list[Step] = []
    then: list[Step] = []
    waiting: dict[int, Step] = {}
    beyond = max((max(row.position, line.position) for row, line in pairs), default=0)
    beyond = max(beyond, last)
    for row, line in pairs:
        edit = line if row.digest != line.digest else None
        step = Step(row.id, row.position, line.position, edit)
        if step.start != step.end:
            waiting[step.start] = step
        elif edit is not None:
            then.append(step)
    while waiting:
        start, step = waiting.popitem()
        path = [step]
        while (blocker := waiting.pop(path[-1].end, None)) is not None:
            path.append(blocker)
        if path[-1].end == start:
            beyond += 1
            first.append(Step(step.id, start, beyond))
            path[0] = Step(step.id, beyond, step.end, step.edit)
        then += reversed(path)
    return first, then


class _InOrder(Generic[K]):
    """The indices that have a key, handed out in order; some bytes an entry, whatever the keys."""

    def __init__(self, keys: Sequence[K]) -> None:
        self._first: dict[K, int] = {}
        self._following = array("q", [-1]) * len(keys)
        for index in range(len(keys) - 1, -1, -1):
            self._following[index] = self._first.get(keys[index], -1)
            self._first[keys[index]] = index

    def take(self, key: K) -> int | None:
        """Return the key's next index; None when there is none left."""
        index = self._first.get(key, -1)
        if index < 0:
            return None
        self._first[key] = self._following[index]
        return index


def _neighbours(items: Iterable[Row | Line], taken: Iterable[int | None]) -> Iterator[int | None]:
    """Yield for each item that has no row the one before it that has: a name the two texts share.

    Kept ones are named by minus their position, matched ones by the row's index + 1.
    """
    after, neighbour = 0, 0
    for item, index in zip(items, taken, strict=True):
        if item.after != after:
            after, neighbour = item.after, -item.after
        if index is not None:
            neighbour = index + 1
        yield neighbour if index is None else None


def _side_by_side(
    rows: Iterator[Stored], lines: Iterator[NewParagraph]
) -> Iterator[tuple[Stored | None, NewParagraph | None]]:
    row, line = next(rows, None), next(lines, None)
    while row is not None or line is not None:
        if line is None or (row is not None and row.position < line.position):
            yield row, None
            row = next(rows, None)
        elif row is None or line.position < row.position:
            yield None, line
            line = next(lines, None)
        else:
            yield row, line
            row, line = next(rows, None), next(lines, None)


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).digest()
