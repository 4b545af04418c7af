"""A FastAPI router that searches a model: `app.include_router(search_router(Article))`."""

import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Annotated, Any, Generic, TypeVar

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field

from sakuin.app.answer import answer
from sakuin.app.assemble import Parts, installation
from sakuin.app.model_index import ModelIndex, index_of
from sakuin.app.page import DEFAULT_PER_PAGE, MOST_PAGE, MOST_PER_PAGE
from sakuin.app.present import answer_json
from sakuin.app.refused import Refused
from sakuin.app.search_indexes import bound_search
from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order
from sakuin.indexer.errors import IndexerError

__all__ = ["Asked", "Hit", "Page", "Piece", "Remark", "search_router"]

LONGEST_ID = 4096
T = TypeVar("T")


class Piece(BaseModel):
    """A part of a text; a `hit` is what the query asked for. Escape it before it becomes HTML."""

    text: str
    hit: bool


class Hit(BaseModel):
    """One document found. `stale`: its row was edited since it was indexed.

    `highlights` are cut from the searched fields: the pieces of one, joined, are what to show.
    """

    index: str
    id: int | str
    title: str
    url: str | None
    score: float
    stale: bool
    fields: dict[str, str]
    highlights: dict[str, list[Piece]]


class Remark(BaseModel):
    """Something to say about the query's code points start..end."""

    code: DiagnosticCode
    start: int
    end: int
    message: str


class Page(BaseModel, Generic[T]):
    """One page of a search. Give `generation` back as `g`, and all pages are of one copy."""

    items: list[T]
    total: int = Field(description="how many documents match, exactly")
    page: int
    per_page: int
    total_pages: int
    previous_page: int | None
    next_page: int | None
    next_after: str | None = Field(description="in the order of ids: `after` of what follows")
    order: Order
    generation: int = Field(description="0: nothing was indexed yet")
    restarted: bool = Field(description="`g` is gone: this is page 1 of the current generation")
    removed: list[int | str] = Field(description="found, but hidden: their rows are gone")
    waiting: int | None = Field(description="changes not indexed yet; null: database away")
    seconds: float
    diagnostics: list[Remark]
    filter_diagnostics: list[Remark]


class Asked(BaseModel):
    """What a search may be asked."""

    q: str = Field("", description="what to look for; a blank means AND")
    page: int = Field(1, ge=1, le=MOST_PAGE)
    per_page: int = Field(DEFAULT_PER_PAGE, ge=1, le=MOST_PER_PAGE)
    order: Order = Order.RELEVANCE
    g: int | None = Field(None, ge=1, le=10**15, description="generation, from an earlier page")
    after: str | None = Field(
        None, max_length=LONGEST_ID, description="next_after of the page before; with order=id"
    )
    filter: str = Field("", description="a second query that must match too and is not highlighted")
    dialect: Dialect = Field(Dialect.SAKUIN, description="how q is written")


class _Opened:
    """The parts of one model's index, opened when first asked for; safe for threads."""

    def __init__(self, index: ModelIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._parts: Parts | None = None

    def parts(self) -> Parts:
        with self._lock:
            if self._parts is None:
                settings = bound_search(self._index.model).settings
                opened = self._stack.enter_context(installation(settings))
                self._parts = opened.parts_of(self._index.collection)
            return self._parts

    def close(self) -> None:
        with self._lock:
            self._stack.close()
            self._parts = None


def search_router(model: type[Any], prefix: str = "/search") -> APIRouter:
    """Return a router whose one path searches a Searchable model; the answer is a `Page[Hit]`.

    Settings are read when the application starts, which connects to nothing; all is closed when
    it ends. Any text is a query. Numbers out of bounds are answered 422 as FastAPI does, an
    index that cannot be read 503. The database is only asked whether the rows of a page are
    still there, and how many changes wait: while it is away a search answers without that.
    """
    index = index_of(model)
    opened = _Opened(index)

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        opened.parts()
        yield
        opened.close()

    router = APIRouter(prefix=prefix, lifespan=lifespan)
    name = index.collection.index.name
    what = f"Search {name}: the exact total, and one page of hits with highlights."

    @router.get("", name=f"search_{name}", operation_id=f"search_{name}", description=what)
    def search(request: Request, asked: Annotated[Asked, Query()]) -> Page[Hit]:
        return _search(opened.parts(), request, asked)

    return router


def _search(parts: Parts, request: Request, asked: Asked) -> Page[Hit]:
    try:
        found = answer(
            parts,
            asked.q,
            page=asked.page,
            per_page=asked.per_page,
            order=asked.order,
            generation=asked.g,
            filter=asked.filter,
            dialect=asked.dialect,
            after=asked.after,
        )
    except Refused as refused:
        problem = {
            "type": "value_error",
            "loc": ("query", refused.field),
            "msg": str(refused),
            "input": getattr(asked, refused.field, None),
        }
        raise RequestValidationError([problem]) from None
    except (IndexerError, OSError) as error:
        raise HTTPException(503, str(error), headers={"Retry-After": "5"}) from error
    facts = answer_json(found, parts.collection, request.scope.get("root_path", ""))
    return Page[Hit](
        **facts, previous_page=found.page.previous_page, next_page=found.page.next_page
    )
