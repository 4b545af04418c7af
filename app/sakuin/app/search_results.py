"""The results of a search as the page shows them: hits, page links, orders."""

from urllib.parse import urlencode

from sakuin.app.answer import Answer, Item
from sakuin.app.asked import Mode
from sakuin.app.collection import Collection
from sakuin.app.contexts import Closest, Meant, OrderLink, PageLink, Results
from sakuin.app.facet_links import facet_links
from sakuin.app.page import Page
from sakuin.app.result_list import ResultList
from sakuin.app.search_address import SearchAddress, search_url
from sakuin.app.search_generation import MOST_OFFSET
from sakuin.indexer.engine import Order, orders


def results_of(
    found: Answer,
    collection: Collection,
    address: SearchAddress,
    root: str,
    logged: str | None = None,
) -> Results:
    """Return one page of results with links to its neighbours, all of one generation.

    `logged` is what the search log knows the search by: then clicks on results are counted.

    Page numbers end at MOST_OFFSET hits; in the order of ids the next page goes on behind the
    last id, so that everything can be walked.
    """
    page, shown = found.page, ResultList(collection, address, root, logged)
    reach = min(page.total_pages, MOST_OFFSET // page.per_page + 1)
    is_continued = found.asked.after is not None
    before = 0 if is_continued else page.offset

    def link(number: int | None) -> str | None:
        if not number or number > reach or is_continued:
            return None
        return search_url(address, root, page=number, g=found.generation)

    next_url = link(page.next_page)
    if next_url is None and found.next_after is not None:
        next_url = search_url(address, root, after=found.next_after, g=found.generation)
    return Results(
        total=page.total,
        way=found.asked.way,
        exact_url=_exact_url(address, root),
        is_continued=is_continued,
        was_searched=found.was_searched,
        took_ms=found.seconds * 1000,
        page=page.page,
        total_pages=page.total_pages,
        first=before + 1 if page.items else 0,
        last=before + len(page.items) if page.items else 0,
        items=shown.of(page.items, before, found.asked.way),
        removed=len(found.removed),
        links=tuple(
            PageLink(number, link(number), current=number == page.page)
            for number in (() if is_continued else _numbers(page, reach))
        ),
        previous_url=link(page.previous_page),
        next_url=next_url,
        last_url=link(min(page.total_pages, reach)) if page.out_of_range else None,
        orders=() if found.asked.is_ranked else _order_links(found, collection, address, root),
        facets=facet_links(found.counts, address, root),
        meant=tuple(
            Meant(each.text, each.documents, search_url(address.otherwise(text=each.text), root))
            for each in found.meant
        ),
        closest=_closest(found, shown),
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
    return tuple(
        OrderLink(
            order,
            search_url(address.otherwise(order=order), root),
            current=order is found.asked.order,
        )
        for order in orders(collection.index.fields)
    )


def _exact_url(address: SearchAddress, root: str) -> str | None:
    if not address.asked.is_ranked or not address.asked.text.strip():
        return None
    return search_url(address.otherwise(mode=Mode.EXACT, like=None), root)


def _closest(found: Answer, shown: ResultList) -> Closest | None:
    if not found.closest or not found.closest.items:
        return None
    closer = shown.address.otherwise(mode=Mode.CLOSEST, order=Order.RELEVANCE)
    return Closest(
        found.closest.total,
        shown.of(found.closest.items, 0, found.asked.way),
        search_url(closer, shown.root),
    )
