"""Reading what a table is made of: its key, its columns, its storage engine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, inspect, types
from sqlalchemy.dialects import mysql
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.types import TypeEngine

from sakuin.app.attach_errors import AttachError
from sakuin.app.attached_table import Column, Kind
from sakuin.queue.dialect import execute

# The first that fits: a subclass stands before its base.
_KINDS: tuple[tuple[type[TypeEngine[Any]] | tuple[type[TypeEngine[Any]], ...], Kind], ...] = (
    ((types.Enum, mysql.SET), Kind.CHOICE),
    (types.Uuid, Kind.UUID),
    (types.JSON, Kind.OTHER),
    ((mysql.BIT, mysql.YEAR), Kind.OTHER),
    ((types.Boolean, types.Integer), Kind.INTEGER),
    (types.Float, Kind.OTHER),
    (types.Numeric, Kind.DECIMAL),
    (types.String, Kind.TEXT),
    (types.TIMESTAMP, Kind.TIMESTAMP),
    (types.DateTime, Kind.DATETIME),
    (types.Date, Kind.DATE),
    (types.LargeBinary, Kind.BINARY),
    (types._Binary, Kind.BINARY),  # noqa: SLF001  the base of BINARY and VARBINARY has no other name
)
_NO_TRANSACTIONS = frozenset({"MyISAM", "Aria", "MEMORY", "CSV", "ARCHIVE", "MRG_MyISAM"})


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table as it is. `schema` is None on SQLite; `generated` names columns that are computed."""

    schema: str | None
    name: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]
    generated: frozenset[str]
    engine: str

    @property
    def is_transactional(self) -> bool:
        """Whether a row that is saved commits with its message."""
        return self.engine not in _NO_TRANSACTIONS

    def column(self, name: str) -> Column:
        """Return the column of this name, in whatever case; AttachError names those there are."""
        found = self.columns.get(name) or next(
            (each for each in self.columns.values() if each.name.lower() == name.lower()), None
        )
        if found is None:
            known = ", ".join(self.columns)
            raise AttachError(f"{self.name} has no column {name!r}; it has: {known}")
        return found


def inspect_table(connection: Connection, place: str) -> TableFacts:
    """Read the table `[schema.]table`; AttachError where there is none that can be attached."""
    schema, name = _split(connection, place)
    looking = inspect(connection)
    if not looking.has_table(name, schema) or name in looking.get_view_names(schema):
        raise AttachError(_no_table(connection, schema, name))
    try:
        found = looking.get_columns(name, schema)
        key = looking.get_pk_constraint(name, schema)["constrained_columns"]
    except NoSuchTableError:
        raise AttachError(_no_table(connection, schema, name)) from None
    columns = {each["name"]: _column(each["name"], each["type"]) for each in found}
    engine = ""
    if schema is not None:
        columns = _with_charsets(connection, schema, name, columns)
        engine = str(
            execute(
                connection,
                "SELECT ENGINE FROM information_schema.TABLES"
                " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
                schema,
                name,
            ).scalar_one()
        )
    return TableFacts(
        schema=schema,
        name=name,
        key=tuple(key),
        columns=columns,
        generated=frozenset(each["name"] for each in found if each.get("computed")),
        engine=engine,
    )


def _split(connection: Connection, place: str) -> tuple[str | None, str]:
    schema, dot, name = place.rpartition(".")
    if connection.dialect.name == "sqlite":
        if dot and schema != "main":
            raise AttachError(f"{place}: a trigger of SQLite sees one file only; name TABLE alone")
        known = inspect(connection).get_table_names()
        return None, next((each for each in known if each.lower() == name.lower()), name)
    return (schema or connection.engine.url.database), name


def _no_table(connection: Connection, schema: str | None, name: str) -> str:
    looking = inspect(connection)
    place = f"{schema}.{name}" if schema else name
    if name in looking.get_view_names(schema):
        return f"{place} is a view, and views have no triggers: attach the table under it"
    known = [each for each in looking.get_table_names(schema) if not each.startswith("sakuin_")]
    return f"there is no table {place}; there are: {', '.join(sorted(known)[:20]) or 'none'}"


def _column(name: str, kind: TypeEngine[Any]) -> Column:
    found = next((each for types, each in _KINDS if isinstance(kind, types)), Kind.OTHER)
    if isinstance(kind, types.Numeric) and found is Kind.DECIMAL:
        scale = kind.scale
        return Column(
            name, found, scale=10 if scale is None and kind.precision is None else scale or 0
        )
    return Column(name, found)


def _with_charsets(
    connection: Connection, schema: str, name: str, columns: Mapping[str, Column]
) -> dict[str, Column]:
    rows = execute(
        connection,
        "SELECT COLUMN_NAME, CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLUMNS"
        " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND CHARACTER_SET_NAME IS NOT NULL",
        schema,
        name,
    )
    found = dict(columns)
    for column, charset, collation in map(tuple, rows):
        found[column] = replace(columns[column], charset=charset, collation=collation)
    return found
