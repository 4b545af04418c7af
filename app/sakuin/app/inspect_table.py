"""Reading what a table is made of: its key, its columns, its storage engine."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, inspect, types
from sqlalchemy.dialects import mysql
from sqlalchemy.exc import DBAPIError, NoSuchTableError
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
_OWN = "sakuin_"
_NO_SCHEMA = 1049
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

    def key_columns(self) -> tuple[Column, ...]:
        """Return the key. SQLite knows whole numbers, texts and bytes; else a key is anything."""
        key = tuple(self.columns[name] for name in self.key)
        return key if self.schema is not None else tuple(map(_as_sqlite_keeps_it, key))

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
    if name.lower().startswith(_OWN):
        raise AttachError(f"{place} is Sakuin's own: a trigger on it would push what it pushes")
    try:
        found, key = _reflect(connection, schema, name)
    except DBAPIError as error:
        if error.orig is None or error.orig.args[:1] != (_NO_SCHEMA,):
            raise
        raise AttachError(
            f"{place} cannot be read: {error.orig}. Say [SCHEMA.]TABLE; a table whose own name has "
            "a dot cannot be attached"
        ) from error
    columns = {each["name"]: _column(each["name"], each["type"]) for each in found}
    if schema is None:
        columns = _with_affinities(connection, name, columns)
    else:
        columns = _with_charsets(connection, schema, name, columns)
    return TableFacts(
        schema=schema,
        name=name,
        key=tuple(key),
        columns=columns,
        generated=frozenset(each["name"] for each in found if each.get("computed")),
        engine="" if schema is None else _engine(connection, schema, name),
    )


def _reflect(
    connection: Connection, schema: str | None, name: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the columns as SQLAlchemy finds them, and the key; AttachError for what is no table.

    Raises the database's error where there is no such schema.
    """
    looking = inspect(connection)
    if not looking.has_table(name, schema) or name in looking.get_view_names(schema):
        raise AttachError(_no_table(connection, schema, name))
    try:
        found: list[dict[str, Any]] = [dict(each) for each in looking.get_columns(name, schema)]
        key = list(looking.get_pk_constraint(name, schema)["constrained_columns"])
    except NoSuchTableError:  # dropped just now
        raise AttachError(_no_table(connection, schema, name)) from None
    if schema is not None:  # it leaves ` in names as it is written in SQL
        found = [{**each, "name": each["name"].replace("``", "`")} for each in found]
        key = [each.replace("``", "`") for each in key]
    return found, key


def _engine(connection: Connection, schema: str, name: str) -> str:
    sql = "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"
    return str(execute(connection, sql, schema, name).scalar_one())


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


def _with_affinities(
    connection: Connection, name: str, columns: Mapping[str, Column]
) -> dict[str, Column]:
    """Tell what SQLite gives NUMERIC affinity for want of a better one: UUID, STRING, BINARY."""
    found = dict(columns)
    rows = execute(connection, "SELECT name, type FROM pragma_table_xinfo(?)", name)
    for column, declared in map(tuple, rows):
        if column in found and found[column].kind is Kind.DECIMAL:
            if "BINARY" in declared.upper():
                found[column] = Column(column, Kind.BINARY)
            elif not re.search("NUM|DEC", declared.upper()):
                found[column] = Column(column, Kind.ANY)
    return found


def _as_sqlite_keeps_it(column: Column) -> Column:
    known = (Kind.INTEGER, Kind.TEXT, Kind.BINARY, Kind.OTHER)
    return column if column.kind in known else Column(column.name, Kind.ANY)


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
