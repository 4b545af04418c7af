"""Which segments of an index to merge, for an engine that asks. Knows no engine."""

from collections.abc import Sequence

AT_ONCE = 8


def to_merge(sizes: Sequence[int], new: int) -> list[int]:
    """Return the places of the segments to merge with a new one of `new` documents.

    Sizes count living documents. Segments are alike when their sizes have the same number of
    octal digits; as soon as 8 are alike they become one. So a document is copied about
    log8(documents) times in its life, and at most 7 segments of each of these sizes stand.
    """
    alike: dict[int, list[int]] = {}
    for place, size in enumerate(sizes):
        if size:
            alike.setdefault(_digits(size), []).append(place)
    merged: list[int] = []
    for digits, places in sorted(alike.items()):
        if len(places) + (_digits(new) == digits) >= AT_ONCE:
            merged += places
            new += sum(sizes[place] for place in places)
    return merged


def _digits(size: int) -> int:
    return len(f"{size:o}") if size else 0
