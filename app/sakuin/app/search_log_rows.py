"""What is written into the search log: counts that only ever grow, and rows that are forgotten.

Each function is a part of one short transaction of the caller's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import Connection

from sakuin.app.redact import MOST_CHARACTERS
from sakuin.indexer.fold import fold
from sakuin.queue.dialect import execute

EXACT = "exact"
"""The mode of a search that is not told to be of another."""
MOST_DOCUMENTS = 20
"""How many of the documents that were opened from one search are told apart each day."""
MOST_FORGOTTEN = 500
"""How many rows one transaction deletes at most."""
_MOST_DOCUMENT, _MOST_MODE = 255, 16

_ADD = """\
INSERT INTO sakuin_searches (index_name, day, mode, query, folded, asked, total)
VALUES (?, ?, ?, ?, ?, ?, ?) """
_ADD_MYSQL = _ADD + "ON DUPLICATE KEY UPDATE asked = asked + VALUES(asked), total = VALUES(total)"
_ADD_SQLITE = (
    _ADD + "ON CONFLICT DO UPDATE SET asked = asked + excluded.asked, total = excluded.total"
)


@dataclass(frozen=True, slots=True, order=True)
class Search:
    """What the log counts: one text asked of one index in one way."""

    index: str
    query: str
    mode: str


@dataclass(frozen=True, slots=True, order=True)
class Click:
    """One document opened from the results of a search."""

    search: Search
    document: str

    def fits(self) -> bool:
        """Tell whether the log may know the search, and has room for the document's id."""
        texts = (self.search.query, self.search.mode)
        # A trailing blank would be none to MariaDB, and pass for another search here.
        are_short = len(texts[0]) <= MOST_CHARACTERS and len(texts[1]) <= _MOST_MODE
        is_known = are_short and all(each == each.rstrip() for each in texts)
        return is_known and len(self.document) <= _MOST_DOCUMENT


@dataclass(frozen=True, slots=True)
class Times:
    """How often something was asked, and how many hits it had the last time."""

    asked: int
    total: int


def today(connection: Connection) -> date:
    """Return the day that it is in UTC, by the database's clock."""
    is_sqlite = connection.dialect.name == "sqlite"
    question = "SELECT date('now')" if is_sqlite else "SELECT CAST(UTC_DATE() AS CHAR)"
    return date.fromisoformat(connection.exec_driver_sql(question).scalar_one())


def add_searches(connection: Connection, day: date, searches: Mapping[Search, Times]) -> None:
    """Add to the rows of that day. In one order everywhere, so that writers seldom deadlock."""
    sql = _ADD_SQLITE if connection.dialect.name == "sqlite" else _ADD_MYSQL
    for one in sorted(searches):
        times = searches[one]
        values = (one.index, str(day), one.mode, one.query, folded_start(one.query))
        execute(connection, sql, *values, times.asked, times.total)


def add_click(connection: Connection, day: date, click: Click, position: int) -> bool:
    """Count one click for a search of that day or of the day before; False where there is none.

    A search that was not logged is not made up. MOST_DOCUMENTS of a search are told apart.
    """
    one = click.search
    found = execute(
        connection,
        "SELECT id FROM sakuin_searches WHERE index_name = ? AND query = ? AND mode = ? "
        "AND day IN (?, ?) ORDER BY day DESC LIMIT 1",
        *(one.index, one.query, one.mode, str(day), str(day - timedelta(days=1))),
    ).scalar()
    sql = "UPDATE sakuin_searches SET clicks = clicks + 1 WHERE id = ?"
    if found is None or not execute(connection, sql, found).rowcount:
        return False
    # Whoever counts another click of this search waits for us at its row from here on.
    sql = (
        "UPDATE sakuin_clicks SET clicks = clicks + 1, positions = positions + ? "
        "WHERE search_id = ? AND document = ?"
    )
    if execute(connection, sql, position, found, click.document).rowcount:
        return True
    sql = "SELECT COUNT(*) FROM sakuin_clicks WHERE search_id = ?"
    if execute(connection, sql, found).scalar_one() < MOST_DOCUMENTS:
        sql = (
            "INSERT INTO sakuin_clicks (search_id, document, clicks, positions) VALUES (?, ?, 1, ?)"
        )
        execute(connection, sql, found, click.document, position)
    return True


def add_clicks(connection: Connection, day: date, clicks: Mapping[Click, int]) -> None:
    """Count one click for each, with its position; in one order everywhere."""
    for each in sorted(clicks):
        add_click(connection, day, each, clicks[each])


def forget_before(connection: Connection, oldest: date) -> int:
    """Delete rows of the days before, at most MOST_FORGOTTEN; return how many."""
    sql = "SELECT id FROM sakuin_searches WHERE day < ? ORDER BY id LIMIT ?"
    return _forget(connection, execute(connection, sql, str(oldest), MOST_FORGOTTEN).scalars())


def forget_least(connection: Connection, most: int) -> int:
    """Delete the rows that were asked and clicked least, the oldest of them first.

    At most MOST_FORGOTTEN; return how many.
    """
    sql = "SELECT id FROM sakuin_searches ORDER BY asked + clicks, day, id LIMIT ?"
    return _forget(connection, execute(connection, sql, min(most, MOST_FORGOTTEN)).scalars())


def forget_some(connection: Connection, index: str | None) -> int:
    """Delete rows of one index (None: of any), at most MOST_FORGOTTEN; return how many."""
    if index is None:
        sql = "SELECT id FROM sakuin_searches ORDER BY id LIMIT ?"
        return _forget(connection, execute(connection, sql, MOST_FORGOTTEN).scalars())
    sql = "SELECT id FROM sakuin_searches WHERE index_name = ? ORDER BY id LIMIT ?"
    return _forget(connection, execute(connection, sql, index, MOST_FORGOTTEN).scalars())


def count_searches(connection: Connection) -> int:
    """Return how many rows there are."""
    found = connection.exec_driver_sql("SELECT COUNT(*) FROM sakuin_searches").scalar_one()
    return int(found)


def _forget(connection: Connection, ids: Iterable[int]) -> int:
    chosen = list(ids)
    if not chosen:
        return 0
    if connection.dialect.name == "sqlite":  # or the words would stay in the file for long
        connection.exec_driver_sql("PRAGMA secure_delete = ON")
    done = execute(connection, "DELETE FROM sakuin_searches WHERE id IN ({ids})", ids=chosen)
    execute(connection, "DELETE FROM sakuin_clicks WHERE search_id IN ({ids})", ids=chosen)
    return done.rowcount


def folded_start(text: str) -> str:
    """Return a text as it is compared with what was asked: folded, and cut."""
    return fold(text)[:MOST_CHARACTERS]
