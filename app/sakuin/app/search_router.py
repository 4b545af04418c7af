"""A FastAPI router that searches a model: `app.include_router(search_router(Article))`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError

from sakuin.app.answer import answer_to
from sakuin.app.assemble import Parts, installation
from sakuin.app.model_index import ModelIndex, index_of
from sakuin.app.refused import Refused
from sakuin.app.search_generation import own_filter
from sakuin.app.search_indexes import bound_search
from sakuin.app.search_shapes import Hit, Page, Parameters, Piece, Remark, page_of
from sakuin.indexer.errors import IndexerError

__all__ = ["Hit", "Page", "Parameters", "Piece", "Remark", "search_router"]


def search_router(
    model: type[Any],
    prefix: str = "/search",
    *,
    filter: str = "",  # noqa: A002  the name of the parameter in addresses
) -> APIRouter:
    """Return a router whose one path searches a Searchable model; the answer is a `Page[Hit]`.

    `filter` is a query of the program's own: what does not match it is never found, whatever the
    visitor asks. ValueError where it cannot be searched.

    Settings are read when the application starts, which connects to nothing; all is closed when
    it ends. Any text is a query. Numbers out of bounds are answered 422 as FastAPI does, an
    index that cannot be read 503. The database is only asked whether the rows of a page are
    still there, and how many changes wait: while it is away a search answers without that.
    """
    index = index_of(model)
    own_filter(index.collection.index, filter)

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        with bound_search(model).keep():
            _parts(index)
            yield

    router = APIRouter(prefix=prefix, lifespan=lifespan)
    name = index.collection.index.name
    what = f"Search {name}: the exact total, and one page of hits with highlights."

    @router.get("", name=f"search_{name}", operation_id=f"search_{name}", description=what)
    def search(request: Request, asked: Annotated[Parameters, Query()]) -> Page[Hit]:
        return _search(_parts(index), request, asked, filter)

    return router


def _parts(index: ModelIndex) -> Parts:
    """Return the parts of a model's index, which all routers of one binding share."""
    return bound_search(index.model).shared(installation).parts_of(index.collection)


def _search(parts: Parts, request: Request, asked: Parameters, within: str) -> Page[Hit]:
    try:
        found = answer_to(parts, asked.asked(parts.index.fields, within))
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
    return page_of(found, parts.collection, request.scope.get("root_path", ""))
