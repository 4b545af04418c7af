"""Where the two SQL dialects differ, and how one statement is written for both.

A statement is a template: `?` is a value, `{now}` and the other names below are the dialect's own
spelling, `{ids}` a list of whole numbers. It runs at driver level (`exec_driver_sql`): compiling
would cost more than the database needs for these short statements.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import Connection, CursorResult

from sakuin.queue.errors import DatabaseRefused

IDS_A_STATEMENT = 500
"""MariaDB turns an IN list of 1,000 or more into a join (in_predicate_conversion_threshold)."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The spelling of one database. `later` holds one `?`, bound to `shift(seconds)`; `at`, which
    is never before now, one that is bound to `stored(moment)`. `raw_data` is the data as bytes:
    SQLite keeps text where somebody wrote text, and reading it fails if it is not UTF-8.

    The clock is always the database's own, in UTC, whatever the session time zone is.
    """

    name: Literal["mysql", "sqlite"]
    placeholder: str
    named: str
    now: str
    later: str
    at: str
    on_duplicate: str
    update_or_ignore: str
    skip_locked: str
    lock: str
    by_claim_key: str
    by_id: str
    delete_messages: str
    raw_data: str

    def shift(self, seconds: float | None) -> int | str | None:
        """Return the value that `later` takes; None makes the moment NULL."""
        if seconds is None:
            return None
        if self.name == "mysql":
            return round(seconds * 1_000_000)
        return f"{seconds:+.3f} seconds"

    def delete_from(self, table: str) -> str:
        """Return the start of a DELETE that finds, and locks, its rows by the primary key."""
        if self.name == "mysql":
            return f"DELETE {table} FROM {table} FORCE INDEX (PRIMARY)"
        return f"DELETE FROM {table}"  # noqa: S608  a name of ours


MYSQL = Dialect(
    name="mysql",
    placeholder="%s",
    named="%({})s",
    now="UTC_TIMESTAMP(6)",
    later="UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND",
    at="GREATEST(UTC_TIMESTAMP(6), CAST(? AS DATETIME(6)))",
    on_duplicate="ON DUPLICATE KEY UPDATE",
    update_or_ignore="UPDATE IGNORE",
    skip_locked="FOR UPDATE SKIP LOCKED",
    lock="FOR UPDATE",
    by_claim_key="FORCE INDEX (sakuin_messages_claim)",
    by_id="FORCE INDEX (PRIMARY)",
    delete_messages="DELETE sakuin_messages FROM sakuin_messages FORCE INDEX (PRIMARY)",
    raw_data="data",
)

SQLITE = Dialect(
    name="sqlite",
    placeholder="?",
    named=":{}",
    now="strftime('%Y-%m-%d %H:%M:%f000','now')",
    later="strftime('%Y-%m-%d %H:%M:%f000','now',?)",
    at="MAX(strftime('%Y-%m-%d %H:%M:%f000','now'), ?)",
    on_duplicate="ON CONFLICT DO UPDATE SET",
    update_or_ignore="UPDATE OR IGNORE",
    skip_locked="",
    lock="",
    by_claim_key="INDEXED BY sakuin_messages_claim",
    by_id="",
    delete_messages="DELETE FROM sakuin_messages",
    raw_data="CAST(data AS BLOB)",
)

_SPELLINGS = (
    "now",
    "later",
    "at",
    "on_duplicate",
    "update_or_ignore",
    "skip_locked",
    "lock",
    "by_claim_key",
    "by_id",
    "delete_messages",
    "raw_data",
)
_BY_NAME = {"mysql": MYSQL, "mariadb": MYSQL, "sqlite": SQLITE}


def dialect_of(connection: Connection) -> Dialect:
    """Return the dialect of a connection, or raise DatabaseRefused."""
    try:
        return _BY_NAME[connection.dialect.name]
    except KeyError:
        raise DatabaseRefused(
            f"the queue does not speak {connection.dialect.name}: use MariaDB, MySQL or SQLite"
        ) from None


def execute(
    connection: Connection, template: str, *values: object, ids: Iterable[int] | None = None
) -> CursorResult[Any]:
    """Run one statement; `ids` fills `{ids}` and holds at most IDS_A_STATEMENT numbers."""
    sql = render(dialect_of(connection), template)
    if ids is not None:
        sql = sql.replace("{ids}", ",".join(str(int(number)) for number in ids))
    return connection.exec_driver_sql(sql, values or None)


@lru_cache(maxsize=256)
def render(dialect: Dialect, template: str) -> str:
    """Return the template in this dialect, `{ids}` left in place."""
    sql = template
    for name in _SPELLINGS:
        sql = sql.replace("{" + name + "}", getattr(dialect, name))
    return sql.replace("?", dialect.placeholder)


def cut(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut a list of ids into parts that one statement takes."""
    for start in range(0, len(ids), IDS_A_STATEMENT):
        yield ids[start : start + IDS_A_STATEMENT]


def stored(moment: datetime) -> str:
    """Return an aware time as the tables hold it: UTC, six digits."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def moment_or_epoch(value: object) -> datetime:
    """Return a stored time, or 1970 for what is none: SQLite lets anybody write anything."""
    try:
        return moment(value)  # type: ignore[arg-type]
    except (AttributeError, TypeError, ValueError):
        return datetime.fromtimestamp(0, UTC)


def moment(value: datetime | str) -> datetime:
    """Return a stored time (UTC, six digits) as an aware datetime."""
    if isinstance(value, str):
        found = datetime.fromisoformat(value + "+00:00")  # a tenth of what replace() costs
        return found if found.tzinfo else found.replace(tzinfo=UTC)  # it is a date alone
    return value.replace(tzinfo=UTC)
