"""The query tree: what every engine can answer, and nothing that an engine's own parser reads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """A bare term or a quoted phrase: `text` as the user wrote it (folded by the engine's cut).

    Matches exactly where the folded characters occur contiguously in the folded text of any
    searched field, at a word edge where the text begins or ends with a character of a spaced
    script (promise S1). A text that folds to nothing matches nothing.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """As `Phrase`, but a word may go on after the end of `text` (`word*`)."""

    text: str


@dataclass(frozen=True, slots=True)
class And:
    """Every child matches the document (in whichever fields)."""

    children: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one child matches the document."""

    children: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The child does not match the document. Alone it means: all documents but those."""

    child: "Query"


@dataclass(frozen=True, slots=True)
class Everything:
    """Matches every document."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Matches no document (an empty query)."""


Query = Phrase | Prefix | And | Or | Not | Everything | Nothing
