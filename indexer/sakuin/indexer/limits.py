"""How much one query may ask."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """The most code points, terms, and parentheses within parentheses of one query."""

    length: int = 1_000
    leaves: int = 64
    depth: int = 20


DEFAULT_LIMITS: Final = Limits()

MOST_NEAR_PARTS: Final = 8
MOST_DISTANCE: Final = 100
DEFAULT_DISTANCE: Final = 10
"""What `"a b"~` means without a number."""
