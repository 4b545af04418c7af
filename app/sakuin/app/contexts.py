"""Everything that each page's template receives, and nothing else. Plain values, no behaviour.

Addresses are complete for an `href`: the root path is in front and every part is percent-encoded.
Texts are raw: the templates escape them.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.engine import Order


class Notice(StrEnum):
    """What a search page did otherwise than its address asked, so that nothing is silent."""

    BAD_PAGE = "bad_page"
    BAD_PER_PAGE = "bad_per_page"
    BAD_ORDER = "bad_order"
    BAD_GENERATION = "bad_generation"
    BAD_DIALECT = "bad_dialect"
    BAD_AFTER = "bad_after"
    BAD_MODE = "bad_mode"
    BAD_LIKE = "bad_like"
    TOO_FAR = "too_far"
    RESTARTED = "restarted"


class Step(StrEnum):
    """Where a save is on its way; the values are those of the receipts' JSON."""

    WAITING = "waiting"
    INDEXING = "indexing"
    SEARCHABLE = "searchable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Site:
    """The addresses that every page links to. `api` is the description of the JSON interface.

    `suggest` answers with JSON what may be meant by what is being typed.
    `add` is None where nothing can be changed: then no page shows a form but the search box.
    """

    home: str
    search: str
    add: str | None
    api: str
    style: str
    script: str
    icon: str
    suggest: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The freshness line (promise S6): generation 0 is none yet, waiting None is no database."""

    generation: int
    waiting: int | None
    has_indexer: bool
    paused_queue: str = ""  # the index's queue, while it is paused


@dataclass(frozen=True, slots=True)
class Remark:
    """What the query language says about `text`, a part of the query or the whole.

    `words` are those that were added to it, or left out.
    """

    code: DiagnosticCode
    text: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """One document found. `pieces` are (text, is a hit) in order, ellipses included.

    Without a title, source and position name it; `title_pieces` are the title in such pieces
    where it was searched (() otherwise). `stale`: its row was edited since. `similar_url` finds
    documents like this one.
    """

    index: str
    id: str
    url: str | None
    title: str | None
    title_pieces: tuple[tuple[str, bool], ...]
    source: str | None
    position: int | None
    pieces: tuple[tuple[str, bool], ...]
    stale: bool
    similar_url: str


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page number and its address, or a gap between numbers (both None)."""

    number: int | None
    url: str | None
    current: bool = False


@dataclass(frozen=True, slots=True)
class OrderLink:
    """An order that the results can have, and the address of the first page in it."""

    order: Order
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class IndexLink:
    """An index that can be searched, and the address of the same search in it."""

    name: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class CountedLink:
    """Another search: its words or the value that it narrows to, its hits, and its address."""

    label: str
    count: int
    url: str | None


@dataclass(frozen=True, slots=True)
class FacetLinks:
    """A facet: the name of the filter, and its values. `others` of the hits have another one."""

    name: str
    values: tuple[CountedLink, ...]
    others: int


@dataclass(frozen=True, slots=True)
class Closest:
    """What has any of the words, where nothing has all of them. `url` leads to all of it."""

    total: int
    items: tuple[Result, ...]
    url: str


@dataclass(frozen=True, slots=True)
class Results:
    """One page of one search. `first` and `last` count from 1 (both 0: nothing on this page).

    `removed`: how many documents of this page are not shown, because their rows are gone.
    `last_url` is the last page, given only when `page` lies beyond it. `is_continued`: the page
    goes on behind an id, so that it has no number and no last hit's number is known.
    `was_searched`: nothing kept the query from it. `way` tells how hits are found: exact, closest
    or similar; `exact_url` is the exact search for the same words, unless this is it.
    `meant` and `closest` are offered where there is no exact hit.
    """

    total: int
    way: str
    exact_url: str | None
    is_continued: bool
    was_searched: bool
    took_ms: float
    page: int
    total_pages: int
    first: int
    last: int
    items: tuple[Result, ...]
    removed: int
    links: tuple[PageLink, ...]
    previous_url: str | None
    next_url: str | None
    last_url: str | None
    orders: tuple[OrderLink, ...]
    facets: tuple[FacetLinks, ...]
    meant: tuple[CountedLink, ...]
    closest: Closest | None
    json_url: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The search box; with an answer below it once something was asked.

    `carried` are further fields (name, value) that the form sends along, such as the order.
    `indexes` are those to choose from (none where there is only one). `filter` is a second
    query that must match too ("" for none), and `unfiltered_url` leads to the search without.
    `names` are those of the index that may stand before a colon.
    `documents` is how many the current generation holds, told where nothing was asked.
    """

    template: ClassVar[str] = "search.html"

    site: Site
    standing: Standing | None
    query: str
    carried: tuple[tuple[str, str], ...]
    documents: int
    indexes: tuple[IndexLink, ...]
    filter: str
    unfiltered_url: str
    names: tuple[str, ...]
    notices: tuple[Notice, ...]
    remarks: tuple[Remark, ...]
    results: Results | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a form was refused: the field's name, and an English reason that follows it."""

    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class AddPage:
    """The form that adds a paragraph; it posts `body` and `source` to `action`.

    `body` and `source` are what was typed, when the form comes back with a problem.
    """

    template: ClassVar[str] = "add.html"

    site: Site
    standing: Standing | None
    action: str
    body: str
    source: str
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class ReceiptPage:
    """What became of a save; the page loads itself again every second until it is settled.

    `paragraph_url` is None once the paragraph is gone; `deletes`: the save was a delete.
    `reason` says in English why it failed ("" otherwise).
    """

    template: ClassVar[str] = "receipt.html"

    site: Site
    standing: Standing | None
    step: Step
    deletes: bool
    reason: str
    paragraph_url: str | None
    receipt_url: str
    json_url: str


@dataclass(frozen=True, slots=True)
class ParagraphPage:
    """One paragraph as the table has it now (times UTC), with forms to edit and delete it.

    The edit form posts `body` to `edit_action`, the other nothing to `delete_action`.
    `draft` is what was typed, when the form comes back with a problem.
    """

    template: ClassVar[str] = "paragraph.html"

    site: Site
    standing: Standing | None
    id: int
    source: str
    position: int
    body: str
    version: int
    created_at: datetime
    updated_at: datetime
    edit_action: str
    delete_action: str
    draft: str | None
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """An answer that is an error. `detail` is an English sentence ("" for none)."""

    template: ClassVar[str] = "error.html"

    site: Site
    standing: Standing | None
    status: int
    detail: str
    request_id: str


Context = SearchPage | AddPage | ReceiptPage | ParagraphPage | ErrorPage
