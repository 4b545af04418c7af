"""Where a piece of text stands in another, both settled: folded, with single blanks (S1)."""

from collections.abc import Iterator

from sakuin.indexer.tokens import is_spaced


def standing(
    text: str, piece: str, start: int = 0, *, open_start: bool = False, open_end: bool = False
) -> Iterator[tuple[int, int, bool]]:
    """Yield each place from `start` on where the characters of a piece are.

    And whether it stands there: at a word edge wherever the piece begins or ends with a character
    of a spaced script, but for an open side.
    """
    edge_before = is_spaced(piece[0]) and not open_start
    edge_after = is_spaced(piece[-1]) and not open_end
    at = text.find(piece, start)
    while at >= 0:
        end = at + len(piece)
        yield (
            at,
            end,
            not (edge_before and at > 0 and is_spaced(text[at - 1]))
            and not (edge_after and end < len(text) and is_spaced(text[end])),
        )
        at = text.find(piece, at + 1)
