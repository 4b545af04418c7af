"""From places in folded text back to the original, at the cost of the places that are asked for.

Mapping 1 MiB takes 0.3 s, folding it 10 ms, and a result list shows a few hundred characters:
so the text is folded in pieces, and a piece is mapped when it is needed.
"""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field

from sakuin.indexer.fold import DEFAULT_FOLDING, Folding, fold, fold_with_map

_PIECE = 1_000
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the original, and where its folding begins in the settled text."""

    start: int
    end: int
    settled_start: int


@dataclass(slots=True)
class Located:
    """A text as searches see it (folded, each run of blanks one blank), with its way back."""

    original: str
    folding: Folding = DEFAULT_FOLDING
    settled: str = ""
    _pieces: list[_Piece] = field(default_factory=list)
    _maps: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Fold the text, piece by piece."""
        settled: list[str] = []
        start = length = 0
        while start < len(self.original):
            end = _next_cut(self.original, start + _PIECE)
            self._pieces.append(_Piece(start, end, length))
            settled.append(_with_single_blanks(fold(self.original[start:end], self.folding)))
            length += len(settled[-1])
            start = end
        self.settled = "".join(settled)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the part of the original that made settled[start:end] (start < end)."""
        return self._span(start)[0], self._span(end - 1)[1]

    def settled_around(self, start: int, end: int) -> tuple[int, int]:
        """Return a part of the settled text that holds all of original[start:end], and more."""
        starts = [piece.start for piece in self._pieces]
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end)
        behind = self._pieces[last].settled_start if last < len(starts) else len(self.settled)
        return self._pieces[first].settled_start, behind

    def _span(self, at: int) -> tuple[int, int]:
        number = bisect_right(self._pieces, at, key=lambda piece: piece.settled_start) - 1
        piece = self._pieces[number]
        if number not in self._maps:
            self._maps[number] = _map(self.original[piece.start : piece.end], self.folding)
        start, end = self._maps[number][at - piece.settled_start]
        return piece.start + start, piece.start + end


def _with_single_blanks(text: str) -> str:
    """Return the text with each run of blanks as one; 4 times faster than by an expression."""
    inner = " ".join(text.split())
    before = " " if text[:1].isspace() else ""
    return before + inner + (" " if inner and text[-1:].isspace() else "")


def _map(text: str, folding: Folding) -> list[tuple[int, int]]:
    """Return the span of the original for each character of the settled text."""
    folded = fold_with_map(text, folding)
    spans = list(folded.spans)
    settled: list[tuple[int, int]] = []
    at = 0
    for blanks in _BLANKS.finditer(folded.text):
        settled += spans[at : blanks.start()]
        settled.append((spans[blanks.start()][0], spans[blanks.end() - 1][1]))
        at = blanks.end()
    return settled + spans[at:]


def _next_cut(text: str, at: int) -> int:
    """Return the next place where folding both sides apart changes nothing.

    Before a character that decomposes into nothing, combines with nothing, and is no blank (so
    that a run of blanks stays in one piece).
    """
    while at < len(text) and not _stands_alone(text[at]):
        at += 1
    return min(at, len(text))


def _stands_alone(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Lo", "Ll", "Lu", "Nd", "Po", "Ps", "So")
        and not unicodedata.decomposition(character)
        and not "\u1100" <= character <= "\u11ff"
    )
