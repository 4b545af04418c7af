"""What was said when a table was attached: which columns mean what. Values only, no SQL."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from sakuin.indexer.document import Fields, Filter, FilterKind
from sakuin.indexer.fold import Folding


class Kind(StrEnum):
    """What a column holds, as far as an index cares."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    TEXT = "text"
    CHOICE = "choice"
    DATE = "date"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    BINARY = "binary"
    UUID = "uuid"
    ANY = "any"  # SQLite: numbers and texts in one column
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `scale` counts a decimal's digits behind the point, texts have a charset."""

    name: str
    kind: Kind
    charset: str = ""
    collation: str = ""
    scale: int = 0


_FILTERS = {
    Kind.INTEGER: FilterKind.NUMBER,
    Kind.DECIMAL: FilterKind.NUMBER,
    Kind.TEXT: FilterKind.KEYWORD,
    Kind.CHOICE: FilterKind.KEYWORD,
    Kind.UUID: FilterKind.KEYWORD,
    Kind.ANY: FilterKind.KEYWORD,
    Kind.DATE: FilterKind.TIME,
    Kind.DATETIME: FilterKind.TIME,
    Kind.TIMESTAMP: FilterKind.TIME,
}


def filter_kind(column: Column) -> FilterKind | None:
    """Return what a filter on this column compares; None where there can be none."""
    return None if column.kind is Kind.DECIMAL and column.scale else _FILTERS.get(column.kind)


@dataclass(frozen=True, slots=True)
class AttachedTable:
    """A table and its index. `schema` is None on SQLite; `where` is the operator's own SQL.

    `watched` are the columns that only `where` names. `html` names the columns whose tags are
    taken out. `text_ids` is False for one whole number as the key, which then is never negative.
    `token` tells this attachment from others before and after it. `triggers_only`: the rows are
    those of the model whose index has this name.
    """

    name: str
    schema: str | None
    table: str
    key: tuple[Column, ...]
    searched: tuple[Column, ...]
    weights: tuple[float, ...]
    stored: tuple[Column, ...] = ()
    filters: tuple[Column, ...] = ()
    created: Column | None = None
    where: str = ""
    watched: tuple[Column, ...] = ()
    html: tuple[str, ...] = ()
    title: str = ""
    url: str = ""
    text_ids: bool = True
    folding: Folding = field(default_factory=Folding)
    token: str = ""
    triggers_only: bool = False

    @property
    def queue(self) -> str:
        """The queue that its triggers push into."""
        return f"index:{self.name}"

    @property
    def place(self) -> str:
        """The table's name for people."""
        return f"{self.schema}.{self.table}" if self.schema else self.table

    def fields(self) -> Fields:
        """Return the fields of the index; ValueError where they cannot be fields."""
        return Fields(
            searched=tuple(column.name for column in self.searched),
            stored=tuple(column.name for column in self.stored),
            weights=self.weights,
            filters=tuple(Filter(each.name, _filter_kind(each)) for each in self.filters),
            timed=self.created is not None,
            text_ids=self.text_ids,
            folding=self.folding,
            source=self.token,
        )

    def columns(self) -> Iterator[Column]:
        """Yield every column whose change changes the document, each once."""
        made = (self.created,) if self.created else ()
        seen = set()
        for column in (
            *self.key,
            *self.searched,
            *self.stored,
            *self.filters,
            *made,
            *self.watched,
        ):
            if column.name not in seen:
                seen.add(column.name)
                yield column


def _filter_kind(column: Column) -> FilterKind:
    kind = filter_kind(column)
    if kind is None:
        raise ValueError(f"column {column.name} ({column.kind.value}) cannot be a filter")
    return kind
