"""A guess at what was meant: words that are near to what was typed, before they are tried."""

import math
from dataclasses import dataclass

_A_STEP = 1.5  # an edit costs as much as documents that are 30 times fewer


@dataclass(frozen=True, slots=True)
class Guess:
    """Folded words for one, how many edits away they are, and how many documents may hold them."""

    words: tuple[str, ...]
    distance: float
    documents: int = 1

    @property
    def worth(self) -> float:
        """The nearer and the more frequent, the more."""
        return math.log10(max(self.documents, 1)) - _A_STEP * self.distance


def most_edits(text: str) -> int:
    """Return how many edits may lie between a text and what was meant; none for the shortest."""
    return 0 if len(text) < 3 else 1 if len(text) < 6 else 2
