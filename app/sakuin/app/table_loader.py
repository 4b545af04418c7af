"""Rows of any attached table as documents: the loader of its index."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from sakuin.app.attached_table import AttachedTable, Column
from sakuin.app.check_attached import require_as_attached
from sakuin.app.row_digest import row_digest
from sakuin.app.strip_html import strip_html
from sakuin.app.table_sql import TableSql, key_value, place_of, table_sql
from sakuin.indexer.document import Document, FilterKind
from sakuin.indexer.document_id import composite_id, composite_parts
from sakuin.indexer.errors import SourceChanged

_KEYS_A_STATEMENT = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_NUMBER = 2**63 - 1

KeyPart = int | str | bytes | Decimal


@dataclass(frozen=True, slots=True)
class TableLoader:
    """Reads the rows of one table by their keys, as far as they are within its `where`."""

    table: AttachedTable

    def load(self, connection: Connection, ids: Sequence[str]) -> list[Document]:
        """Return the documents of exactly these ids, whatever else the key's collation equates.

        Raises ValueError for a row that cannot be a document, SourceChanged where the table is
        not as it was when it was attached.
        """
        keys = {one: key for one in ids if (key := self.key_of(one)) is not None}
        if len(keys) < len(set(ids)):  # the key may be another one now
            require_as_attached(connection, self.table)
        with self._as_attached(connection):
            return self._load(connection, keys)

    def _load(
        self, connection: Connection, keys: Mapping[str, tuple[KeyPart, ...]]
    ) -> list[Document]:
        sql = table_sql(connection)
        asked, documents = list(keys), []
        for start in range(0, len(asked), _KEYS_A_STATEMENT):
            part = asked[start : start + _KEYS_A_STATEMENT]
            statement = self._select(sql, self._one_of(sql, len(part)))
            values = [value for one in part for value in keys[one]]
            wanted = set(part)  # a collation may find the key of another part, too
            documents += [
                self._document(row)
                for row in _rows(connection, statement, values)
                if self._id(row) in wanted
            ]
        if len({each.id for each in documents}) < len(documents):
            raise ValueError(f"rows of {self.table.place} share an id")
        return documents

    @contextmanager
    def _as_attached(self, connection: Connection) -> Iterator[None]:
        """Let the block's error be SourceChanged where the table's key or columns changed."""
        try:
            yield
        except (DBAPIError, ValueError):
            with suppress(DBAPIError):  # a database that is away: the first error says so
                require_as_attached(connection, self.table)
            raise

    def ids_after(self, connection: Connection, after: str | None, limit: int) -> list[str]:
        """Return the next ids in key order, of the rows that are within `where`."""
        return self.keys_after(connection, after, limit, is_within=True)

    def keys_after(
        self, connection: Connection, after: str | None, limit: int, *, is_within: bool
    ) -> list[str]:
        """Return the next ids in key order; not `is_within`: of the rows outside `where` too.

        Raises SourceChanged where the table is another now, or keeps a key that is no text.
        """
        sql = table_sql(connection)
        at = place_of(sql, self.table)
        key = self.table.key
        names = ", ".join(sql.key(at, column) for column in key)
        order = ", ".join(sql.ordered(at, column) for column in key)
        conditions = self._within(sql) if is_within else self._all(sql)
        values = list[KeyPart]()
        if after is not None:
            start = self.key_of(after)
            if start is None:
                require_as_attached(connection, self.table)
                raise ValueError(f"{after!r} cannot be a key of {self.table.place}")
            condition, values = self._behind(sql, start)
            conditions = [condition, *conditions]
        where = " AND ".join(conditions) or "1 = 1"
        statement = (
            f"SELECT {sql.for_driver(names)} FROM {sql.for_driver(at)}"  # noqa: S608  all quoted
            f" WHERE {where} ORDER BY {sql.for_driver(order)} LIMIT {int(limit)}"
        )
        with self._as_attached(connection):
            try:
                return [self._id(row) for row in _rows(connection, statement, values)]
            except ValueError as error:  # nobody can name the row: an operator has to look
                raise SourceChanged(
                    f"a key of {self.table.place} cannot be read ({error}); correct or delete "
                    "that row"
                ) from error

    def key_of(self, document_id: str) -> tuple[KeyPart, ...] | None:
        """Return the key's values; None for an id that can be no key of this table."""
        key = self.table.key
        parts = [document_id] if len(key) == 1 else composite_parts(document_id)
        if parts is None or len(parts) != len(key):
            return None
        values = [key_value(column, part) for column, part in zip(key, parts, strict=True)]
        found = tuple(value for value in values if value is not None)
        return found if len(found) == len(key) else None

    def _select(self, sql: TableSql, condition: str) -> str:
        at, table = place_of(sql, self.table), self.table
        names = [
            *(sql.key(at, column) for column in table.key),
            *(sql.text(at, column) for column in (*table.searched, *table.stored)),
            *(sql.value(at, column) for column in table.filters),
            *([sql.value(at, table.created)] if table.created else []),
        ]
        conditions = " AND ".join([condition, *self._within(sql)])
        return (
            f"SELECT {sql.for_driver(', '.join(names))}"  # noqa: S608  all quoted
            f" FROM {sql.for_driver(at)} WHERE {conditions}"
        )

    def _one_of(self, sql: TableSql, count: int) -> str:
        at, key = place_of(sql, self.table), self.table.key
        names = ", ".join(f"{at}.{sql.quote(column.name)}" for column in key)
        given = ", ".join(sql.given(column) for column in key)
        if len(key) == 1:
            return f"{sql.for_driver(names)} IN ({', '.join([given] * count)})"
        rows = ", ".join([f"({given})"] * count)
        return f"({sql.for_driver(names)}) IN ({'VALUES ' * sql.is_sqlite}{rows})"

    def _behind(self, sql: TableSql, start: Sequence[KeyPart]) -> tuple[str, list[KeyPart]]:
        """Return the condition that a key is behind another, part by part, and its values."""
        at, key = place_of(sql, self.table), self.table.key
        names = [sql.for_driver(sql.ordered(at, column)) for column in key]
        given = [sql.given(column) for column in key]
        ways, values = [], list[KeyPart]()
        for last in range(len(key)):
            equal = [f"{names[i]} = {given[i]}" for i in range(last)]
            ways.append(" AND ".join([*equal, f"{names[last]} > {given[last]}"]))
            values += start[: last + 1]
        return f"({' OR '.join(ways)})", values

    def strays(self, connection: Connection, limit: int) -> tuple[int, list[str]]:
        """Count the rows within `where` whose key can be no id, and show the first keys."""
        sql = table_sql(connection)
        at = place_of(sql, self.table)
        are_keys = sql.are_keys(at, self.table.key)
        if not are_keys:
            return 0, []
        where = " AND ".join([f"NOT ({are_keys})", *self._where(sql)])
        shown = " || ', ' || ".join(
            f"substr(quote({at}.{sql.quote(column.name)}), 1, 60)" for column in self.table.key
        )
        count = _rows(connection, f"SELECT COUNT(*) FROM {at} WHERE {where}", ())[0][0]  # noqa: S608  quoted
        first = _rows(connection, f"SELECT {shown} FROM {at} WHERE {where} LIMIT {int(limit)}", ())  # noqa: S608  quoted
        return int(count), [str(row[0]) for row in first]

    def _all(self, sql: TableSql) -> list[str]:
        are_keys = sql.are_keys(place_of(sql, self.table), self.table.key)
        return [are_keys] if are_keys else []

    def _where(self, sql: TableSql) -> list[str]:
        return [f"({sql.for_driver(self.table.where)})"] if self.table.where else []

    def _within(self, sql: TableSql) -> list[str]:
        return self._all(sql) + self._where(sql)

    def _id(self, row: Sequence[Any]) -> str:
        parts = row[: len(self.table.key)]
        return str(parts[0]) if len(parts) == 1 else composite_id(parts)

    def _document(self, row: Sequence[Any]) -> Document:
        table, found = self.table, iter(row[len(self.table.key) :])
        document_id = self._id(row)
        text = {
            column.name: self._text(column, next(found))
            for column in (*table.searched, *table.stored)
        }
        values = dict(self._values(found))
        at = (_micros(next(found)) if table.created else None) or 0
        return Document(
            id=document_id,
            number=0 if table.text_ids else _number(document_id),
            at=at,
            digest=row_digest(document_id, at, text, values),
            text=text,
            values=values,
        )

    def _text(self, column: Column, value: str | None) -> str:
        if value is None:
            return ""
        return strip_html(value) if column.name in self.table.html else value

    def _values(self, found: Iterator[Any]) -> Iterator[tuple[str, str | int]]:
        fields = self.table.fields()
        for column in self.table.filters:
            raw = next(found)
            kind = fields.kind_of(column.name)
            value: str | int | None
            if kind is FilterKind.KEYWORD:
                value = None if raw is None else str(raw)
            else:
                value = _micros(raw) if kind is FilterKind.TIME else _whole(raw)
            if value is not None:
                if isinstance(value, int) and not -_MOST_NUMBER - 1 <= value <= _MOST_NUMBER:
                    raise ValueError(f"column {column.name} holds {value}: beyond 64 bits")
                yield column.name, value


def _rows(
    connection: Connection, statement: str, values: Sequence[KeyPart]
) -> Sequence[Sequence[Any]]:
    if connection.dialect.name == "sqlite":
        values = [str(value) if isinstance(value, Decimal) else value for value in values]
    try:
        return connection.exec_driver_sql(statement, tuple(values)).all()
    except DBAPIError as error:
        if "Could not decode to UTF-8" in str(error.orig):  # SQLite keeps any bytes as a text
            raise ValueError(f"a text is not UTF-8: {error.orig}") from error
        raise


def _number(document_id: str) -> int:
    number = int(document_id)
    if not 0 <= number <= _MOST_NUMBER:
        raise ValueError(
            f"the key {number} is not between 0 and {_MOST_NUMBER}, as all keys were when the "
            "table was attached: attach it again, and rebuild the index"
        )
    return number


def _whole(raw: object) -> int | None:
    """Return a whole number; None for what is none (SQLite keeps anything in any column)."""
    if isinstance(raw, int):
        return int(raw)
    return int(raw) if isinstance(raw, (Decimal, float)) and raw == raw // 1 else None


def _micros(raw: object) -> int | None:
    """Return microseconds since 1970 UTC; None for what is no time (a zero date, a word).

    SQLite's times are texts, UTC where they name no zone, or seconds since 1970.
    """
    if isinstance(raw, int):
        return raw
    if not isinstance(raw, str):
        return round(raw * 1_000_000) if isinstance(raw, float) else None
    try:
        moment = datetime.fromisoformat(raw.strip())
    except ValueError:
        return None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (zoned - _EPOCH) // datetime.resolution
