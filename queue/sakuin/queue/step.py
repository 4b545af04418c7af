"""One numbered change of the tables, in both dialects."""

from dataclasses import dataclass

NOW_MYSQL = "(UTC_TIMESTAMP(6))"
NOW_SQLITE = "(strftime('%Y-%m-%d %H:%M:%f000','now'))"


@dataclass(frozen=True, slots=True)
class Step:
    """One change of the tables: its number, and the statements in each dialect."""

    number: int
    mysql: tuple[str, ...]
    sqlite: tuple[str, ...]
