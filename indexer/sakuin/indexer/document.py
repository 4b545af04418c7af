"""Documents as they are indexed, and the fields an index declares. No engine, no database."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one index.

    `searched` are folded, cut into tokens and stored; `stored` are kept beside them to be shown
    and are never searched. Names are identifiers; the two sets do not overlap.
    """

    searched: tuple[str, ...]
    stored: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse names that cannot be fields."""
        names = self.searched + self.stored
        reserved = {"id", "n", "at", "digest"}
        if not self.searched:
            raise ValueError("an index needs at least one searched field")
        for name in names:
            if not name.isidentifier() or name in reserved:
                raise ValueError(f"{name!r} cannot be the name of a field: use an identifier")
        if len(set(names)) != len(names):
            raise ValueError(f"a field is named twice in {names}")


@dataclass(frozen=True, slots=True)
class Document:
    """One document: what a loader gives to an index, and what a search gives back.

    `id` is a string always (a composite key is its JSON array as text); `number` (>= 0, 63 bits)
    orders by id; `at` (microseconds since 1970 UTC, may be negative) orders newest and oldest;
    `digest` (unsigned 64 bits) tells whether two versions of a document are the same.
    `text` holds every field of the index, searched and stored, as the original text.
    """

    id: str
    number: int
    at: int
    digest: int
    text: Mapping[str, str]
