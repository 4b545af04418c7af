"""Opens the engine for a database address: MariaDB/MySQL by PyMySQL, or a SQLite file."""

from sqlalchemy import Engine, make_url
from sqlalchemy.exc import ArgumentError

from sakuin.queue.errors import DatabaseRefused
from sakuin.queue.mysql_engine import open_mysql
from sakuin.queue.sqlite_engine import open_sqlite


def open_engine(url: str, *, is_lean: bool = False) -> Engine:
    """Return an engine whose sessions keep the queue's promises; it connects on first use.

    The application may keep its own tables by the same engine. With `is_lean` nobody looks whether
    a pooled connection still lives, which saves two round trips a transaction: for who does
    everything by `replay` and `read`, which notice it. Raises DatabaseRefused, which
    names the remedy, for an address that will not do; the server's version is checked on the
    first connection.
    """
    try:
        address = make_url(url)
        driver = address.get_driver_name()
    except (ArgumentError, ValueError) as error:
        raise DatabaseRefused(
            "not a database address: write mysql+pymysql://user:password@host/database "
            "or sqlite:///path/to/file.db"
        ) from error
    match address.get_backend_name(), driver:
        case "mysql", "pymysql":
            return open_mysql(address, is_lean=is_lean)
        case "sqlite", "pysqlite":
            return open_sqlite(address)
        case "mysql" | "mariadb", _:
            remedy = "write mysql+pymysql://user:password@host/database"
        case _:
            remedy = "use mysql+pymysql://user:password@host/database or sqlite:///path/to/file.db"
    raise DatabaseRefused(f"the address begins with {address.drivername!r}: {remedy}")
