"""The results of a search as the page shows them: hits, page links, orders."""

from collections.abc import Mapping
from urllib.parse import urlencode

from sakuin.app.answer import Answer, Item
from sakuin.app.collection import Collection
from sakuin.app.contexts import OrderLink, PageLink, Result, Results
from sakuin.app.page import Page
from sakuin.app.paragraph_index import place_of
from sakuin.app.search_address import SearchAddress
from sakuin.app.searched import MOST_OFFSET
from sakuin.indexer.engine import orders

_BETWEEN_FIELDS = " · "


def results_of(found: Answer, collection: Collection, address: SearchAddress, root: str) -> Results:
    """Return one page of results with links to its neighbours, all of one generation.

    Page numbers end at MOST_OFFSET hits; in the order of ids the next page goes on behind the
    last id, so that everything can be walked.
    """
    page = found.page
    reach = min(page.total_pages, MOST_OFFSET // page.per_page + 1)
    is_continued = found.asked.after is not None
    before = 0 if is_continued else page.offset

    def link(number: int | None) -> str | None:
        if not number or number > reach or is_continued:
            return None
        return _search(address.parameters(page=number, g=found.generation), root)

    next_url = link(page.next_page)
    if next_url is None and found.next_after is not None:
        next_url = _search(address.parameters(after=found.next_after, g=found.generation), root)
    return Results(
        total=page.total,
        is_continued=is_continued,
        was_searched=found.was_searched,
        took_ms=found.seconds * 1000,
        page=page.page,
        total_pages=page.total_pages,
        first=before + 1 if page.items else 0,
        last=before + len(page.items) if page.items else 0,
        items=tuple(_result(item, collection, root) for item in page.items),
        removed=len(found.removed),
        links=tuple(
            PageLink(number, link(number), current=number == page.page)
            for number in (() if is_continued else _numbers(page, reach))
        ),
        previous_url=link(page.previous_page),
        next_url=next_url,
        last_url=link(min(page.total_pages, reach)) if page.out_of_range else None,
        orders=_order_links(found, collection, address, root),
        json_url=f"{root}/api/v1/search?{urlencode(address.parameters())}",
    )


def _numbers(page: Page[Item], reach: int) -> tuple[int | None, ...]:
    """Return the row of page numbers, as if the list ended where page numbers end."""
    total = min(page.total, reach * page.per_page)
    cut: Page[Item] = Page(items=(), page=page.page, per_page=page.per_page, total=total)
    return cut.window()


def _order_links(
    found: Answer, collection: Collection, address: SearchAddress, root: str
) -> tuple[OrderLink, ...]:
    parameters = address.parameters()
    return tuple(
        OrderLink(
            order,
            _search({**parameters, "order": order.value}, root),
            current=order is found.asked.order,
        )
        for order in orders(collection.index.fields)
    )


def _search(parameters: Mapping[str, str], root: str) -> str:
    return f"{root}/search?{urlencode(parameters)}"


def _result(item: Item, collection: Collection, root: str) -> Result:
    document = item.document
    place = place_of(collection.index, document)
    source, position = place or (None, None)
    titled = collection.title_field
    pieces: list[tuple[str, bool]] = []
    for name, cut in item.highlights.items():
        if cut and name != titled:
            pieces += [(_BETWEEN_FIELDS, False)] if pieces else []
            pieces += [(piece.text, piece.hit) for piece in cut]
    return Result(
        index=collection.index.name,
        id=document.id,
        url=collection.url_of(document, root),
        title=None if place else collection.title_of(document),
        title_pieces=tuple(
            (piece.text, piece.hit) for piece in (item.highlights[titled] if titled else ())
        ),
        source=source,
        position=position,
        pieces=tuple(pieces),
        stale=item.is_stale,
    )
