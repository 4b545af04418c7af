"""How the two databases spell what an index reads of a table: keys, texts, numbers, times.

Triggers and loader use the same spelling of a key, so that they always mean the same document.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.engine import Dialect

from sakuin.app.attached_table import AttachedTable, Column, Kind

_MOST_INTEGER, _LEAST_INTEGER = 2**64 - 1, -(2**63)
_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,19})\Z")
_HEX = re.compile(r"([0-9a-f]{2})*\Z")
_UTF8 = "utf8mb4"
_BYTES_MARK = "\ufffd"
_ONE_TO_ONE = frozenset(
    {"", "ascii", "binary", "gb18030", "latin1", "ucs2", "utf16", "utf16le", "utf32"}
    | {"utf8", "utf8mb3", _UTF8}
)
_TEXTS = (Kind.TEXT, Kind.CHOICE)
_TIMES = (Kind.DATE, Kind.DATETIME, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class TableSql:
    """Expressions over the columns of one table, for a dialect of SQLAlchemy."""

    dialect: Dialect

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite."""
        return self.dialect.name == "sqlite"

    @property
    def placeholder(self) -> str:
        """Where a value goes."""
        return "?" if self.is_sqlite else "%s"

    def quote(self, *names: str | None) -> str:
        """Return a name, qualified by those before it that are not None."""
        quoted = self.dialect.identifier_preparer.quote_identifier
        name = ".".join(quoted(name) for name in names if name is not None)
        # Where % marks a placeholder the preparer doubles it already: `for_driver` does that.
        return name if self.is_sqlite else name.replace("%%", "%")

    def key(self, at: str, column: Column) -> str:
        """Return the part of a key as it stands in an id: a whole number or a text.

        `at` is what the column's name is qualified with, such as NEW.
        """
        name = f"{at}.{self.quote(column.name)}"
        if column.kind is Kind.BINARY:
            return f"LOWER(HEX({name}))"
        if column.kind is Kind.INTEGER:
            return name
        if self.is_sqlite:
            return name if column.kind in _TEXTS else f"CAST({name} AS TEXT)"
        if column.kind in _TEXTS:
            return self._text_key(name, column)
        return f"CAST({name} AS CHAR CHARACTER SET {_UTF8})"

    def _text_key(self, name: str, column: Column) -> str:
        """Return a text of a key as Unicode; where that does not lead back, its bytes as hex.

        Old charsets have characters twice (≒ is 81E0 and 8790 in cp932): two rows, one text.
        """
        text = f"CONVERT({name} USING {_UTF8})"
        if not is_ambiguous(column):
            return text
        back = f"CAST(CONVERT({text} USING {column.charset}) AS BINARY)"
        as_bytes = f"CONCAT(_{_UTF8} X'EFBFBD', LOWER(HEX({name})))"
        return f"IF({back} <=> CAST({name} AS BINARY), {text}, {as_bytes})"

    def key_json(self, at: str, key: Sequence[Column]) -> str:
        """Return the whole key as it stands in a message: a JSON text, or an array of parts."""
        parts = [self.key(at, column) for column in key]
        if len(parts) > 1:
            return f"JSON_ARRAY({', '.join(parts)})"
        if key[0].kind is Kind.INTEGER:
            return (
                f"""'"' || {parts[0]} || '"'""" if self.is_sqlite else f"""'"', {parts[0]}, '"'"""
            )
        return f"JSON_QUOTE({parts[0]})"

    def text(self, at: str, column: Column) -> str:
        """Return what is shown or searched of a column, as text."""
        name = f"{at}.{self.quote(column.name)}"
        if self.is_sqlite:
            return f"CAST({name} AS TEXT)"
        if column.kind in _TEXTS:
            return name
        if column.kind is Kind.TIMESTAMP:  # in UTC, whatever the session's time zone is
            name = f"TIMESTAMPADD(MICROSECOND, {_since_1970(name)}, '1970-01-01 00:00:00')"
        return f"CAST({name} AS CHAR CHARACTER SET {_UTF8})"

    def value(self, at: str, column: Column) -> str:
        """Return what a filter compares: a text, a number, or microseconds since 1970 (MySQL)."""
        name = f"{at}.{self.quote(column.name)}"
        if column.kind in (Kind.UUID, Kind.ANY):
            return self.text(at, column)
        if column.kind not in _TIMES:
            return name
        if self.is_sqlite:  # a time is a text, or a number of seconds
            return f"CASE typeof({name}) WHEN 'integer' THEN {name} * 1000000 ELSE {name} END"
        if column.kind is Kind.TIMESTAMP:
            return _since_1970(name)
        return f"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {name})"

    def same(self, column: Column) -> str:
        """Return the condition that an UPDATE left the column as it was, to the byte."""
        old, new = (f"{at}.{self.quote(column.name)}" for at in ("OLD", "NEW"))
        if self.is_sqlite:
            return f"{old} IS {new} COLLATE BINARY AND typeof({old}) = typeof({new})"
        if column.kind in (*_TEXTS, Kind.OTHER):
            return f"CAST({old} AS BINARY) <=> CAST({new} AS BINARY)"
        return f"{old} <=> {new}"

    def given(self, column: Column) -> str:
        """Return a key's part that is compared with its column: in the column's own charset.

        What the charset cannot hold would otherwise be an error, and keep the key's index unused.
        """
        if self.is_sqlite or column.kind not in _TEXTS:
            return self.placeholder
        if column.kind is Kind.CHOICE:
            return f"CONVERT({self.placeholder} USING {_UTF8}) COLLATE {_UTF8}_bin"
        return f"CONVERT({self.placeholder} USING {column.charset}) COLLATE {column.collation}"

    def ordered(self, at: str, column: Column) -> str:
        """Return what orders rows by this part of the key, as `given` compares."""
        name = f"{at}.{self.quote(column.name)}"
        if column.kind is Kind.CHOICE and not self.is_sqlite:  # orders by the number of the choice
            return f"CONVERT({name} USING {_UTF8}) COLLATE {_UTF8}_bin"
        return name

    def is_key(self, at: str, column: Column) -> str | None:
        """Return the condition that a value can be a key; SQLite keeps anything anywhere."""
        if not self.is_sqlite:
            return None
        name = f"{at}.{self.quote(column.name)}"
        match column.kind:
            case Kind.INTEGER:
                return f"typeof({name}) = 'integer'"
            case Kind.BINARY:
                return f"typeof({name}) = 'blob'"
            case Kind.ANY | Kind.DECIMAL:  # of a real its text must lead back to it
                real = f"CAST(CAST({name} AS TEXT) AS REAL) = {name}"
                return f"CASE typeof({name}) WHEN 'real' THEN {real} ELSE typeof({name}) IN" + (
                    " ('integer', 'text') END" if column.kind is Kind.ANY else " ('integer') END"
                )
        return f"typeof({name}) = 'text'"

    def are_keys(self, at: str, key: Sequence[Column]) -> str:
        """Return the condition that all parts can be a key's; "" where they always can."""
        return " AND ".join(one for column in key if (one := self.is_key(at, column)))

    def for_driver(self, sql: str) -> str:
        """Return SQL without placeholders as the driver takes it: a % in it is a %."""
        return sql if self.is_sqlite else sql.replace("%", "%%")


def _since_1970(name: str) -> str:
    """Return a TIMESTAMP's microseconds; NULL for the date of zeros, for which MySQL says 0."""
    return f"NULLIF(CAST(UNIX_TIMESTAMP({name}) * 1000000 AS SIGNED), 0)"


def table_sql(connection: Connection) -> TableSql:
    """Return the spelling of a connection's database."""
    return TableSql(connection.dialect)


def place_of(sql: TableSql, table: AttachedTable) -> str:
    """Return the table's name in SQL."""
    return sql.quote(table.schema, table.table)


def is_ambiguous(column: Column) -> bool:
    """Whether different bytes of the column may be one text."""
    return column.kind is Kind.TEXT and column.charset not in _ONE_TO_ONE


def key_value(column: Column, part: str | int) -> int | str | bytes | Decimal | None:
    """Return the value that a part of an id stands for; None when it can be no such key's."""
    if column.kind is Kind.INTEGER:
        return _whole(part)
    if not isinstance(part, str):
        return None
    try:
        part.encode()
        if part.startswith(_BYTES_MARK) and is_ambiguous(column):
            return bytes.fromhex(part[1:]) if _HEX.match(part[1:]) else None
        match column.kind:
            case Kind.BINARY:
                return bytes.fromhex(part) if _HEX.match(part) else None
            case Kind.DECIMAL:
                number = Decimal(part)
                return number if number.is_finite() else None
            case Kind.DATE:
                date.fromisoformat(part)
            case Kind.DATETIME:
                datetime.fromisoformat(part)
            case Kind.UUID:
                UUID(part)
    except (ValueError, InvalidOperation):
        return None
    return part


def _whole(part: str | int) -> int | None:
    if isinstance(part, str):
        if not _WHOLE.match(part):
            return None
        part = int(part)
    return part if _LEAST_INTEGER <= part <= _MOST_INTEGER else None
