"""Searching a model's index, and fetching the rows that were found."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlalchemy.orm.interfaces import ORMOption

from sakuin.app.found import Found, Hit, hit_of, shown_id
from sakuin.app.model_index import ModelIndex, index_of
from sakuin.app.page import Page, paginate
from sakuin.app.search_indexes import bound_search
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Hits, Order, orders
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.parse import Parsed, parse, too_large
from sakuin.indexer.query import And, Nothing, Query
from sakuin.indexer.reader import Opened

MOST_LIMIT = 1_000
MOST_OFFSET = 100_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage(Page[T]):
    """A page of rows, and what else was found with them."""

    found: Found[T]


class ModelSearch(Generic[T]):
    """One search in one generation of a model's index."""

    def __init__(
        self, index: ModelIndex, opened: Opened | None, text: str, parsed: Parsed, tree: Query
    ) -> None:
        self._index, self._opened = index, opened
        self._text, self._parsed, self._tree = text, parsed, tree
        self._total: int | None = None
        self._next_after: int | str | None = None

    def hits(self, order: Order, offset: int, limit: int, after: str | None = None) -> Hits:
        """Return some hits and the exact total."""
        if self._opened is None:
            return Hits(0, ())
        searcher = self._opened.searcher
        try:
            hits = searcher.search(self._tree, order=order, offset=offset, limit=limit, after=after)
        except QueryTooLarge:
            self._parsed = too_large(self._text)
            hits = Hits(0, ())
        self._total = hits.total
        if order is Order.ID and hits.hits and len(hits.hits) == limit:
            self._next_after = self._shown_id(hits.hits[-1].document.id)
        return hits

    def count(self) -> int:
        """Return how many documents match."""
        return self.hits(Order.ID, 0, 0).total if self._total is None else self._total

    def shown(self, hits: Hits) -> Found[Hit]:
        """Return the hits as the index has them, with no question to the database."""
        collection, query = self._index.collection, self._parsed.query
        shown = tuple(hit_of(collection, each, query) for each in hits.hits)
        return self._found(shown, shown, (), hits.total)

    def fetched(self, session: Session, hits: Hits, options: Sequence[ORMOption]) -> Found[T]:
        """Return the hits with their rows, as they are now."""
        collection = self._index.collection
        there = self._rows(session, [each.document.id for each in hits.hits], options)
        kept = [each for each in hits.hits if each.document.id in there]
        return self._found(
            tuple(there[each.document.id] for each in kept),
            tuple(hit_of(collection, each, self._parsed.query) for each in kept),
            tuple(
                self._shown_id(each.document.id)
                for each in hits.hits
                if each.document.id not in there
            ),
            hits.total,
        )

    def _rows(
        self, session: Session, ids: Sequence[str], options: Sequence[ORMOption]
    ) -> dict[str, Any]:
        condition = self._index.loader.condition(
            ids, session.get_bind(self._index.model).dialect.name
        )
        if condition is None:
            return {}
        statement = select(self._index.model).where(condition).options(*options)
        rows = session.scalars(statement).unique()
        return {self._index.id_of_row(row): row for row in rows}

    def _shown_id(self, document_id: str) -> int | str:
        return shown_id(document_id, is_number=not self._index.collection.index.fields.text_ids)

    def _found(
        self,
        rows: Sequence[Any],
        hits: Sequence[Hit],
        missing: Sequence[int | str],
        total: int,
    ) -> Found[Any]:
        return Found(
            rows=tuple(rows),
            hits=tuple(hits),
            missing=tuple(missing),
            total=total,
            generation=self._opened.number if self._opened else 0,
            diagnostics=self._parsed.diagnostics,
            next_after=self._next_after,
        )


@contextmanager
def open_search(
    model: type[Any], text: str, filter_text: str, dialect: Dialect
) -> Iterator[ModelSearch[Any]]:
    """Begin a search of the current generation. Never raises for what the text says.

    ValueError for a filter that is too long or too large.
    """
    index = index_of(model)
    fields = index.collection.index.fields
    parsed = parse(text, fields=fields, dialect=dialect)
    tree = parsed.query
    if filter_text.strip():
        tree = _filtered(parsed, parse(filter_text, fields=fields), is_all=not text.strip())
    with bound_search(model).reader(index.collection.index).open() as opened:
        yield ModelSearch(index, opened, text, parsed, tree)


def _filtered(parsed: Parsed, filtered: Parsed, *, is_all: bool) -> Query:
    """Return what meets a filter too; a filter alone finds all that it lets through."""
    if filtered.refused:
        raise ValueError(f"filter: {filtered.diagnostics[0].message}")
    if is_all or parsed.refused:
        return filtered.query if is_all else Nothing()
    return And((parsed.query, filtered.query))


def check_after(after: int | str | None, order: Order) -> str | None:
    """Return an id to go on behind, as the index writes it; only the order of ids can."""
    if after is not None and order is not Order.ID:
        raise ValueError(f"after goes on in the order of ids: give order='id', not {order!r}")
    return None if after is None else str(after)


def order_of(model: type[Any], order: Order | str) -> Order:
    """Return an order by name; ValueError lists those that the model's index has."""
    known = orders(index_of(model).collection.index.fields)
    if order not in known:
        raise ValueError(f"{model.__name__} has no order {order!r}; known: {', '.join(known)}")
    return Order(order)


def check_window(limit: int, offset: int) -> None:
    """Raise ValueError unless so many hits may be asked for at once."""
    if not 0 <= limit <= MOST_LIMIT:
        raise ValueError(f"limit must be 0 to {MOST_LIMIT:,}, not {limit}")
    if not 0 <= offset <= MOST_OFFSET:
        raise ValueError(f"offset must be 0 to {MOST_OFFSET:,}, not {offset}")


@dataclass(slots=True)
class _Rows(Generic[T]):
    """The rows found, as a source of pages."""

    search: ModelSearch[T]
    session: Session
    order: Order
    options: Sequence[ORMOption]
    found: Found[T] | None = None

    def rows(self, offset: int, limit: int) -> Sequence[T]:
        check_window(limit, offset)
        hits = self.search.hits(self.order, offset, limit)
        self.found = self.search.fetched(self.session, hits, self.options)
        return self.found.rows

    def count(self) -> int:
        return self.search.count()


def find_page(
    model: type[T],
    session: Session,
    text: str,
    *,
    page: int,
    per_page: int,
    total: int | None,
    order: Order,
    filter_text: str,
    dialect: Dialect,
    options: Sequence[ORMOption],
) -> FoundPage[T]:
    """Return one page of rows; a total that is given is not counted."""
    with open_search(model, text, filter_text, dialect) as search:
        rows = _Rows(search, session, order, options)
        made = paginate(rows, page, per_page, total)
        found = rows.found or search.fetched(session, Hits(made.total, ()), ())
        return FoundPage(
            items=made.items,
            page=page,
            per_page=per_page,
            total=made.total,
            found=found,
        )
