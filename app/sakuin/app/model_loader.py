"""Rows of a model as the documents of its index. Reads columns, and makes no instances."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, or_, select, tuple_
from sqlalchemy.orm import Mapper

from sakuin.app.model_fields import (
    TEXTS,
    VALUES,
    SearchFields,
    key_kinds,
    kind_of,
    microseconds,
    selected,
)
from sakuin.app.model_key import Part, key_id, read_key
from sakuin.app.row_digest import row_digest
from sakuin.indexer.document import Document, Fields

_MOST_NUMBER = 2**63 - 1
_MOST_KEY = 2**64 - 1
_LEAST_KEY = -(2**63)


class ModelLoader:
    """Reads the rows of one model by key, as they are now, and walks all their keys.

    Keys compare exactly, whatever the columns' collation says.
    """

    def __init__(self, mapper: Mapper[Any], declared: SearchFields, fields: Fields) -> None:
        self._mapper, self._declared, self._fields = mapper, declared, fields
        self._kinds = key_kinds(mapper)
        self._names = tuple(
            dict.fromkeys(
                [
                    *fields.searched,
                    *fields.stored,
                    *(each.name for each in fields.filters),
                    *([declared.created] if declared.created else ()),
                ]
            )
        )
        place = {name: at for at, name in enumerate(self._names, start=len(self._kinds))}
        self._texts = tuple(
            (name, place[name], TEXTS[kind_of(mapper, name)])
            for name in fields.searched + fields.stored
        )
        self._values = tuple(
            (each.name, place[each.name], VALUES[kind_of(mapper, each.name)][1])
            for each in fields.filters
        )
        self._at = place[declared.created] if declared.created else None

    def load(self, connection: Connection, ids: Sequence[str]) -> list[Document]:
        """Return the documents of the rows that are there and belong to the index."""
        condition = self.condition(ids, connection.dialect.name)
        if condition is None:
            return []
        documents = (self._document(row) for row in connection.execute(self._rows.where(condition)))
        # A collation may find "ABC" when "abc" is asked for: that is another document.
        asked = set(ids)
        return [document for document in documents if document.id in asked]

    def condition(self, ids: Sequence[str], dialect: str) -> ColumnElement[bool] | None:
        """Return what holds for the rows of these ids that belong to the index; None: for none.

        A collation may let it hold for more: compare the rows' ids.
        """
        keys = [key for one in dict.fromkeys(ids) if (key := self._read_key(one, dialect))]
        return and_(self._is_one_of(keys), *self._belonging) if keys else None

    def ids_after(self, connection: Connection, after: str | None, limit: int) -> list[str]:
        """Return the next ids in the order of keys. ValueError when `after` is no id."""
        return self._ids(connection, self._belonging, after, limit)

    def ids_where(
        self,
        connection: Connection,
        where: ColumnElement[bool] | None,
        after: str | None,
        limit: int,
    ) -> list[str]:
        """Return the next ids of rows that meet a condition, whether they belong or not."""
        return self._ids(connection, () if where is None else (where,), after, limit)

    def _ids(
        self,
        connection: Connection,
        where: Sequence[ColumnElement[bool]],
        after: str | None,
        limit: int,
    ) -> list[str]:
        statement = select(*self.key).where(*where).order_by(*self.key).limit(limit)
        if after is not None:
            key = read_key(after, self._kinds)
            if key is None:
                raise ValueError(f"{after!r} is no id of {self._mapper.class_.__name__}")
            statement = statement.where(_follows(self.key, key))
        return [key_id(row) for row in connection.execute(statement)]

    @cached_property
    def key(self) -> tuple[ColumnElement[Any], ...]:
        """The attributes of the primary key."""
        names = [self._mapper.get_property_by_column(each).key for each in self._mapper.primary_key]
        return tuple(getattr(self._mapper.class_, name) for name in names)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that hold the model's rows."""
        return tuple(str(each.name) for each in self._mapper.tables if isinstance(each, Table))

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the primary key's columns in the database."""
        return tuple(str(each.name) for each in self._mapper.primary_key)

    @property
    def kinds(self) -> tuple[type, ...]:
        """The types of the primary key's columns."""
        return self._kinds

    @cached_property
    def _rows(self) -> Select[Any]:
        return select(*self.key, *(selected(self._mapper, name) for name in self._names))

    @cached_property
    def _belonging(self) -> tuple[ColumnElement[bool], ...]:
        where = self._declared.where
        return () if where is None else (where(self._mapper.class_),)

    def _is_one_of(self, keys: Sequence[tuple[Part, ...]]) -> ColumnElement[bool]:
        if len(self.key) == 1:
            return self.key[0].in_([key[0] for key in keys])
        return tuple_(*self.key).in_(keys)

    def _read_key(self, one: str, dialect: str) -> tuple[Part, ...] | None:
        key = read_key(one, self._kinds)
        most = _MOST_NUMBER if dialect == "sqlite" else _MOST_KEY
        if key is None or any(isinstance(p, int) and not _LEAST_KEY <= p <= most for p in key):
            return None
        return key

    def _document(self, row: Sequence[Any]) -> Document:
        key = row[: len(self._kinds)]
        row_id = key_id(key)
        moment = None if self._at is None else row[self._at]
        at = 0 if moment is None else microseconds(moment)
        text = {
            name: "" if (value := row[place]) is None else write(value)
            for name, place, write in self._texts
        }
        values = {
            name: write(value)
            for name, place, write in self._values
            if (value := row[place]) is not None
        }
        number = 0 if self._fields.text_ids else key[0]
        if not 0 <= number <= _MOST_NUMBER:
            raise ValueError(
                f"{self._mapper.class_.__name__} {number}: ids below 0 or beyond 63 bits need "
                "SearchFields(text_ids=True)"
            )
        digest = row_digest(row_id, at, text, values)
        return Document(row_id, number, at, digest, text, values)


def _follows(columns: Sequence[ColumnElement[Any]], key: Sequence[Part]) -> ColumnElement[bool]:
    """Return the condition that a row's key comes after `key`."""
    ways = []
    for last in range(len(columns)):
        equal = (each == part for each, part in zip(columns[:last], key[:last], strict=True))
        ways.append(and_(*equal, columns[last] > key[last]))
    return and_(columns[0] >= key[0], or_(*ways))
