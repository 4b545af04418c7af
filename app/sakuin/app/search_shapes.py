"""The search over HTTP as pydantic models: what may be asked, and what is answered."""

from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, Field

from sakuin.app.answer import Answer
from sakuin.app.asked import Asked, Mode
from sakuin.app.asked_facets import read_facets
from sakuin.app.collection import Collection
from sakuin.app.page import DEFAULT_PER_PAGE, MOST_PAGE, MOST_PER_PAGE
from sakuin.app.present import answer_json
from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Order
from sakuin.indexer.facet import Step

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


class Value(BaseModel):
    """A value of a facet: how many of all documents found have it, and the filter for these."""

    value: str
    label: str
    count: int
    filter: str | None = Field(description="null: a value that no query can hold")


class Counted(BaseModel):
    """A facet. The counts of its values, `others` and `missing` make the total."""

    name: str
    step: Step | None
    values: list[Value]
    others: int = Field(description="documents that have a value which is not listed")
    missing: int = Field(description="documents without a value")


class Suggested(BaseModel):
    """A query, and how many documents it finds exactly."""

    text: str
    documents: int


class Closest(BaseModel, Generic[T]):
    """Where nothing was found: what has any of the words, the best first. See mode=closest."""

    total: int = Field(description="documents that count as close; page through with mode=closest")
    items: list[T]


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
    mode: Literal["exact", "closest", "similar"]
    generation: int = Field(description="0: nothing was indexed yet")
    restarted: bool = Field(description="`g` is gone: this is page 1 of the current generation")
    removed: list[int | str] = Field(description="found, but hidden: their rows are gone")
    waiting: int | None = Field(description="changes not indexed yet; null: database away")
    seconds: float
    diagnostics: list[Remark]
    filter_diagnostics: list[Remark]
    facets: list[Counted]
    did_you_mean: list[Suggested] = Field(
        description="where nothing was found: queries that find something"
    )
    closest: Closest[T] | None


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
    mode: Mode = Field(Mode.EXACT, description="closest: any of the words, the best first")
    like: str | None = Field(
        None, max_length=LONGEST_ID, description="instead of q: what is similar to this document"
    )
    facets: str = Field(
        "",
        max_length=1_000,
        description="what to count, parted by commas: filters of the index (`source`, the 50 most "
        "frequent values `source:50`), times by `created:year`, `created:month` or `created:day`",
    )

    def asked(self, fields: Fields, within: str = "") -> Asked:
        """Return what is asked of an index, within a filter of the program's own; or Refused."""
        return Asked(
            text=self.q,
            filter=self.filter,
            within=within,
            dialect=self.dialect,
            mode=self.mode,
            like=self.like,
            facets=read_facets(fields, [self.facets]),
            helps=True,
            order=self.order,
            after=self.after,
            generation=self.g,
        ).at_page(self.page, self.per_page)
