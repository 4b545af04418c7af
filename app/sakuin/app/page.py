"""One page of a longer list: numbers, neighbours, and the row of page links. Knows no web.

page = paginate(source, page=3)          # any source with rows(offset, limit) and count()
page.items, page.total_pages, page.previous_page, page.next_page, page.window()
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

DEFAULT_PER_PAGE = 10
MOST_PER_PAGE = 100
MOST_PAGE = 10**12
"""The greatest page number: no list is longer, and every offset fits into 63 bits."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# A page number typed into a Japanese keyboard may be full width; other digits are no number.
_FULL_WIDTH = str.maketrans("０１２３４５６７８９", "0123456789")


class BadPage(ValueError):
    """A page number or size that cannot be; `field` names it, `least`..`most` is allowed."""

    def __init__(self, field: str, value: object, most: int) -> None:
        self.field, self.value, self.least, self.most = field, value, 1, most
        shown = str(value)[:20] if isinstance(value, str) else value
        super().__init__(f"{field} must be a whole number from 1 to {most:,}, not {shown!r}")


class Source(Protocol[T_co]):
    """A list that can be read in parts and counted."""

    def rows(self, offset: int, limit: int) -> Sequence[T_co]:
        """Return at most `limit` rows from `offset` on."""
        ...

    def count(self) -> int:
        """Return how many rows there are in all."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """The items of page number `page` (from 1) out of `total` items, `per_page` to a page.

    BadPage where a number is out of bounds. A page beyond the last is no error: it is empty,
    `out_of_range` is true, and its previous page is the last one.
    """

    items: tuple[T, ...]
    page: int
    total: int
    per_page: int = DEFAULT_PER_PAGE

    def __post_init__(self) -> None:
        """Refuse numbers that no page can have."""
        check_page(self.page, self.per_page)
        if self.total < 0 or len(self.items) > self.per_page:
            raise ValueError(f"{len(self.items)} items of {self.total} make no page")

    @property
    def offset(self) -> int:
        """How many items stand before this page."""
        return (self.page - 1) * self.per_page

    @property
    def total_pages(self) -> int:
        """The number of the last page; 1 when there is nothing at all."""
        return max(1, -(-self.total // self.per_page))

    @property
    def out_of_range(self) -> bool:
        """Tell whether the page lies beyond the last one."""
        return self.page > self.total_pages

    @property
    def previous_page(self) -> int | None:
        """The page before this one that has items; None on the first."""
        return min(self.page - 1, self.total_pages) or None

    @property
    def next_page(self) -> int | None:
        """The page after this one; None on the last and beyond."""
        return self.page + 1 if self.page < self.total_pages else None

    def window(self, inner: int = 4, outer: int = 1) -> tuple[int | None, ...]:
        """Return the page numbers to link to, ascending; None stands for a gap of two or more.

        `inner` numbers on each side of the page (near an edge the other side gets what is
        missing), the first and the last one, and `outer` more beside each of those. Beyond the
        last page the window is that of the last page.
        """
        last, width = self.total_pages, 2 * inner + 1
        start = max(1, min(self.page - inner, last - width + 1))
        near = range(start, min(last, start + width - 1) + 1)
        edges = (*range(1, min(outer + 1, last) + 1), *range(max(1, last - outer), last + 1))
        window: list[int | None] = []
        before = 0
        for number in sorted({*near, *edges}):
            if number - before == 2:
                window.append(number - 1)
            elif number - before > 2:
                window.append(None)
            window.append(number)
            before = number
        return tuple(window)


def paginate(
    source: Source[T], page: int = 1, per_page: int = DEFAULT_PER_PAGE, total: int | None = None
) -> Page[T]:
    """Read one page of a source.

    A total that is given is not counted; nor is it when the first page is not full. Rows beyond
    the end are never asked for, so no page number makes the source work. BadPage as in `Page`.
    """
    check_page(page, per_page)
    offset = (page - 1) * per_page
    if total is None and page == 1:
        items = tuple(source.rows(0, per_page))
        full = len(items) == per_page
        # Between two questions the list may shrink; what was read is on the page all the same.
        total = max(source.count(), per_page) if full else len(items)
        return Page(items=items, page=page, per_page=per_page, total=total)
    if total is None:
        total = source.count()
    items = tuple(source.rows(offset, per_page)) if offset < total else ()
    return Page(items=items, page=page, per_page=per_page, total=total)


def check_page(page: int, per_page: int) -> None:
    """Raise BadPage unless there can be such a page."""
    if not 1 <= page <= MOST_PAGE:
        raise BadPage("page", page, MOST_PAGE)
    if not 1 <= per_page <= MOST_PER_PAGE:
        raise BadPage("per_page", per_page, MOST_PER_PAGE)


def read_page(text: str) -> int:
    """Read a page number as someone typed it: ASCII or full-width digits. BadPage otherwise."""
    return _read("page", text, MOST_PAGE)


def read_per_page(text: str) -> int:
    """Read a page size as someone typed it: ASCII or full-width digits. BadPage otherwise."""
    return _read("per_page", text, MOST_PER_PAGE)


def _read(field: str, text: str, most: int) -> int:
    digits = text.strip().translate(_FULL_WIDTH)
    # Python takes many scripts' digits, 1_000 and +1, and stops at 4,300 digits with an error.
    if digits.isascii() and digits.isdigit() and len(digits.lstrip("0")) <= len(str(most)):
        number = int(digits)
        if 1 <= number <= most:
            return number
    raise BadPage(field, text, most)
