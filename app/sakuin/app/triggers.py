"""The triggers of an attached table: they push the id of every row that is changed.

A trigger compares and pushes, nothing else: what a row says, and whether it is within `where`,
the loader finds out later.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from sakuin.app.attached_table import AttachedTable, Column
from sakuin.app.table_sql import TableSql, place_of, table_sql
from sakuin.queue.dialect import execute

EVENTS = ("insert", "update", "delete")
SILENT_VARIABLE = "@sakuin_silent"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger that exists: on which table, and what it does."""

    name: str
    table: str
    sql: str


def trigger_name(table: AttachedTable, event: str) -> str:
    """Return the name of a table's trigger for an event."""
    return f"sakuin_{table.name}_{event}"


def trigger_statements(connection: Connection, table: AttachedTable) -> dict[str, str]:
    """Return the CREATE TRIGGER statements by the triggers' names."""
    sql = table_sql(connection)
    messages = sql.quote(messages_schema(connection), "sakuin_messages")
    make = _sqlite if sql.is_sqlite else _mysql
    return {trigger_name(table, event): make(sql, table, messages, event) for event in EVENTS}


def script(connection: Connection, statements: Iterable[str]) -> str:
    """Return statements as the database's own command line takes them."""
    if connection.dialect.name == "sqlite":
        return "\n\n".join(f"{each};" for each in statements)
    return "\n\n".join(["DELIMITER //", *(f"{each} //" for each in statements), "DELIMITER ;"])


def messages_schema(connection: Connection) -> str | None:
    """Return the schema of Sakuin's own tables; None on SQLite."""
    return None if connection.dialect.name == "sqlite" else connection.engine.url.database


def _mysql(sql: TableSql, table: AttachedTable, messages: str, event: str) -> str:
    name, place = sql.quote(table.schema, trigger_name(table, event)), place_of(sql, table)
    loud = f"{SILENT_VARIABLE} IS NULL"
    key = sql.key_json("OLD" if event == "delete" else "NEW", table.key)
    if event == "update":
        old = sql.key_json("OLD", table.key)
        loud += f" AND NOT (\n    {_same(sql, table.columns())})"
        key = f"IF({_same(sql, table.key)}, '', CONCAT({old}, ', ')), {key}"
    data = f"CONVERT(CONCAT('{{\"ids\": [', {key}, ']}}') USING utf8mb4)"
    return (
        f"CREATE TRIGGER {name} AFTER {event.upper()} ON {place} FOR EACH ROW\n"  # noqa: S608  quoted names
        f"IF {loud} THEN\n"
        f"  INSERT INTO {messages} (queue, data)\n"
        f"  VALUES ('{table.queue}', {data});\n"
        "END IF"
    )


def _sqlite(sql: TableSql, table: AttachedTable, messages: str, event: str) -> str:
    name, place = sql.quote(trigger_name(table, event)), place_of(sql, table)
    silent = f"SELECT silent FROM sakuin_attached WHERE name = '{table.name}'"  # noqa: S608  checked
    loud = f"({silent}) IS NOT 1"
    at = "OLD" if event == "delete" else "NEW"
    # What cannot be a key (SQLite keeps anything anywhere) is no reason to let a save fail.
    key, is_key = sql.key_json(at, table.key), sql.are_keys(at, table.key)
    if event == "update":
        old, was_key = sql.key_json("OLD", table.key), sql.are_keys("OLD", table.key)
        loud += f" AND NOT (\n    {_same(sql, table.columns())})"
        key = (
            f"CASE WHEN {_same(sql, table.key)} OR NOT ({was_key}) THEN ''"
            f" WHEN {is_key} THEN {old} || ', ' ELSE {old} END"
            f" || CASE WHEN {is_key} THEN {key} ELSE '' END"
        )
        is_key = f"({was_key} OR {is_key})"
    loud += f" AND {is_key}"
    return (
        f"CREATE TRIGGER {name} AFTER {event.upper()} ON {place} WHEN {loud}\n"  # noqa: S608  quoted names
        "BEGIN\n"
        f"  INSERT INTO {messages} (queue, data)\n"
        f"  VALUES ('{table.queue}', CAST('{{\"ids\": [' || {key} || ']}}' AS BLOB));\n"
        "END"
    )


def _same(sql: TableSql, columns: Iterable[Column]) -> str:
    return " AND\n    ".join(sql.same(column) for column in columns)


def existing_triggers(connection: Connection, table: AttachedTable) -> Mapping[str, Trigger]:
    """Return the triggers of our names that are there, ours or not, by name."""
    names = [trigger_name(table, event) for event in EVENTS]
    if table.schema is None:
        rows = execute(
            connection,
            "SELECT name, tbl_name, sql FROM sqlite_master"
            " WHERE type = 'trigger' AND name IN (?, ?, ?)",
            *names,
        )
    else:
        rows = execute(
            connection,
            "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_STATEMENT"
            " FROM information_schema.TRIGGERS"
            " WHERE TRIGGER_SCHEMA = ? AND TRIGGER_NAME IN (?, ?, ?)",
            table.schema,
            *names,
        )
    return {name: Trigger(name, on, str(sql)) for name, on, sql in map(tuple, rows)}


def is_ours(connection: Connection, table: AttachedTable, trigger: Trigger) -> bool:
    """Tell whether a trigger pushes into this index's queue, in these tables."""
    messages = table_sql(connection).quote(messages_schema(connection), "sakuin_messages")
    return f"INSERT INTO {messages} " in trigger.sql and f"'{table.queue}'" in trigger.sql


def is_current(table: AttachedTable, trigger: Trigger, statement: str) -> bool:
    """Tell whether a trigger does, on this table, what the statement says."""
    body = statement if table.schema is None else statement.partition("FOR EACH ROW\n")[2]
    return trigger.table == table.table and trigger.sql.strip() == body


def drop_statement(connection: Connection, table: AttachedTable, name: str) -> str:
    """Return the statement that drops a trigger."""
    return f"DROP TRIGGER IF EXISTS {table_sql(connection).quote(table.schema, name)}"
