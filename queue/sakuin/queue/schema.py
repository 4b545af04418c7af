"""Makes and upgrades the tables; safe to repeat, and for two processes at once."""

from typing import Literal

from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.exc import OperationalError

from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.errors import SchemaMismatch
from sakuin.queue.replay import read, replay
from sakuin.queue.step import Step
from sakuin.queue.tables import STEPS, TABLES, VERSION_TABLE_MYSQL, VERSION_TABLE_SQLITE

_DUPLICATE_COLUMN = 1060
_LOCK_ROW = 0
"""Step 0 is no step: whoever holds this row is the one that changes the tables."""


def create_schema(engine: Engine) -> None:
    """Bring the queue's tables up to date; who finds them so needs no right to create any.

    Raises SchemaMismatch if they are of a newer version.
    """
    if read(engine, is_schema_current):
        return
    if engine.dialect.name == "sqlite":
        replay(engine, create_schema_on)
    else:
        replay(engine, _make_version_table)
        replay(engine, lambda holder: _upgrade_mysql(engine, holder))


def create_schema_on(connection: Connection) -> None:
    """Bring the tables up to date on one connection, as a migration does; nobody else may, now.

    On MySQL each statement commits by itself.
    """
    is_mysql = dialect_of(connection).name == "mysql"
    connection.exec_driver_sql(VERSION_TABLE_MYSQL if is_mysql else VERSION_TABLE_SQLITE)
    insert = "INSERT IGNORE" if is_mysql else "INSERT OR IGNORE"
    execute(connection, f"{insert} INTO sakuin_queue_steps (number) VALUES (?)", _LOCK_ROW)
    for step in _missing(connection):
        _apply(connection, step.number, step.mysql if is_mysql else step.sqlite)


def drop_schema_on(connection: Connection) -> None:
    """Drop the tables, with every message that is in them."""
    for table in TABLES:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")


def schema_sql(dialect: Literal["mysql", "sqlite"]) -> str:
    """Return the statements that make the tables in an empty database, as a script."""
    parts = [VERSION_TABLE_MYSQL if dialect == "mysql" else VERSION_TABLE_SQLITE]
    for step in STEPS:
        parts += step.mysql if dialect == "mysql" else step.sqlite
    insert = "INSERT IGNORE" if dialect == "mysql" else "INSERT OR IGNORE"
    numbers = ", ".join(f"({number})" for number in (_LOCK_ROW, *(step.number for step in STEPS)))
    parts.append(f"{insert} INTO sakuin_queue_steps (number) VALUES {numbers}")
    return ";\n\n".join(parts) + ";\n"


def is_schema_current(connection: Connection) -> bool:
    """Tell whether the tables are there and up to date; SchemaMismatch when they are newer."""
    return inspect(connection).has_table("sakuin_queue_steps") and not _missing(connection)


def _make_version_table(connection: Connection) -> None:
    connection.exec_driver_sql(VERSION_TABLE_MYSQL)
    execute(connection, "INSERT IGNORE INTO sakuin_queue_steps (number) VALUES (?)", _LOCK_ROW)


def _upgrade_mysql(engine: Engine, holder: Connection) -> None:
    """Hold the lock row on one connection, because each DDL statement commits its own."""
    execute(
        holder, "SELECT number FROM sakuin_queue_steps WHERE number = ? FOR UPDATE", _LOCK_ROW
    ).all()
    for step in _missing(holder):
        with engine.begin() as connection:
            _apply(connection, step.number, step.mysql)


def _missing(connection: Connection) -> list[Step]:
    applied = set(execute(connection, "SELECT number FROM sakuin_queue_steps").scalars())
    newest = STEPS[-1].number
    if max(applied, default=0) > newest:
        raise SchemaMismatch(
            f"the queue's tables are at step {max(applied)}, this version knows {newest}: "
            "upgrade sakuin"
        )
    return [step for step in STEPS if step.number not in applied]


def _apply(connection: Connection, number: int, statements: tuple[str, ...]) -> None:
    for statement in statements:
        try:
            connection.exec_driver_sql(statement)
        except OperationalError as error:
            # MySQL commits each by itself: who was stopped between two steps did this one before.
            if error.orig is None or error.orig.args[0] != _DUPLICATE_COLUMN:
                raise
    insert = "INSERT IGNORE" if dialect_of(connection).name == "mysql" else "INSERT OR IGNORE"
    execute(connection, f"{insert} INTO sakuin_queue_steps (number) VALUES (?)", number)
