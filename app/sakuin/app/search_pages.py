"""The search page: /, /search?q=… and /search/<words>."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from sakuin.app.addresses import root_of, site_of
from sakuin.app.answer import Answer, Item, answer
from sakuin.app.api import parts_of
from sakuin.app.assemble import Parts
from sakuin.app.contexts import (
    Notice,
    OrderLink,
    PageLink,
    Remark,
    Result,
    Results,
    SearchPage,
)
from sakuin.app.page import DEFAULT_PER_PAGE, BadPage, read_page, read_per_page
from sakuin.app.pages import look_standing, show, standing_of
from sakuin.app.present import paragraph_url
from sakuin.app.search_path import words_of
from sakuin.indexer.engine import Order

router = APIRouter(include_in_schema=False)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for, and the notices on what in it was wrong."""

    query: str
    page: int
    per_page: int
    order: Order
    generation: int | None
    notices: tuple[Notice, ...]


@router.get("/")
def home(request: Request) -> Response:
    """Show the search box."""
    return _respond(request, "")


@router.get("/search")
def search(request: Request) -> Response:
    """Show the results of ?q=."""
    parameters = request.query_params
    if "search_word" in parameters and "q" not in parameters:
        return RedirectResponse(
            f"{root_of(request)}/search?{urlencode({'q': parameters['search_word']})}", 301
        )
    return _respond(request, parameters.get("q", ""))


@router.get("/search/{words:path}")
def search_path(request: Request) -> Response:
    """Show the results of the words in the path, read from the path as it was sent."""
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    _, _, words = raw.partition(b"?")[0].partition(b"/search/")
    return _respond(request, words_of(words))


def _respond(request: Request, query: str) -> Response:
    parts = parts_of(request)
    asked = _read(request, query)
    if not query.strip():
        return show(request, _empty(request, parts, asked))
    found = answer(
        parts,
        query,
        page=asked.page,
        per_page=asked.per_page,
        order=asked.order,
        generation=asked.generation,
    )
    return show(request, _page(request, parts, asked, found))


def _read(request: Request, query: str) -> Asked:
    """Read the address; what is wrong in it gets its default, and a notice."""
    notices: list[Notice] = []

    def checked(name: str, read: Callable[[str], _T], default: _T, notice: Notice) -> _T:
        raw = request.query_params.get(name)
        if raw is None or raw == "":
            return default
        try:
            return read(raw)
        except (BadPage, ValueError):
            notices.append(notice)
            return default

    return Asked(
        query=query,
        page=checked("page", read_page, 1, Notice.BAD_PAGE),
        per_page=checked("per_page", read_per_page, DEFAULT_PER_PAGE, Notice.BAD_PER_PAGE),
        order=checked("order", Order, Order.RELEVANCE, Notice.BAD_ORDER),
        generation=checked("g", _read_generation, None, Notice.BAD_GENERATION),
        notices=tuple(notices),
    )


def _read_generation(raw: str) -> int | None:
    if not (raw.isascii() and raw.isdigit() and int(raw[:20]) > 0 and len(raw) < 16):
        raise ValueError(raw)
    return int(raw)


def _empty(request: Request, parts: Parts, asked: Asked) -> SearchPage:
    with parts.reader.open() as opened:
        documents = opened.searcher.document_count if opened else 0
    return SearchPage(
        site=site_of(request),
        standing=look_standing(parts),
        query=asked.query,
        carried=(),
        documents=documents,
        notices=asked.notices,
        remarks=(),
        results=None,
    )


def _page(request: Request, parts: Parts, asked: Asked, found: Answer) -> SearchPage:
    restarted = (Notice.RESTARTED,) if found.restarted else ()
    carried = {"order": asked.order.value} if asked.order is not Order.RELEVANCE else {}
    if asked.per_page != DEFAULT_PER_PAGE:
        carried["per_page"] = str(asked.per_page)
    with parts.reader.open() as opened:
        documents = opened.searcher.document_count if opened else 0
    return SearchPage(
        site=site_of(request),
        standing=replace(standing_of(parts, found.freshness), generation=found.generation),
        query=asked.query,
        carried=tuple(carried.items()),
        documents=documents,
        notices=asked.notices + restarted,
        remarks=tuple(
            Remark(each.code, asked.query[each.start : each.end]) for each in found.diagnostics
        ),
        results=_results(request, parts, found, carried),
    )


def _results(request: Request, parts: Parts, found: Answer, carried: dict[str, str]) -> Results:
    root, page = root_of(request), found.page

    def link(number: int) -> str:
        values = {"q": found.query, "page": str(number), "g": str(found.generation), **carried}
        return f"{root}/search?{urlencode(values)}"

    def in_order(order: Order) -> str:
        values = {"q": found.query, **carried, "order": order.value}
        return f"{root}/search?{urlencode(values)}"

    return Results(
        total=page.total,
        took_ms=found.seconds * 1000,
        page=page.page,
        total_pages=page.total_pages,
        first=page.offset + 1 if page.items else 0,
        last=page.offset + len(page.items) if page.items else 0,
        items=tuple(_result(item, parts.index.name, root) for item in page.items),
        removed=len(found.removed),
        links=tuple(
            PageLink(number, link(number), current=number == page.page)
            if number
            else PageLink(None, None)
            for number in page.window()
        ),
        previous_url=link(page.previous_page) if page.previous_page else None,
        next_url=link(page.next_page) if page.next_page else None,
        last_url=link(page.total_pages) if page.out_of_range else None,
        orders=tuple(
            OrderLink(order, in_order(order), current=order is found.order) for order in Order
        ),
        json_url=f"{root}/api/v1/search?{urlencode({'q': found.query, **carried})}",
    )


def _result(item: Item, index: str, root: str) -> Result:
    document = item.document
    pieces = [(piece.text, piece.hit) for cut in item.snippets.values() for piece in cut.pieces]
    return Result(
        index=index,
        id=document.id,
        url=paragraph_url(document.id, root),
        title=None,
        source=document.text["source"],
        position=int(document.text["position"]),
        pieces=tuple(pieces),
        stale=item.is_stale,
    )
