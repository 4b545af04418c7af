"""Documents as they are indexed, and the fields an index declares. No engine, no database."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from sakuin.indexer.fold import DEFAULT_FOLDING, Folding


class FilterKind(StrEnum):
    """What the values of a filter are.

    A keyword is compared whole and folded; a number is a whole one of 64 bits; a time is in
    microseconds since 1970 UTC.
    """

    KEYWORD = "keyword"
    NUMBER = "number"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Filter:
    """A value of each document that queries can ask for: `name:value`, `name:>=5`."""

    name: str
    kind: FilterKind


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one index.

    `searched` are folded, cut into tokens and stored; `stored` are kept beside them to be shown
    and are never searched. Names are identifiers; the two sets do not overlap. `weights` (one
    for each searched field, 1.0 where left out) multiply the relevance of what is found there.

    `filters` are values beside the text; one may have the name of a stored field. Two more are
    always there: `id`, and `created` (the document's `at`) unless the documents are not `timed`.
    `place` names the keyword filter and the number filter that give the order of reading.
    `text_ids`: ids are texts and order as such; otherwise they are numbers.
    `folding` says what is one spelling; when it changes, the index must be rebuilt.
    `source` tells rows of one origin from those of another: generations of another count as none.
    """

    searched: tuple[str, ...]
    stored: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    filters: tuple[Filter, ...] = ()
    place: tuple[str, str] | None = None
    timed: bool = True
    text_ids: bool = False
    folding: Folding = DEFAULT_FOLDING
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse names that cannot be fields, and what does not fit together."""
        names = self.searched + self.stored
        if not self.searched:
            raise ValueError("an index needs at least one searched field")
        filters = [each.name for each in self.filters]
        for name in names + tuple(filters):
            if not name.isidentifier():
                raise ValueError(f"{name!r} cannot be the name of a field: use an identifier")
        for group in (names, filters + list(self.searched), [*filters, "id", "created"]):
            if len(set(group)) != len(group):
                raise ValueError(f"a field is named twice in {', '.join(group)}")
        if self.weights and len(self.weights) != len(self.searched):
            raise ValueError("weights: give one for each searched field, or none")
        if not all(0 < weight < 1000 for weight in self.weights):
            raise ValueError(f"weights must be above 0 and below 1,000, not {self.weights}")
        if self.place and [self.kind_of(one) for one in self.place] != [
            FilterKind.KEYWORD,
            FilterKind.NUMBER,
        ]:
            raise ValueError(f"place {self.place} must name a keyword filter and a number filter")

    def facts(self) -> dict[str, Any]:
        """Return what a generation depends on: everything but the weights."""
        facts = asdict(self)
        del facts["weights"]
        if not self.source:
            del facts["source"]
        facts["filters"] = {each.name: each.kind.value for each in self.filters}
        return facts

    def weight(self, name: str) -> float:
        """Return the weight of a searched field."""
        return self.weights[self.searched.index(name)] if self.weights else 1.0

    @property
    def names(self) -> tuple[str, ...]:
        """What may stand before a colon in a query: searched fields and filters."""
        built_in = ("id", "created") if self.timed else ("id",)
        return (*self.searched, *(each.name for each in self.filters), *built_in)

    def kind_of(self, name: str) -> FilterKind | None:
        """Return the kind of the filter of this name, built-in ones too; None if there is none."""
        if name == "id":
            return FilterKind.KEYWORD if self.text_ids else FilterKind.NUMBER
        if name == "created" and self.timed:
            return FilterKind.TIME
        return next((each.kind for each in self.filters if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Document:
    """One document: what a loader gives to an index, and what a search gives back.

    `id` is a string always (a composite key is its JSON array as text). `number` (>= 0, 63 bits)
    orders by id where ids are numbers, and is the id then; `at` (microseconds since 1970 UTC,
    may be negative) orders newest and oldest; `digest` (unsigned 64 bits) tells whether two
    versions of a document are the same. `text` holds every field of the index, searched and
    stored, as the original text; `values` those filters that the document has a value of:
    a text for a keyword, a whole number (64 bits, signed) for a number or a time.
    """

    id: str
    number: int
    at: int
    digest: int
    text: Mapping[str, str]
    values: Mapping[str, str | int] = field(default_factory=dict)
