"""Searching a model's index, and fetching the rows that were found."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlalchemy.orm.interfaces import ORMOption

from sakuin.app.asked import Asked, Mode, known_dialect, known_mode, known_order
from sakuin.app.asked_facets import read_facets
from sakuin.app.found import Found, Hit, hit_of, shown_id
from sakuin.app.model_index import ModelIndex, index_of
from sakuin.app.page import Page
from sakuin.app.refused import Refused
from sakuin.app.search_generation import MOST_OFFSET, search_page
from sakuin.app.search_indexes import bound_search
from sakuin.app.searched import Searched
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order

MOST_LIMIT = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage(Page[T]):
    """A page of rows, and what else was found with them."""

    found: Found[T]


def ask(
    model: type[Any],
    text: str,
    *,
    filter_text: str,
    dialect: Dialect | str = Dialect.SAKUIN,
    mode: Mode | str = Mode.EXACT,
    like: str | None = None,
    facets: Iterable[str] = (),
    order: Order | str = Order.RELEVANCE,
    after: int | str | None = None,
    generation: int | None = None,
    limit: int = 0,
    offset: int = 0,
) -> Asked:
    """Return what is asked of a model; Refused for what cannot be."""
    if not 0 <= limit <= MOST_LIMIT:
        raise Refused("limit", f"must be 0 to {MOST_LIMIT:,}, not {limit}")
    if not 0 <= offset <= MOST_OFFSET:
        raise Refused("offset", f"must be 0 to {MOST_OFFSET:,}, not {offset}")
    index = index_of(model).collection.index
    return Asked(
        text=text,
        filter=filter_text,
        dialect=known_dialect(dialect),
        mode=known_mode(mode),
        like=like,
        facets=read_facets(index.fields, facets),
        order=known_order(index, order),
        after=None if after is None else str(after),
        generation=generation,
        limit=limit,
        offset=offset,
    )


def search_model(model: type[Any], asked: Asked) -> Searched:
    """Search a model's index. Never raises for what the text says.

    ValueError for a filter that cannot be searched.
    """
    index = index_of(model).collection.index
    bound = bound_search(model)
    found = search_page(bound.reader(index), index, asked, bound.current_synonyms())
    if found.filtered is not None and found.filtered.refused:
        raise ValueError(f"filter: {found.filtered.diagnostics[0].message}")
    return found


def hits_of(model: type[Any], found: Searched) -> Found[Hit]:
    """Return what was found as the index has it, with no question to the database."""
    hits = _hits(index_of(model), found)
    return _found(model, found, tuple(hits.values()), hits, ())


def rows_of(
    model: type[T], session: Session, found: Searched, options: Sequence[ORMOption]
) -> Found[T]:
    """Return what was found with its rows, as they are now."""
    index = index_of(model)
    there = _rows(index, session, [each.document.id for each in found.hits], options)
    hits = _hits(index, found)
    missing = tuple(id_ for id_ in hits if id_ not in there)
    kept = {id_: hit for id_, hit in hits.items() if id_ in there}
    return _found(model, found, tuple(there[id_] for id_ in kept), kept, missing)


def page_of(
    model: type[T], session: Session, asked: Asked, total: int | None, options: Sequence[ORMOption]
) -> FoundPage[T]:
    """Return one page of rows. A total that is given is the page's, whatever was found."""
    searched = search_model(model, asked)
    found = rows_of(model, session, searched, options)
    return FoundPage(
        items=found.rows,
        page=searched.asked.page,
        per_page=asked.limit,
        total=found.total if total is None else total,
        found=found,
    )


def _hits(index: ModelIndex, found: Searched) -> dict[str, Hit]:
    query = found.marked(index.collection.index.fields)
    return {each.document.id: hit_of(index.collection, each, query) for each in found.hits}


def _rows(
    index: ModelIndex, session: Session, ids: Sequence[str], options: Sequence[ORMOption]
) -> dict[str, Any]:
    condition = index.loader.condition(ids, session.get_bind(index.model).dialect.name)
    if condition is None:
        return {}
    statement = select(index.model).where(condition).options(*options)
    rows = session.scalars(statement).unique()
    return {index.id_of_row(row): row for row in rows}


def _found(
    model: type[Any],
    found: Searched,
    rows: tuple[T, ...],
    hits: dict[str, Hit],
    missing: tuple[str, ...],
) -> Found[T]:
    index, behind = index_of(model).collection.index, found.next_after
    return Found(
        rows=rows,
        hits=tuple(hits.values()),
        missing=tuple(shown_id(index, id_) for id_ in missing),
        total=found.total,
        generation=found.generation,
        diagnostics=found.parsed.diagnostics,
        next_after=None if behind is None else shown_id(index, behind),
        restarted=found.restarted,
    )
