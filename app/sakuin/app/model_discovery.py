"""What a searchable model offers when the exact word is not enough: similar rows, facets, help."""

from collections.abc import Sequence
from typing import Any, Self

from sqlalchemy.orm import Session
from sqlalchemy.orm.interfaces import ORMOption

from sakuin.app.find_models import ask, rows_of, search_model
from sakuin.app.found import Found
from sakuin.app.model_index import index_of
from sakuin.app.page import DEFAULT_PER_PAGE
from sakuin.app.search_indexes import bound_search
from sakuin.app.suggested import suggested, what_was_meant
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.facet import Counts
from sakuin.indexer.suggestion import Suggestion

__all__ = ["Counts", "Discovers", "Suggestion"]


class Discovers:
    """The part of `Searchable` that goes beyond the exact search."""

    @classmethod
    def similar_fulltext(
        cls,
        session: Session,
        like: Any,
        *,
        limit: int = DEFAULT_PER_PAGE,
        offset: int = 0,
        filter: str = "",  # noqa: A002  the name of the parameter in addresses
        options: Sequence[ORMOption] = (),
        generation: int | None = None,
    ) -> Found[Self]:
        """Return the rows that are most similar to one, by the index; the row itself is not there.

        `like` is a row of this class, or its primary key (a tuple where it has several columns).
        Raises ValueError where the index does not have that row (yet), TypeError for what is no
        key, and as `find_fulltext` does.
        """
        index = index_of(cls)
        document = index.id_of_row(like) if isinstance(like, cls) else index.id_of_key(like)
        asked = ask(
            cls,
            "",
            filter_text=filter,
            like=document,
            limit=limit,
            offset=offset,
            generation=generation,
        )
        return rows_of(cls, session, search_model(cls, asked), options)

    @classmethod
    def facets_fulltext(
        cls,
        query: str,
        facets: Sequence[str],
        *,
        filter: str = "",  # noqa: A002  the name of the parameter in addresses
        dialect: Dialect | str = Dialect.SAKUIN,
        generation: int | None = None,
    ) -> tuple[Counts, ...]:
        """Count all that a query finds, by the values of filters: exactly, from the index alone.

        A facet is `"author"` (the ten most frequent values), `"author:50"`, or a time by
        `"created:year"`, `"created:month"` (usual) or `"created:day"`. Raises ValueError for
        what cannot be counted.
        """
        asked = ask(
            cls,
            query,
            filter_text=filter,
            dialect=dialect,
            facets=facets,
            generation=generation,
        )
        return search_model(cls, asked).counts

    @classmethod
    def suggest_fulltext(
        cls,
        typed: str,
        *,
        most: int = 8,
        filter: str = "",  # noqa: A002  the name of the parameter in addresses
    ) -> tuple[Suggestion, ...]:
        """Return queries that go on from what somebody is typing; each finds something."""
        index = index_of(cls).collection.index
        bound = bound_search(cls)
        found = suggested(
            bound.reader(index),
            index,
            typed,
            most=most,
            within=filter,
            synonyms=bound.current_synonyms(),
        )
        return found.suggestions

    @classmethod
    def meant_fulltext(
        cls,
        query: str,
        *,
        most: int = 3,
        filter: str = "",  # noqa: A002  the name of the parameter in addresses
    ) -> tuple[Suggestion, ...]:
        """Return what may have been meant by a query that finds nothing; each finds something."""
        index = index_of(cls).collection.index
        bound = bound_search(cls)
        return what_was_meant(
            bound.reader(index),
            index,
            query,
            most=most,
            within=filter,
            synonyms=bound.current_synonyms(),
        )
