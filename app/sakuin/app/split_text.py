"""Lines → paragraphs, streaming. Knows what a paragraph may be, and no encoding."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from sakuin.app.decode_text import BadLine
from sakuin.app.paragraph import MOST_BODY_BYTES, check_body
from sakuin.app.refused import Refused


class Split(StrEnum):
    """What a paragraph is: a line, what stands between blank lines, or a whole file."""

    LINE = "line"
    BLANK = "blank"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Block:
    """The text of one paragraph, or the reason why it cannot be stored; `line` is where."""

    line: int
    body: str
    reason: str | None = None


def split_blocks(
    lines: Iterable[str | BadLine], split: Split, on_blank: Callable[[], None]
) -> Iterator[Block]:
    """Yield the paragraphs of a text, good and bad, in order; `on_blank` is told of blank lines.

    Blank lines are in none, except between the lines of a whole file. Lines of one paragraph
    are joined by LF. One bad line makes its paragraph bad.
    """
    if split is Split.LINE:
        for number, line in enumerate(lines, start=1):
            if isinstance(line, BadLine):
                yield Block(number, "", line.reason)
            elif line.strip():
                yield _checked(number, line)
            else:
                on_blank()
        return
    growing = _Growing()
    for number, line in enumerate(lines, start=1):
        if isinstance(line, str) and not line.strip():
            if split is Split.BLANK:
                yield from growing.finish()
            growing.blanks += 1
            on_blank()
        else:
            growing.add(number, line)
    yield from growing.finish()


@dataclass(slots=True)
class _Growing:
    """A paragraph that more lines may come to; keeps no more text than can be stored."""

    first: int = 0
    size: int = 0
    lines: list[str] = field(default_factory=list)
    blanks: int = 0
    bad: Block | None = None

    def add(self, number: int, line: str | BadLine) -> None:
        """Add a line, after the blank ones before it."""
        blanks, self.blanks = (self.blanks if self.first else 0), 0
        self.first = self.first or number
        if self.bad:
            return
        if isinstance(line, BadLine):
            self.bad = Block(number, "", line.reason)
            return
        self.size += len(line) + 1 + blanks
        if self.size > MOST_BODY_BYTES + 1:
            reason = f"takes more than {MOST_BODY_BYTES:,} bytes: split it"
            self.bad = Block(self.first, "", reason)
            self.lines = []
            return
        self.lines += [*[""] * blanks, line]

    def finish(self) -> Iterator[Block]:
        """Yield the paragraph, if there is one, and begin the next."""
        if self.first:
            yield self.bad or _checked(self.first, "\n".join(self.lines))
        self.first, self.size, self.lines, self.blanks, self.bad = 0, 0, [], 0, None


def _checked(line: int, body: str) -> Block:
    try:
        return Block(line, check_body(body))
    except Refused as error:
        return Block(line, "", error.reason)
