"""GET /api/v1/search: any index, as JSON."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field

from sakuin.app.addresses import root_of
from sakuin.app.answer import answer_to
from sakuin.app.installed import parts_of
from sakuin.app.note_search import note_search
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.present import answer_json
from sakuin.app.search_shapes import Hit, Page, Parameters

router = APIRouter(prefix="/api/v1")


class ParagraphHit(Hit):
    """A paragraph found: its fields stand beside the others too."""

    source: str
    position: int
    body: str


class IndexParameters(Parameters):
    """What a search may be asked, and of which index."""

    index: str = Field(str(PARAGRAPHS.name), description="name of the index")


class IndexPage(Page[ParagraphHit | Hit]):
    """One page of a search of an index."""

    index: str


@router.get("/search")
def search(request: Request, asked: Annotated[IndexParameters, Query()]) -> IndexPage:
    """Search: exact total, one page of items with highlights, and diagnostics of the query."""
    parts = parts_of(request, asked.index)
    found = answer_to(parts, asked.asked(parts.index.fields))
    note_search(request, asked.index, found)
    page = found.page
    return IndexPage(
        **answer_json(found, parts.collection, root_of(request)),
        previous_page=page.previous_page,
        next_page=page.next_page,
    )
