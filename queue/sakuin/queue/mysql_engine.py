"""The engine for MariaDB and MySQL: READ COMMITTED, strict, utf8mb4, whatever the server says."""

import re
from typing import Any

import pymysql
from sqlalchemy import URL, Engine, create_engine, event

from sakuin.queue.errors import DatabaseRefused

OLDEST_MARIADB = (10, 6, 0)
OLDEST_MYSQL = (8, 0, 13)
"""SKIP LOCKED (MariaDB 10.6, MySQL 8.0.1) and defaults that are expressions (MySQL 8.0.13)."""

_SESSION = (
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
    "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout = 10"
)
_TIMEOUTS = {"connect_timeout": 5, "read_timeout": 120, "write_timeout": 120}


def open_mysql(url: URL, *, is_lean: bool = False) -> Engine:
    """Return the engine for a `mysql+pymysql` address; `?read_timeout=` and the like win."""
    charset = url.query.get("charset", "utf8mb4")
    if charset != "utf8mb4":
        raise DatabaseRefused(f"charset={charset} in the address: leave it out, it is utf8mb4")
    if not url.database:
        raise DatabaseRefused("the address names no database: end it with /database")
    engine = create_engine(
        url.update_query_dict({"charset": "utf8mb4"}),
        isolation_level="READ COMMITTED",
        pool_pre_ping=not is_lean,
        pool_reset_on_return=None if is_lean else "rollback",  # ending a transaction is ours then
        hide_parameters=True,  # errors are logged, users' text is not
        connect_args={name: most for name, most in _TIMEOUTS.items() if name not in url.query},
    )
    event.listen(engine, "connect", _prepare_session)
    return engine


def _prepare_session(connection: "pymysql.Connection[Any]", _record: object) -> None:
    check_server(connection.get_server_info())
    with connection.cursor() as cursor:
        cursor.execute(_SESSION)


def check_server(version: str) -> None:
    """Raise DatabaseRefused for a server that lacks what the queue needs."""
    numbers = re.findall(r"(\d+)\.(\d+)\.(\d+)", version.removeprefix("5.5.5-"))
    found = tuple(int(number) for number in numbers[0]) if numbers else (0, 0, 0)
    is_mariadb = "mariadb" in version.lower()
    if found < (OLDEST_MARIADB if is_mariadb else OLDEST_MYSQL):
        raise DatabaseRefused(
            f"the database server is {version}: MariaDB 10.6 or MySQL 8.0.13 is the oldest that "
            "can keep a queue; upgrade it, or use another server"
        )
