"""What of a text a query found: marked pieces of the original, whole or in short windows.

Gives pieces, never markup: who shows them escapes each text. Never raises.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sakuin.indexer.fold import DEFAULT_FOLDING, Folding
from sakuin.indexer.grapheme import cut_after, cut_before
from sakuin.indexer.locate import Located
from sakuin.indexer.occurrences import Occurrence, Occurrences, positive_terms
from sakuin.indexer.query import Query
from sakuin.indexer.windows import Window, head, window_around

DEFAULT_WIDTH = 300
MOST_WINDOWS = 3
_ELLIPSIS = " … "


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the original text; `hit`: a term of the query stands there."""

    text: str
    hit: bool


@dataclass(frozen=True, slots=True)
class Fragment:
    """One window of a text in pieces, and whether the text goes on before and after it."""

    pieces: tuple[Piece, ...]
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True, slots=True)
class Snippet:
    """The windows of a text that show best what was found, in the order of the text."""

    fragments: tuple[Fragment, ...]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces in one row, with an ellipsis wherever text was left out."""
        row: list[Piece] = []
        for number, fragment in enumerate(self.fragments):
            if fragment.cut_before and number == 0:
                row.append(Piece(_ELLIPSIS.lstrip(), hit=False))
            row += fragment.pieces
            if fragment.cut_after:
                is_last = number == len(self.fragments) - 1
                row.append(Piece(_ELLIPSIS.rstrip() if is_last else _ELLIPSIS, hit=False))
        return tuple(row)


def highlight(
    text: str, query: Query, *, folding: Folding = DEFAULT_FOLDING, field: str | None = None
) -> tuple[Piece, ...]:
    """Return the whole text in pieces; what the query excludes is not marked.

    Nor is what it asks for of another field than `field` (None: all of it is marked).
    Joined, the pieces are the text. A mark covers whole characters as a reader sees them; of a
    very long text the first 20,000 places are marked.
    """
    located = Located(text, folding)
    found = Occurrences(located.settled, positive_terms(query, folding, field))
    marks = _marks(located, found.between(0, len(located.settled)))
    return _pieces(text, Window(0, len(text)), marks)


def snippet(
    text: str,
    query: Query,
    width: int = DEFAULT_WIDTH,
    *,
    folding: Folding = DEFAULT_FOLDING,
    field: str | None = None,
) -> Snippet:
    """Return up to three windows, together about `width` columns (East Asian characters take 2).

    A text that fits is shown whole. Each term's first place comes before further places of one
    term; where nothing is found, the beginning is shown.
    """
    whole = head(text, width)
    if whole.end == len(text):
        pieces = highlight(text, query, folding=folding, field=field)
        return Snippet((Fragment(pieces, cut_before=False, cut_after=False),))
    located = Located(text, folding)
    found = Occurrences(located.settled, positive_terms(query, folding, field))
    anchors = _anchors(found, width // MOST_WINDOWS)
    windows = _windows(located, anchors, width) if anchors else [whole]
    return Snippet(
        tuple(
            Fragment(
                _pieces(text, window, _marks_within(located, found, window)),
                cut_before=window.start > 0,
                cut_after=window.end < len(text),
            )
            for window in windows
        )
    )


def _anchors(found: Occurrences, near: int) -> list[Occurrence]:
    """Pick places to show, none near another: first each term's first one, then further ones."""
    anchors: list[Occurrence] = []
    for place in found.firsts():
        if len(anchors) < MOST_WINDOWS and not _close(place, anchors, near):
            anchors.append(place)
    further = found.first_from(0)
    while further and len(anchors) < MOST_WINDOWS:
        close = _close(further, anchors, near)
        if not close:
            anchors.append(further)
        further = found.first_from(max(each.start for each in close or [further]) + near)
    return sorted(anchors)


def _close(place: Occurrence, anchors: Iterable[Occurrence], near: int) -> list[Occurrence]:
    return [each for each in anchors if abs(place.start - each.start) < near]


def _windows(located: Located, anchors: Sequence[Occurrence], width: int) -> list[Window]:
    """Return a window around each place; where they meet, they become one."""
    each = width // len(anchors)
    windows: list[Window] = []
    for anchor in anchors:
        span = _whole_span(located, anchor.start, anchor.end)
        window = window_around(located.original, *span, each)
        if windows and window.start <= windows[-1].end:
            windows[-1] = Window(windows[-1].start, max(windows[-1].end, window.end))
        else:
            windows.append(window)
    return windows


def _marks_within(located: Located, found: Occurrences, window: Window) -> list[tuple[int, int]]:
    return _marks(located, found.between(*located.settled_around(window.start, window.end)))


def _marks(located: Located, found: Iterable[Occurrence]) -> list[tuple[int, int]]:
    """Return the marked parts of the original, ascending, apart, of whole characters."""
    marks: list[tuple[int, int]] = []
    for place in found:
        start, end = _whole_span(located, place.start, place.end)
        if marks and start <= marks[-1][1]:
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        else:
            marks.append((start, end))
    return marks


def _whole_span(located: Located, start: int, end: int) -> tuple[int, int]:
    """Return the part of the original that made settled[start:end], widened to characters."""
    start, end = located.original_span(start, end)
    return cut_before(located.original, start), cut_after(located.original, end)


def _pieces(text: str, window: Window, marks: Iterable[tuple[int, int]]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    at = window.start
    for mark_start, mark_end in marks:
        start, end = max(mark_start, at), min(mark_end, window.end)
        if start < end:
            if at < start:
                pieces.append(Piece(text[at:start], hit=False))
            pieces.append(Piece(text[start:end], hit=True))
            at = end
    if at < window.end:
        pieces.append(Piece(text[at : window.end], hit=False))
    return tuple(pieces)
