"""What a database account lacks to attach a table, and the statement that gives it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine as Database
from sqlalchemy.exc import DBAPIError

from sakuin.app.attach_errors import AttachError, NotAllowed
from sakuin.queue import DatabaseBusy

_DENIED, _DENIED_COLUMN, _DENIED_SCHEMA, _NO_SUPER, _NEEDS, _TIMED_OUT = (
    1142,
    1143,
    1044,
    1419,
    1227,
    1205,
)
_COMMAND = re.compile(r"(\w+(?:, \w+)*) command denied .* for (?:table|column) [`']([^']*)[`']")
_PRIVILEGES = re.compile(r"need \(at least one of\) the (.+?) privilege")


@contextmanager
def explain(database: Database, place: str) -> Iterator[None]:
    """Turn the block's errors about privileges and locks into sentences that name the remedy."""
    try:
        yield
    except DBAPIError as error:
        code = error.orig.args[0] if error.orig is not None and error.orig.args else None
        if code == _TIMED_OUT:
            raise DatabaseBusy(
                f"rows of {place} are held by a long transaction: try again later"
            ) from error
        remedy = _remedy(database, code, str(error.orig), place)
        if remedy is None:
            raise
        raise NotAllowed(remedy) from error


def _remedy(database: Database, code: object, text: str, place: str) -> str | None:
    if code not in (_DENIED, _DENIED_COLUMN, _DENIED_SCHEMA, _NO_SUPER, _NEEDS):
        return None
    who = _account(database)
    if code == _NO_SUPER:
        return (
            "the server keeps a binary log, so making triggers needs SUPER or a setting. An "
            "administrator runs one of:\n"
            "  SET GLOBAL log_bin_trust_function_creators = 1;  (and puts it into the server's "
            "configuration)\n"
            f"  GRANT SUPER ON *.* TO {who};"
        )
    if code == _NEEDS and (found := _PRIVILEGES.search(text)):
        return (
            f"a privilege is missing. An administrator runs:\n  GRANT {found[1]} ON *.* TO {who};"
        )
    if code in (_DENIED, _DENIED_COLUMN) and (found := _COMMAND.search(text)):
        command = "SELECT" if found[1] == "SHOW" else found[1]
        on = found[2].replace("`", "").partition(".")
        schema, table = (on[0], on[2]) if on[1] else (str(database.url.database), on[0])
        if table == "sakuin_attached":  # may be missing: who may create it may do so
            command = "SELECT, INSERT, UPDATE, DELETE, CREATE"
        return (
            f"the privilege {command} is missing on {schema}.{table}. An administrator runs:\n"
            f"  GRANT {command} ON `{schema}`.`{table}` TO {who};"
        )
    schema = place.rpartition(".")[0] or database.url.database
    return (
        f"a privilege is missing: {text}. An administrator runs:\n"
        f"  GRANT SELECT, TRIGGER ON `{schema}`.* TO {who};"
    )


def _account(database: Database) -> str:
    """Return the account as GRANT names it."""
    try:
        with database.connect() as connection:
            found = str(connection.exec_driver_sql("SELECT CURRENT_USER()").scalar_one())
    except DBAPIError as error:
        raise AttachError(f"the account cannot be read: {error.orig}") from error
    user, _, host = found.rpartition("@")
    return f"'{user}'@'{host}'"
