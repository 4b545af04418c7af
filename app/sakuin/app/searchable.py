"""Full-text search for SQLAlchemy models: mix in `Searchable`, and say what is searched.

    class Article(Searchable, Base):
        __searchable__ = {"title": 2.0, "body": 1.0}

Saving through a session pushes the change in the same transaction; `sakuin worker` indexes it;
`Article.find_fulltext(session, "東京")` finds it.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from sqlalchemy import ColumnElement, Connection, Engine, event
from sqlalchemy.orm import Session
from sqlalchemy.orm.interfaces import ORMOption

from sakuin.app.asked import Mode
from sakuin.app.find_models import FoundPage, ask, hits_of, page_of, rows_of, search_model
from sakuin.app.found import Found, Hit
from sakuin.app.model_changes import enqueue, watch
from sakuin.app.model_discovery import Counts, Discovers, Suggestion
from sakuin.app.model_fields import BadDeclaration, SearchFields
from sakuin.app.model_index import declare
from sakuin.app.page import DEFAULT_PER_PAGE, Page
from sakuin.app.reindex import reindex
from sakuin.app.search_indexes import SearchIndexes, bind_search
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order

__all__ = [
    "BadDeclaration",
    "Counts",
    "Dialect",
    "Found",
    "FoundPage",
    "Hit",
    "Mode",
    "Order",
    "Page",
    "SearchFields",
    "SearchIndexes",
    "Searchable",
    "Suggestion",
    "bind_search",
    "enqueue",
]


class Searchable(Discovers):
    """A mixin for declarative models, in front of the base class.

    `__searchable__` names the columns that are searched, with their weights, or says more by
    `SearchFields(…)`. It is checked when the class is mapped: BadDeclaration. Searches read the
    index alone; what takes a session fetches the rows that were found. With an AsyncSession:
    `await session.run_sync(Article.find_fulltext, "東京")`.
    """

    __searchable__: ClassVar[Mapping[str, float] | SearchFields]

    @classmethod
    def find_fulltext(
        cls,
        session: Session,
        query: str,
        *,
        limit: int = DEFAULT_PER_PAGE,
        offset: int = 0,
        after: int | str | None = None,
        order: Order | str = Order.RELEVANCE,
        filter: str = "",  # noqa: A002  the name of the parameter in addresses
        dialect: Dialect | str = Dialect.SAKUIN,
        mode: Mode | str = Mode.EXACT,
        options: Sequence[ORMOption] = (),
        generation: int | None = None,
    ) -> Found[Self]:
        """Return the rows that a query finds, in order; those that are gone are left out.

        `limit` is at most 1,000, `offset` 100,000; in the order of ids `after` goes on behind an
        id. `generation` is that of an earlier result, so that what follows does not shift; where
        it is gone, `restarted` is true. `filter` is a second query, the program's own, which must
        match too and is not highlighted; alone it finds all that match it. `mode="closest"` finds
        what has any of the words, the best first. `options` are loader
        options for the rows. Any text is a query. Raises ValueError for what is out of bounds,
        and the indexer's errors when the index cannot be read.
        """
        asked = ask(
            cls,
            query,
            filter_text=filter,
            dialect=dialect,
            mode=mode,
            order=order,
            after=after,
            generation=generation,
            limit=limit,
            offset=offset,
        )
        return rows_of(cls, session, search_model(cls, asked), options)

    @classmethod
    def hits_fulltext(
        cls,
        query: str,
        *,
        limit: int = DEFAULT_PER_PAGE,
        offset: int = 0,
        after: int | str | None = None,
        order: Order | str = Order.RELEVANCE,
        filter: str = "",  # noqa: A002  the name of the parameter in addresses
        dialect: Dialect | str = Dialect.SAKUIN,
        mode: Mode | str = Mode.EXACT,
        generation: int | None = None,
    ) -> Found[Hit]:
        """Return what a query finds as the index has it, without asking the database."""
        asked = ask(
            cls,
            query,
            filter_text=filter,
            dialect=dialect,
            mode=mode,
            order=order,
            after=after,
            generation=generation,
            limit=limit,
            offset=offset,
        )
        return hits_of(cls, search_model(cls, asked))

    @classmethod
    def count_fulltext(
        cls,
        query: str,
        *,
        filter: str = "",  # noqa: A002  the name of the parameter in addresses
        dialect: Dialect | str = Dialect.SAKUIN,
        mode: Mode | str = Mode.EXACT,
    ) -> int:
        """Return how many documents a query finds, exactly, without asking the database."""
        asked = ask(cls, query, filter_text=filter, dialect=dialect, mode=mode)
        return search_model(cls, asked).total

    @classmethod
    def paginate_fulltext(
        cls,
        session: Session,
        query: str,
        *,
        page: int = 1,
        per_page: int = DEFAULT_PER_PAGE,
        total: int | None = None,
        order: Order | str = Order.RELEVANCE,
        filter: str = "",  # noqa: A002  the name of the parameter in addresses
        dialect: Dialect | str = Dialect.SAKUIN,
        mode: Mode | str = Mode.EXACT,
        options: Sequence[ORMOption] = (),
        generation: int | None = None,
    ) -> FoundPage[Self]:
        """Return one page of the rows that a query finds, and the exact total of what it finds.

        A page beyond the last is empty; rows that are gone leave the page shorter. A total that
        is given is the page's instead. With the `found.generation` of an earlier page no page
        shifts. Raises BadPage for numbers that no page can have, and ValueError for a page
        beyond 100,000 hits.
        """
        asked = ask(
            cls,
            query,
            filter_text=filter,
            dialect=dialect,
            mode=mode,
            order=order,
            generation=generation,
        )
        return page_of(cls, session, asked.at_page(page, per_page), total, options)

    @classmethod
    def reindex(
        cls, on: Session | Connection | Engine, where: ColumnElement[bool] | None = None
    ) -> int:
        """Push all rows, or those that meet a condition, to be indexed anew; return how many.

        With an Engine each thousand is a transaction; otherwise all belong to the caller's.
        """
        return reindex(on, cls, where)


event.listen(Searchable, "after_mapper_constructed", declare, propagate=True)
watch(Searchable)
