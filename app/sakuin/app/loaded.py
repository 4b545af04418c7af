"""What loading a source did, and the error when somebody else did so at the same time."""

from dataclasses import dataclass

from sakuin.queue import DatabaseBusy


@dataclass(frozen=True, slots=True)
class Loaded:
    """Paragraphs added or changed; those left as they were (`moved` of them went to another
    position, since what is around them changed); and those deleted.
    """

    saved: int = 0
    unchanged: int = 0
    deleted: int = 0
    moved: int = 0

    def __add__(self, other: "Loaded") -> "Loaded":
        """Both together."""
        return Loaded(
            self.saved + other.saved,
            self.unchanged + other.unchanged,
            self.deleted + other.deleted,
            self.moved + other.moved,
        )


class SourceChanged(DatabaseBusy):
    """Somebody else changed the source meanwhile; every row is whole, and loading again repairs."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"source {source!r} was changed by someone else while it was loaded: load it again"
        )
        self.source = source
