"""Words near each other, the naive way: every choice of places is tried (promises S1, S3)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from oracle import has_edges


def is_near(parts: Sequence[str], body: str, distance: int) -> bool:
    """Tell whether settled parts stand near each other in a settled body."""
    return any(near_choices(parts, body, distance))


def near_choices(parts: Sequence[str], body: str, distance: int) -> Iterator[list[tuple[int, int]]]:
    """Yield each choice of a place for every part that is near enough, as spans of characters."""
    if not all(parts):
        return
    for choice in product(*(list(_places(part, body)) for part in parts)):
        spans = sorted(choice)
        if all(one[1] <= other[0] for one, other in pairwise(spans)):
            gaps = [body[a[1] : b[0]] for a, b in pairwise(spans)]
            if sum(map(units, gaps)) <= distance:
                yield spans


def units(text: str) -> int:
    """Count words of spaced scripts, and characters of others, in a text cut at edges."""
    spread = "".join(one if has_edges(one) else f" {one.strip()} " for one in text)
    return len(spread.split())


def _places(part: str, body: str) -> Iterator[tuple[int, int]]:
    for start in range(len(body) - len(part) + 1):
        end = start + len(part)
        cuts = [body[at - 1 : at + 1] for at in (start, end) if 0 < at < len(body)]
        if body[start:end] == part and not any(all(map(has_edges, pair)) for pair in cuts):
            yield start, end
