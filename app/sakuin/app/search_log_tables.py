"""The tables of the search log; they are made only where the log is on.

`sakuin_searches`: one row for an index, a day, what was asked and how; `sakuin_clicks`: which of
its results were opened. Neither says who, from where, or when on that day.
"""

from typing import Literal

from sqlalchemy import Connection, inspect

SEARCHES, CLICKS = "sakuin_searches", "sakuin_clicks"

_SEARCHES_MYSQL = """\
CREATE TABLE IF NOT EXISTS sakuin_searches (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  index_name VARCHAR(63) NOT NULL,
  day DATE NOT NULL,
  mode VARCHAR(16) NOT NULL,
  query VARCHAR(100) NOT NULL,
  folded VARCHAR(100) NOT NULL,
  asked BIGINT UNSIGNED NOT NULL,
  total BIGINT UNSIGNED NOT NULL,
  clicks BIGINT UNSIGNED NOT NULL DEFAULT 0,
  UNIQUE KEY sakuin_searches_query (index_name, query, mode, day),
  KEY sakuin_searches_folded (index_name, folded),
  KEY sakuin_searches_day (day)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""

_CLICKS_MYSQL = """\
CREATE TABLE IF NOT EXISTS sakuin_clicks (
  search_id BIGINT UNSIGNED NOT NULL,
  document VARCHAR(255) NOT NULL,
  clicks BIGINT UNSIGNED NOT NULL,
  positions BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (search_id, document)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""

_SEARCHES_SQLITE = """\
CREATE TABLE IF NOT EXISTS sakuin_searches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  index_name TEXT NOT NULL,
  day TEXT NOT NULL,
  mode TEXT NOT NULL,
  query TEXT NOT NULL,
  folded TEXT NOT NULL,
  asked INTEGER NOT NULL,
  total INTEGER NOT NULL,
  clicks INTEGER NOT NULL DEFAULT 0,
  UNIQUE (index_name, query, mode, day)
)"""

_CLICKS_SQLITE = """\
CREATE TABLE IF NOT EXISTS sakuin_clicks (
  search_id INTEGER NOT NULL,
  document TEXT NOT NULL,
  clicks INTEGER NOT NULL,
  positions INTEGER NOT NULL,
  PRIMARY KEY (search_id, document)
)"""

_STATEMENTS = {
    "mysql": (_SEARCHES_MYSQL, _CLICKS_MYSQL),
    "sqlite": (
        _SEARCHES_SQLITE,
        "CREATE INDEX IF NOT EXISTS sakuin_searches_folded ON sakuin_searches (index_name, folded)",
        "CREATE INDEX IF NOT EXISTS sakuin_searches_day ON sakuin_searches (day)",
        _CLICKS_SQLITE,
    ),
}


def create_search_log(connection: Connection) -> None:
    """Create the tables where they are not there; who finds them needs no right to create any."""
    if has_search_log(connection):
        return
    is_sqlite = connection.dialect.name == "sqlite"
    for statement in _STATEMENTS["sqlite" if is_sqlite else "mysql"]:
        connection.exec_driver_sql(statement)


def has_search_log(connection: Connection) -> bool:
    """Tell whether the tables are there."""
    there = inspect(connection)
    return there.has_table(SEARCHES) and there.has_table(CLICKS)


def search_log_sql(dialect: Literal["mysql", "sqlite"]) -> str:
    """Return the statements that make the tables, as a script."""
    return ";\n\n".join(_STATEMENTS[dialect]) + ";\n"
