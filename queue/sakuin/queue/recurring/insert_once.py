"""Adds a row unless one of its key is there, without an error that would end the transaction."""

from sqlalchemy import Connection

from sakuin.queue.dialect import MYSQL, dialect_of, execute


def insert_once(connection: Connection, into: str, *values: object) -> bool:
    """Run `INSERT <into>` and tell whether it added the row; False: the key was there.

    It waits for a transaction that is adding the same key. MySQL's IGNORE would cut values that
    are too long: check them before.
    """
    insert = "INSERT IGNORE " if dialect_of(connection) is MYSQL else "INSERT OR IGNORE "
    return bool(execute(connection, insert + into, *values).rowcount)
