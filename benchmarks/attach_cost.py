"""What an attached table costs its program: the same saves, with the triggers and without.

    python benchmarks/attach_cost.py [--db sqlite] [--saves 2000]

Two tables that are alike, one attached; saves alternate between them, each a transaction of one
statement. Reports the medians, as saves a second.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

from sqlalchemy import Connection
from sqlalchemy import Engine as Database

from report import Report
from sakuin.app.attach import attach, plan
from sakuin.app.plan_attach import Wanted
from setting import add_arguments, fresh_parts
from text import paragraphs

MYSQL = "BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY"
WARMING = 50
TABLES = ("plain", "attached")
Save = Callable[[Connection, str, int, str], None]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    parser.add_argument("--saves", type=int, default=2000, help="of each kind (default: 2000)")
    arguments = parser.parse_args()
    lines = paragraphs(None, arguments.saves)
    report = Report(
        f"attach_cost: medians of {len(lines):,} saves each, {arguments.db}",
        ("statement", "alone/s", "attached/s", "ratio"),
    )
    with fresh_parts(arguments) as parts:
        database = parts.database
        _make(database)
        for name, save in (("INSERT", _insert), ("UPDATE", _update), ("DELETE", _delete)):
            plain, attached = _rates(database, lines, save)
            report.add(name, plain, attached, attached / plain)
            report.conclude(f"{name} on an attached table / unattached, rate", attached / plain)
    report.write(arguments.json)


def _make(database: Database) -> None:
    key = "INTEGER PRIMARY KEY" if database.dialect.name == "sqlite" else MYSQL
    with database.begin() as connection:
        for table in TABLES:
            connection.exec_driver_sql(
                f"CREATE TABLE {table} (id {key}, title VARCHAR(100), body TEXT)"
            )
    attach(database, plan(database, Wanted("attached", ("title:2", "body"))))


def _rates(database: Database, lines: Sequence[str], save: Save) -> tuple[float, float]:
    """Return the rates of both tables, from the medians; the first saves only warm up."""
    seconds: dict[str, list[float]] = {table: [] for table in TABLES}
    with database.connect() as connection:
        for number, line in enumerate(lines, start=1):
            for table in TABLES if number % 2 else TABLES[::-1]:
                start = time.perf_counter()
                with connection.begin():
                    save(connection, table, number, line)
                seconds[table].append(time.perf_counter() - start)
    plain, attached = (1 / statistics.median(seconds[table][WARMING:]) for table in TABLES)
    return plain, attached


def _insert(connection: Connection, table: str, number: int, line: str) -> None:
    mark = _mark(connection)
    connection.exec_driver_sql(
        f"INSERT INTO {table} (id, title, body) VALUES ({mark}, {mark}, {mark})",
        (number, line[:20], line),
    )


def _update(connection: Connection, table: str, number: int, line: str) -> None:
    mark = _mark(connection)
    connection.exec_driver_sql(
        f"UPDATE {table} SET body = {mark} WHERE id = {mark}", (line[::-1], number)
    )


def _delete(connection: Connection, table: str, number: int, _line: str) -> None:
    connection.exec_driver_sql(f"DELETE FROM {table} WHERE id = {_mark(connection)}", (number,))


def _mark(connection: Connection) -> str:
    return "?" if connection.dialect.name == "sqlite" else "%s"


if __name__ == "__main__":
    main()
