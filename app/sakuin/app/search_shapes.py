"""The search over HTTP as pydantic models: what may be asked, and what is answered."""

from typing import Generic, TypeVar

from pydantic import BaseModel, Field

from sakuin.app.answer import Answer
from sakuin.app.asked import Asked
from sakuin.app.collection import Collection
from sakuin.app.page import DEFAULT_PER_PAGE, MOST_PAGE, MOST_PER_PAGE
from sakuin.app.present import answer_json
from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order

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


def page_of(answer: Answer, collection: Collection, root_path: str = "") -> Page[Hit]:
    """Return an answer as a page of hits."""
    page = answer.page
    return Page[Hit](
        **answer_json(answer, collection, root_path),
        previous_page=page.previous_page,
        next_page=page.next_page,
    )


class Parameters(BaseModel):
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

    def asked(self, within: str = "") -> Asked:
        """Return what is asked for, within a filter of the program's own."""
        return Asked(
            text=self.q,
            filter=self.filter,
            within=within,
            dialect=self.dialect,
            order=self.order,
            after=self.after,
            generation=self.g,
        ).at_page(self.page, self.per_page)
