"""The search page: /, /search?q=… and /search/<words>, of any index."""

from dataclasses import replace
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from sakuin.app.addresses import root_of, site_of
from sakuin.app.answer import answer_to
from sakuin.app.assemble import Parts
from sakuin.app.contexts import IndexLink, Notice, Remark, SearchPage
from sakuin.app.facet_links import page_facets
from sakuin.app.installed import installation_of, parts_of
from sakuin.app.note_search import note_search
from sakuin.app.pages import look_standing, show, standing_of
from sakuin.app.refused import Refused
from sakuin.app.search_address import SearchAddress, read_address, search_url
from sakuin.app.search_path import words_of
from sakuin.app.search_results import results_of
from sakuin.indexer.engine import Order, orders

_MOST_MENDS = 8

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request) -> Response:
    """Show the search box, or the results of ?q= as /search does."""
    return _respond(request, request.query_params.get("q", ""))


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
    address, notices = read_address(request.query_params, query)
    parts = parts_of(request, address.index)
    if address.asked.order not in orders(parts.index.fields):
        address = address.otherwise(order=Order.RELEVANCE)
        notices = (*notices, Notice.BAD_ORDER)
    if not address.asks():
        return show(request, _page(request, parts, address, notices))
    facets = page_facets(parts.index.fields)
    for _ in range(_MOST_MENDS):
        try:
            asked = address.otherwise(facets=facets, coarsens=True)
            return show(request, _answered(request, parts, asked, notices))
        except Refused as error:
            address, notice = _mended(address, error)
            notices = (*notices, notice)
    raise AssertionError(f"a search page cannot mend {address}")


def _mended(address: SearchAddress, error: Refused) -> tuple[SearchAddress, Notice]:
    """Return a search without what was refused, which the address alone could not tell."""
    if error.field == "page":
        return address.otherwise(offset=0), Notice.TOO_FAR
    if error.field == "like":
        return address.otherwise(like=None), Notice.BAD_LIKE
    if error.field == "order":
        return address.otherwise(order=Order.RELEVANCE, after=None), Notice.BAD_ORDER
    return address.otherwise(offset=0, after=None), Notice.BAD_AFTER


def _answered(
    request: Request, parts: Parts, address: SearchAddress, notices: tuple[Notice, ...]
) -> SearchPage:
    found = answer_to(parts, address.asked)
    logged = note_search(request, address.index, found)
    restarted = (Notice.RESTARTED,) if found.restarted else ()
    page = _page(request, parts, address, notices + restarted)
    remarks = [(each, address.asked.text) for each in found.diagnostics]
    remarks += [(each, address.asked.filter) for each in found.filter_diagnostics]
    return replace(
        page,
        standing=replace(standing_of(parts, found.freshness), generation=found.generation),
        remarks=tuple(
            Remark(each.code, text[each.start : each.end], each.words) for each, text in remarks
        ),
        results=results_of(found, parts.collection, address, root_of(request), logged),
    )


def _page(
    request: Request, parts: Parts, address: SearchAddress, notices: tuple[Notice, ...]
) -> SearchPage:
    root = root_of(request)
    with parts.reader.open() as opened:
        documents = opened.searcher.document_count if opened else 0
    return SearchPage(
        site=site_of(request),
        standing=None if address.asks() else look_standing(parts),
        query=address.asked.text,
        carried=address.carried(),
        documents=documents,
        indexes=_indexes(request, address),
        filter=address.asked.filter,
        names=parts.index.fields.names,
        unfiltered_url=search_url(address.otherwise(filter=""), root),
        notices=notices,
        remarks=(),
        results=None,
    )


def _indexes(request: Request, address: SearchAddress) -> tuple[IndexLink, ...]:
    """Return the indexes to choose from; what another index may not know is left out."""
    names = [each.index.name for each in installation_of(request).catalogue.known()]
    if len(names) == 1:
        return ()
    plain = address.otherwise(order=Order.RELEVANCE, filter="", after=None, like=None)
    return tuple(
        IndexLink(
            name,
            search_url(replace(plain, index=name), root_of(request)),
            current=name == address.index,
        )
        for name in names
    )
