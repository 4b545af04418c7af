"""What a model says of its search, checked against its columns: `__searchable__` → Fields."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Enum, String, type_coerce
from sqlalchemy.dialects import mysql
from sqlalchemy.orm import Mapper

from sakuin.app.model_key import KINDS
from sakuin.indexer.document import Fields, Filter, FilterKind
from sakuin.indexer.fold import DEFAULT_FOLDING, Folding

ATTRIBUTE = "__searchable__"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = datetime.resolution


class BadDeclaration(ValueError):
    """A model's `__searchable__` cannot be used: says what in it, and what would be right."""


@dataclass(frozen=True, slots=True)
class SearchFields:
    """What is searched of a model, where a mapping of names and weights does not say enough.

    Names are those of mapped columns. `fields` are searched, with their weights; `stored` are
    shown beside them. `filters` are values to ask for (`category:5`, `published_at:2024..`):
    texts, whole numbers, or times (without a zone they are UTC). `created` names the time that
    gives the orders newest and oldest (NULL counts as 1970), `place` the text and the number,
    both filters, that give the order source. `title` and `url` are what a hit is called and
    where it leads: `{name}` and `{id}` are filled in. `where` is called with the class and
    returns the condition that rows of the index meet. `index` is its name, the table's where
    left out. `text_ids`: numbers beyond 0..2**63-1 are keys, and order as texts.
    """

    fields: Mapping[str, float]
    stored: Sequence[str] = ()
    filters: Sequence[str] = ()
    created: str | None = None
    place: tuple[str, str] | None = None
    title: str = ""
    url: str = ""
    where: Callable[[Any], ColumnElement[bool]] | None = None
    index: str | None = None
    folding: Folding = DEFAULT_FOLDING
    text_ids: bool = False


def read_declaration(mapper: Mapper[Any]) -> SearchFields:
    """Return a model's `__searchable__`, whichever form it has; BadDeclaration otherwise."""
    found = getattr(mapper.class_, ATTRIBUTE, None)
    if isinstance(found, SearchFields):
        return found
    if isinstance(found, Mapping):
        return SearchFields(found)
    raise BadDeclaration(
        f"{mapper.class_.__name__}.{ATTRIBUTE} must be a mapping of column names and weights, as "
        f'{{"title": 2.0, "body": 1.0}}, or SearchFields(…), not {found!r}'
    )


def fields_of(mapper: Mapper[Any], declared: SearchFields) -> Fields:
    """Return the fields of a model's index; BadDeclaration names what cannot be one."""
    for name, weight in declared.fields.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise _bad(mapper, f"gives {name!r} the weight {weight!r}: use a number above 0")
        if kind_of(mapper, name) is not str:
            raise _bad(
                mapper, f"searches {name!r}, which is no text; put it into stored or filters"
            )
    for name in declared.stored:
        if kind_of(mapper, name) not in TEXTS:
            raise _bad(mapper, f"stores {name!r}, of a type that has no text of its own")
    if declared.created is not None and kind_of(mapper, declared.created) not in (datetime, date):
        raise _bad(mapper, f"takes {declared.created!r} for created, which is no time")
    kinds = key_kinds(mapper)
    try:
        return Fields(
            searched=tuple(declared.fields),
            stored=tuple(declared.stored),
            weights=tuple(float(weight) for weight in declared.fields.values()),
            filters=tuple(_filters(mapper, declared)),
            place=declared.place,
            timed=declared.created is not None,
            text_ids=declared.text_ids or kinds != (int,),
            folding=declared.folding,
        )
    except ValueError as error:
        raise _bad(mapper, f"cannot be used: {error}") from None


def key_kinds(mapper: Mapper[Any]) -> tuple[type, ...]:
    """Return the types of the primary key's columns; BadDeclaration where one cannot be an id."""
    kinds = tuple(_python_type(column) for column in mapper.primary_key)
    for column, kind in zip(mapper.primary_key, kinds, strict=True):
        if kind not in KINDS:
            raise _bad(
                mapper,
                f"needs ids: the key {column.name!r} is a {kind.__name__}; whole numbers, texts "
                "and UUIDs can be ids",
            )
    return kinds


def kind_of(mapper: Mapper[Any], name: str) -> type:
    """Return the Python type of a mapped column; BadDeclaration when there is no such column."""
    if name not in mapper.columns:
        known = ", ".join(dict.fromkeys(mapper.columns.keys()))
        raise _bad(mapper, f"names {name!r}, which is no mapped column; known: {known}")
    return _python_type(mapper.columns[name])


def selected(mapper: Mapper[Any], name: str) -> ColumnElement[Any]:
    """Return what to select for a column: its value, of an Enum the text that is stored."""
    attribute: ColumnElement[Any] = getattr(mapper.class_, name)
    if isinstance(mapper.columns[name].type, Enum | mysql.SET):
        return type_coerce(attribute, String)
    return attribute


def microseconds(moment: date) -> int:
    """Return the microseconds since 1970; a time without a zone, and a date, are UTC."""
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time.min)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


TEXTS: Mapping[type, Callable[[Any], str]] = {
    str: str,
    int: str,
    bool: lambda value: "true" if value else "false",
    float: repr,
    Decimal: str,
    UUID: str,
    datetime: datetime.isoformat,
    date: date.isoformat,
    time: time.isoformat,
}
"""How a value of each type is written as text."""

VALUES: Mapping[type, tuple[FilterKind, Callable[[Any], str | int]]] = {
    str: (FilterKind.KEYWORD, str),
    UUID: (FilterKind.KEYWORD, str),
    int: (FilterKind.NUMBER, int),
    bool: (FilterKind.NUMBER, int),
    datetime: (FilterKind.TIME, microseconds),
    date: (FilterKind.TIME, microseconds),
}
"""What kind of filter a value of each type is, and how it is written as one."""


def _filters(mapper: Mapper[Any], declared: SearchFields) -> Iterator[Filter]:
    for name in declared.filters:
        kind = kind_of(mapper, name)
        if kind not in VALUES:
            raise _bad(
                mapper,
                f"filters by {name!r}, a {kind.__name__}; texts, whole numbers and times can be",
            )
        yield Filter(name, VALUES[kind][0])


def _python_type(column: ColumnElement[Any]) -> type:
    if isinstance(column.type, Enum):
        return str
    try:
        return column.type.python_type
    except NotImplementedError:  # how SQLAlchemy says that a type has no Python type
        return object


def _bad(mapper: Mapper[Any], what: str) -> BadDeclaration:
    return BadDeclaration(f"{mapper.class_.__name__}.{ATTRIBUTE} {what}")
