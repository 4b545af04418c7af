"""The results of a search as the page shows them: hits, page links, orders."""

from dataclasses import dataclass
from urllib.parse import urlencode

from sakuin.app.answer import Answer, Item
from sakuin.app.asked import Mode
from sakuin.app.collection import Collection
from sakuin.app.contexts import Closest, CountedLink, OrderLink, PageLink, Results
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
    pages = _Pages(found, address, root)
    before = page.offset if page.items and not pages.are_continued else 0
    return Results(
        total=page.total,
        way=found.asked.way,
        exact_url=_exact_url(address, root),
        is_continued=pages.are_continued,
        was_searched=found.was_searched,
        took_ms=found.seconds * 1000,
        page=page.page,
        total_pages=page.total_pages,
        first=before + bool(page.items),
        last=before + len(page.items),
        items=shown.of(page.items, before, found.asked.way),
        removed=len(found.removed),
        links=pages.numbered(),
        previous_url=pages.to(page.previous_page),
        next_url=pages.to(page.next_page) or pages.behind(),
        last_url=pages.to(min(page.total_pages, pages.reach)) if page.out_of_range else None,
        orders=_order_links(found, collection, address, root),
        facets=facet_links(found.counts, collection.index.fields, address, root),
        meant=_meant(found, address, root),
        closest=_closest(found, shown),
        json_url=f"{root}/api/v1/search?{urlencode(address.parameters())}",
    )


@dataclass(frozen=True, slots=True)
class _Pages:
    """The links from one page to the others."""

    found: Answer
    address: SearchAddress
    root: str

    @property
    def reach(self) -> int:
        """The last page that has a number."""
        page = self.found.page
        return min(page.total_pages, MOST_OFFSET // page.per_page + 1)

    @property
    def are_continued(self) -> bool:
        """Whether they go on behind ids, and have no numbers."""
        return self.found.asked.after is not None

    def to(self, number: int | None) -> str | None:
        if not number or number > self.reach or self.are_continued:
            return None
        return search_url(self.address, self.root, page=number, g=self.found.generation)

    def behind(self) -> str | None:
        """Return what goes on behind the last hit, in the order of ids."""
        after = self.found.next_after
        if after is None:
            return None
        return search_url(self.address, self.root, after=after, g=self.found.generation)

    def numbered(self) -> tuple[PageLink, ...]:
        """Return the row of page numbers, as if the list ended where page numbers end."""
        if self.are_continued:
            return ()
        page = self.found.page
        total = min(page.total, self.reach * page.per_page)
        cut: Page[Item] = Page(items=(), page=page.page, per_page=page.per_page, total=total)
        return tuple(PageLink(n, self.to(n), current=n == page.page) for n in cut.window())


def _order_links(
    found: Answer, collection: Collection, address: SearchAddress, root: str
) -> tuple[OrderLink, ...]:
    if found.asked.is_ranked:
        return ()
    return tuple(
        OrderLink(
            order,
            search_url(address.otherwise(order=order), root),
            current=order is found.asked.order,
        )
        for order in orders(collection.index.fields)
    )


def _meant(found: Answer, address: SearchAddress, root: str) -> tuple[CountedLink, ...]:
    return tuple(
        CountedLink(each.text, each.documents, search_url(address.otherwise(text=each.text), root))
        for each in found.meant
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
