"""What the search log tells: what was asked, what found nothing, what was opened.

Spellings that fold to one text (ＰＤＦ, pdf) are one search. Each function reads only; the
admin's raise SchemaMismatch through `read` where the tables were never made.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from sakuin.app.attached import is_missing
from sakuin.app.search_log_rows import EXACT, folded_start, today
from sakuin.queue.dialect import execute

MANY = 10
"""How many results are so many that somebody should have opened one."""
AT_LEAST = 3
"""How often a query must have been asked before others are shown it."""

_LOGGED = """\
WITH chosen AS (
  SELECT query, mode, folded, asked, clicks, day,
    FIRST_VALUE(total) OVER (PARTITION BY folded, mode ORDER BY day DESC, id DESC) AS total
  FROM sakuin_searches WHERE index_name = ? AND day >= ? {within}
)
SELECT MIN(query) AS query, mode, SUM(asked) AS times, MAX(total) AS last_total,
  SUM(clicks) AS opened, MAX(day) AS last_day
FROM chosen GROUP BY folded, mode HAVING {having} ORDER BY times DESC, folded, mode LIMIT ?"""

_NOTHING = _LOGGED.format(within="", having="MAX(total) = 0")
_SOMETHING = _LOGGED.format(within="", having="MAX(total) > 0")
_UNCLICKED = _LOGGED.format(within="", having="MAX(total) >= ? AND SUM(clicks) = 0")
_BEGINNING = _LOGGED.format(
    within="AND mode = ? AND folded >= ? AND folded < ? AND folded LIKE ? ESCAPE '!' "
    "AND INSTR(query, '«') = 0 AND INSTR(query, '…') = 0",
    having="MAX(total) > 0 AND SUM(asked) >= ?",
)
_CLICKED = """\
SELECT MIN(s.query) AS query, s.mode AS mode, c.document AS document, SUM(c.clicks) AS times,
  SUM(c.positions) AS positions
FROM sakuin_searches s JOIN sakuin_clicks c ON c.search_id = s.id
WHERE s.index_name = ? AND s.day >= ?
GROUP BY s.folded, s.mode, c.document ORDER BY times DESC, s.folded, s.mode, c.document LIMIT ?"""


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """One search: how often it was asked, its total the last time, and the last day (UTC)."""

    query: str
    mode: str
    asked: int
    total: int
    clicks: int
    last_day: date


@dataclass(frozen=True, slots=True)
class ClickedDocument:
    """One document opened from the results of one search: how often, and its mean position."""

    query: str
    mode: str
    document: str
    clicks: int
    position: float


def nothing_found(
    connection: Connection, index: str, days: int, most: int
) -> tuple[LoggedSearch, ...]:
    """Return the searches of the last days (today is one) that found nothing, the last time.

    The most frequent first.
    """
    return _searches(connection, _NOTHING, index, _since(connection, days), most)


def frequent_searches(
    connection: Connection, index: str, days: int, most: int
) -> tuple[LoggedSearch, ...]:
    """Return the searches that found something, the most frequent first."""
    return _searches(connection, _SOMETHING, index, _since(connection, days), most)


def unclicked(connection: Connection, index: str, days: int, most: int) -> tuple[LoggedSearch, ...]:
    """Return the searches with MANY results or more of which nobody opened one.

    The most frequent first.
    """
    return _searches(connection, _UNCLICKED, index, _since(connection, days), MANY, most)


def clicked(
    connection: Connection, index: str, days: int, most: int
) -> tuple[ClickedDocument, ...]:
    """Return the documents that were opened most, with the searches that found them."""
    found = execute(connection, _CLICKED, index, _since(connection, days), most)
    return tuple(
        ClickedDocument(
            query=row["query"],
            mode=row["mode"],
            document=row["document"],
            clicks=int(row["times"]),
            position=int(row["positions"]) / int(row["times"]),
        )
        for row in found.mappings()
    )


def past_searches(
    connection: Connection, index: str, start: str, most: int
) -> tuple[LoggedSearch, ...]:
    """Return what others asked that begins with this, folded, and that found something then.

    For suggestions: asked AT_LEAST times or more, in the exact way, and nothing that was redacted
    or cut. The most frequent first. All days that the log keeps count. Of 10,000 queries some 1 ms,
    but 0.1 s for an empty start. Nothing where the tables were never made.
    """
    prefix = folded_start(" ".join(f"{start}.".split())[:-1])
    pattern = prefix.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%"
    bounds = (EXACT, prefix, prefix + "\U0010ffff", pattern)
    try:
        return _searches(connection, _BEGINNING, index, str(date.min), *bounds, AT_LEAST, most)
    except DBAPIError as error:
        if is_missing(error):  # no trouble of the database: nobody would be asked for a while
            return ()
        raise


def _searches(connection: Connection, sql: str, *values: object) -> tuple[LoggedSearch, ...]:
    return tuple(
        LoggedSearch(
            query=row["query"],
            mode=row["mode"],
            asked=int(row["times"]),
            total=int(row["last_total"]),
            clicks=int(row["opened"]),
            last_day=date.fromisoformat(str(row["last_day"])),
        )
        for row in execute(connection, sql, *values).mappings()
    )


def _since(connection: Connection, days: int) -> str:
    return str(today(connection) - timedelta(days=min(days, 36_600) - 1))
