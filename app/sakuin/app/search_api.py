"""GET /api/v1/search: any index, as JSON."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from sakuin.app.addresses import root_of
from sakuin.app.answer import answer
from sakuin.app.installed import parts_of
from sakuin.app.page import DEFAULT_PER_PAGE, MOST_PAGE, MOST_PER_PAGE
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.present import answer_json
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order

router = APIRouter(prefix="/api/v1")
LONGEST_ID = 4096


@router.get("/search", response_model=None)
def search(
    request: Request,
    q: Annotated[str, Query(description="what to look for; a blank means AND")] = "",
    page: Annotated[int, Query(ge=1, le=MOST_PAGE)] = 1,
    per_page: Annotated[int, Query(ge=1, le=MOST_PER_PAGE)] = DEFAULT_PER_PAGE,
    order: Order = Order.RELEVANCE,
    g: Annotated[
        int | None, Query(ge=1, le=10**15, description="generation, from an earlier page")
    ] = None,
    after: Annotated[
        str | None,
        Query(max_length=LONGEST_ID, description="next_after of the page before; with order=id"),
    ] = None,
    filter: Annotated[  # noqa: A002  the name of the parameter
        str, Query(description="a second query that must match too and is not highlighted")
    ] = "",
    dialect: Annotated[Dialect, Query(description="how q is written")] = Dialect.SAKUIN,
    index: Annotated[str, Query(description="name of the index")] = PARAGRAPHS.name,
) -> dict[str, Any]:
    """Search: exact total, one page of items with highlights, and diagnostics of the query."""
    parts = parts_of(request, index)
    found = answer(
        parts,
        q,
        page=page,
        per_page=per_page,
        order=order,
        generation=g,
        filter=filter,
        dialect=dialect,
        after=after,
    )
    return answer_json(found, parts.collection, root_of(request))
