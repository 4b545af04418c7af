"""Which tables are attached: the table `sakuin_attached`, one row an index."""

from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from sakuin.app.attached_table import AttachedTable
from sakuin.app.collection import Collection
from sakuin.app.table_loader import TableLoader
from sakuin.indexer.index import Index
from sakuin.queue.dialect import execute

ATTACHED = "sakuin_attached"
"""The table's name."""

_CREATE_MYSQL = """\
CREATE TABLE IF NOT EXISTS sakuin_attached (
  name VARCHAR(63) NOT NULL PRIMARY KEY,
  config LONGTEXT NOT NULL,
  filled_to TEXT NULL,
  is_filled TINYINT NOT NULL DEFAULT 0,
  silent TINYINT NOT NULL DEFAULT 0
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""

_CREATE_SQLITE = """\
CREATE TABLE IF NOT EXISTS sakuin_attached (
  name TEXT NOT NULL PRIMARY KEY,
  config TEXT NOT NULL,
  filled_to TEXT NULL,
  is_filled INTEGER NOT NULL DEFAULT 0,
  silent INTEGER NOT NULL DEFAULT 0
)"""

_NO_TABLE, _DENIED = 1146, 1142
_CONFIG = TypeAdapter(AttachedTable)


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attached table, and how far its rows were pushed: `filled_to` is the last id so far."""

    table: AttachedTable
    filled_to: str | None
    is_filled: bool


def create_attached(connection: Connection) -> None:
    """Create the table where it is not there; who finds it needs no right to create any."""
    if not inspect(connection).has_table("sakuin_attached"):
        is_sqlite = connection.dialect.name == "sqlite"
        connection.exec_driver_sql(attached_sql("sqlite" if is_sqlite else "mysql"))


def attached_sql(dialect: Literal["mysql", "sqlite"]) -> str:
    """Return the statement that makes the table."""
    return _CREATE_SQLITE if dialect == "sqlite" else _CREATE_MYSQL


def read_attached(connection: Connection) -> list[Collection]:
    """Return the collections of all attached tables, by name; [] where none ever was.

    [] too for an account that may not read them: it has what it was given, such as paragraphs.
    """
    try:
        return [collection_of(each.table) for each in attachments(connection)]
    except DBAPIError as error:
        if _code(error) == _DENIED:
            return []
        raise


def collection_of(table: AttachedTable) -> Collection:
    """Return an attached table as a collection."""
    index = Index(table.name, table.fields(), TableLoader(table))
    return Collection(index, table.title, table.url)


def attachments(connection: Connection) -> list[Attachment]:
    """Return what is attached, by name."""
    try:
        rows = execute(
            connection, "SELECT config, filled_to, is_filled FROM sakuin_attached ORDER BY name"
        ).mappings()
    except DBAPIError as error:
        if is_missing(error):
            return []
        raise
    return [
        Attachment(_CONFIG.validate_json(row["config"]), row["filled_to"], bool(row["is_filled"]))
        for row in rows
    ]


def attachment(connection: Connection, name: str) -> Attachment | None:
    """Return the attachment of this name, or None."""
    return next((each for each in attachments(connection) if each.table.name == name), None)


def is_missing(error: DBAPIError) -> bool:
    """Tell whether an error says that there is no such table."""
    return _code(error) == _NO_TABLE or "no such table" in str(error.orig)


def _code(error: DBAPIError) -> object:
    return error.orig.args[0] if error.orig is not None and error.orig.args else None


def write_attached(connection: Connection, table: AttachedTable, *, is_filled: bool) -> None:
    """Record an attachment; unless `is_filled`, all its rows are to be pushed (again)."""
    execute(connection, "DELETE FROM sakuin_attached WHERE name = ?", table.name)
    execute(
        connection,
        "INSERT INTO sakuin_attached (name, config, is_filled) VALUES (?, ?, ?)",
        table.name,
        _CONFIG.dump_json(table).decode(),
        int(is_filled),
    )


def write_filled(connection: Connection, name: str, filled_to: str | None) -> None:
    """Record how far the rows were pushed; None: to the end."""
    execute(
        connection,
        "UPDATE sakuin_attached SET filled_to = ?, is_filled = ? WHERE name = ?",
        filled_to,
        int(filled_to is None),
        name,
    )


def delete_attached(connection: Connection, name: str) -> None:
    """Forget an attachment."""
    execute(connection, "DELETE FROM sakuin_attached WHERE name = ?", name)
