"""Which tables are attached: the table `sakuin_attached`, one row an index."""

import json
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from sakuin.app.attach_errors import AttachError
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
_VERSION = 1
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


@dataclass(frozen=True, slots=True)
class Records:
    """What the table says: attachments by name, and a sentence for each row it cannot read."""

    attachments: tuple[Attachment, ...] = ()
    unreadable: tuple[str, ...] = ()

    def collections(self) -> list[Collection]:
        """Return the indexes; triggers for a model's index make none."""
        tables = (each.table for each in self.attachments)
        return [collection_of(table) for table in tables if not table.triggers_only]


def read_attached(connection: Connection) -> list[Collection]:
    """Return the collections of all attached tables, by name; [] where none ever was.

    [] too for an account that may not read them: it has what it was given, such as paragraphs.
    """
    return read_records(connection).collections()


def unreadable_attachments(connection: Connection) -> list[str]:
    """Return a sentence for each attachment whose record cannot be read here."""
    return list(read_records(connection).unreadable)


def read_records(connection: Connection) -> Records:
    """Return what is attached, as far as it can be read; nothing for an account that may not."""
    try:
        return _records(connection)
    except DBAPIError as error:
        if _code(error) == _DENIED:
            return Records()
        raise


def collection_of(table: AttachedTable) -> Collection:
    """Return an attached table as a collection."""
    index = Index(table.name, table.fields(), TableLoader(table))
    return Collection(index, table.title, table.url)


def attachments(connection: Connection) -> list[Attachment]:
    """Return what is attached, by name, but for records that cannot be read."""
    return list(_records(connection).attachments)


def attachment(connection: Connection, name: str) -> Attachment | None:
    """Return the attachment of this name, or None; AttachError when its record is unreadable."""
    found = _records(connection, name)
    for sentence in found.unreadable:
        raise AttachError(sentence)
    return next(iter(found.attachments), None)


def _records(connection: Connection, name: str | None = None) -> Records:
    sql = "SELECT name, config, filled_to, is_filled FROM sakuin_attached"
    try:
        rows = (
            execute(connection, f"{sql} ORDER BY name")
            if name is None
            else execute(connection, f"{sql} WHERE name = ?", name)
        ).mappings()
    except DBAPIError as error:
        if is_missing(error):
            return Records()
        raise
    found, unreadable = [], []
    for row in rows:
        try:
            table = _read_config(row["name"], row["config"])
        except (ValueError, TypeError) as error:
            what = "; ".join(each.strip() for each in str(error).splitlines()[:3])
            unreadable.append(
                f"index {row['name']!r} cannot be used: its record in {ATTACHED} cannot be read "
                f"({what}). Update Sakuin on this host, if another attached it"
            )
        else:
            found.append(Attachment(table, row["filled_to"], bool(row["is_filled"])))
    return Records(tuple(found), tuple(unreadable))


def _read_config(name: str, config: str) -> AttachedTable:
    raw = json.loads(config)
    version = raw.get("version", _VERSION) if isinstance(raw, dict) else None
    if version != _VERSION:
        raise ValueError(f"version {version}, and this Sakuin reads version {_VERSION}")
    table = _CONFIG.validate_json(config)
    if table.name != name:
        raise ValueError(f"it is of index {table.name!r}")
    if not table.triggers_only:
        collection_of(table)
    return table


def _write_config(table: AttachedTable) -> str:
    return json.dumps({"version": _VERSION, **_CONFIG.dump_python(table, mode="json")})


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
        _write_config(table),
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
