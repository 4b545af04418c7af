"""The tables: made twice is made once, the script makes the same, a newer database is refused."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from databases import claimed, push_all
from sakuin.queue import SchemaMismatch, create_schema, replay, schema_sql
from sakuin.queue.dialect import execute
from sakuin.queue.tables import TABLES


def test_making_the_tables_again_changes_nothing(engine: Engine) -> None:
    push_all(engine, "q", b"a")
    create_schema(engine)
    create_schema(engine)
    assert claimed(engine) == [b"a"]


def test_tables_of_a_newer_version_are_refused(engine: Engine) -> None:
    replay(
        engine,
        lambda connection: execute(
            connection, "INSERT INTO sakuin_queue_steps (number) VALUES (?)", 99
        ),
    )
    with pytest.raises(SchemaMismatch, match=r"step 99.*upgrade sakuin"):
        create_schema(engine)


def tables(engine: Engine) -> list[str]:
    """Everything that defines the tables, as the database tells it."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            found = connection.exec_driver_sql(
                "SELECT sql FROM sqlite_master WHERE name LIKE 'sakuin%' ORDER BY name"
            )
            return [str(sql) for sql in found.scalars()]
        made = [connection.exec_driver_sql(f"SHOW CREATE TABLE {name}").one()[1] for name in TABLES]
        return [str(sql).partition(" AUTO_INCREMENT=")[0] for sql in made]


def test_the_script_makes_the_same_tables(
    database_url: str, open_database: Callable[[str], Engine], tmp_path: Path
) -> None:
    """`sakuin schema sql`, run by hand, leaves nothing for create_schema to do."""
    engine = open_database(database_url)
    kind = "sqlite" if engine.dialect.name == "sqlite" else "mysql"
    script = schema_sql(kind)  # type: ignore[arg-type]
    with engine.begin() as connection:
        for statement in script.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)
    by_script = tables(engine)
    create_schema(engine)
    assert tables(engine) == by_script
    assert len(by_script) >= len(TABLES)
    push_all(engine, "q", b"a")
    assert claimed(engine) == [b"a"]


@pytest.mark.parametrize("database_kind", ["mariadb"], indirect=True)
def test_names_and_tokens_compare_binary(engine: Engine) -> None:
    """The charset and collation are the tables' own, whatever the server's default is."""
    with engine.connect() as connection:
        database = connection.exec_driver_sql("SELECT DATABASE()").scalar_one()
        connection.exec_driver_sql(f"ALTER DATABASE {database} COLLATE utf8mb4_general_ci")
        collations = connection.exec_driver_sql(
            "SELECT DISTINCT collation_name FROM information_schema.columns"
            " WHERE table_schema = DATABASE() AND collation_name IS NOT NULL"
        )
        assert collations.scalars().all() == ["utf8mb4_bin"]
    for made in tables(engine):
        assert "utf8mb4_bin" in made


def test_the_sqlite_script_runs_in_plain_sqlite(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "plain.db") as connection:
        connection.executescript(schema_sql("sqlite"))
        connection.execute("INSERT INTO sakuin_messages (data) VALUES ('x')")
        row = connection.execute(
            "SELECT queue, priority, attempts, locked_until, due_at, created_at"
            " FROM sakuin_messages"
        ).fetchone()
    connection.close()
    assert row[:3] == ("default", 5, 0)
    assert row[3] == row[4] == row[5]
    assert len(row[3]) == len("2026-01-01 00:00:00.000000")
