"""The query tree: what every engine can answer, and nothing that an engine's own parser reads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """A bare term or a quoted phrase: `text` as the user wrote it (folded by the engine's cut).

    Matches exactly where the folded characters occur contiguously in the folded text of `field`
    (None: of any searched field), at a word edge where the text begins or ends with a character
    of a spaced script (promise S1). With an open start (`*word`) or an open end (`word*`) it
    needs no word edge there. A text that folds to nothing matches nothing.
    """

    text: str
    field: str | None = None
    open_start: bool = False
    open_end: bool = False


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A word of letters and digits of a spaced script with gaps in it: `wom*n` = ("wom", "n").

    Matches where a whole word (a maximal run of such characters in the folded text) begins with
    the first folded piece, ends with the last, and holds the others between them in this order,
    none overlapping. An empty first or last piece leaves that side open. At least two pieces, of
    which one is not empty; each folds to letters, marks and numbers of spaced scripts only.
    """

    pieces: tuple[str, ...]
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """The document's whole value of a keyword filter, folded, is `text` (open end: begins so).

    `id` is a keyword filter where ids are texts, and compares unfolded.
    """

    field: str
    text: str
    open_end: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """The document has a value of a number or time filter, low <= value <= high (None: open).

    Times are microseconds since 1970 UTC. `id` (where ids are numbers) and `created` are filters
    of every index. A document without a value never matches.
    """

    field: str
    low: int | None
    high: int | None


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
class Near:
    """All of these phrases stand near each other in one field, in any order, none overlapping.

    Counted are units: a word of a spaced script is one, any other visible character is one, a
    blank is none. The smallest window of the folded text that holds an occurrence of each part
    has at most `distance` units that belong to no part. Two or more parts without open ends;
    their own `field` says nothing.
    """

    parts: tuple[Phrase, ...]
    distance: int
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """One token as the index holds it (folded and cut), and what its relevance is multiplied by."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class AnyOfTokens:
    """At least `least` of these tokens occur in the document, each in any searched field.

    Its score is the sum over the tokens that occur of weight times relevance (times the field's
    weight); no other order of the tokens counts. For programs: the query language has no such
    form. The tokens differ from each other; `least` is at least 1.
    """

    tokens: tuple[Token, ...]
    least: int = 1


@dataclass(frozen=True, slots=True)
class Ids:
    """The document has one of these ids; adds nothing to the score."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Everything:
    """Matches every document."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Matches no document (an empty query)."""


Query = (
    Phrase
    | Wildcard
    | Near
    | AnyOfTokens
    | Ids
    | Value
    | Range
    | And
    | Or
    | Not
    | Everything
    | Nothing
)


def prefix(text: str, field: str | None = None) -> Phrase:
    """Return the query `text*`: as a phrase, but a word may go on after its end."""
    return Phrase(text, field, open_end=True)
