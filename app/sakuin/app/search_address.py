"""What the address of a search page asks for, and the addresses of its neighbours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from sakuin.app.contexts import Notice
from sakuin.app.page import DEFAULT_PER_PAGE, BadPage, read_page, read_per_page
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SearchAddress:
    """One page of one search, as its address says it; see `answer` for each part."""

    query: str
    page: int = 1
    per_page: int = DEFAULT_PER_PAGE
    order: Order = Order.RELEVANCE
    generation: int | None = None
    after: str | None = None
    filter: str = ""
    dialect: Dialect = Dialect.SAKUIN
    index: str = PARAGRAPHS.name

    def asks(self) -> bool:
        """Tell whether there is anything to search for."""
        return bool(self.query.strip() or self.filter.strip())

    def carried(self) -> tuple[tuple[str, str], ...]:
        """Return what is not as usual, of what stays when the words change."""
        values = {
            "index": (self.index, PARAGRAPHS.name),
            "order": (self.order.value, Order.RELEVANCE.value),
            "per_page": (str(self.per_page), str(DEFAULT_PER_PAGE)),
            "filter": (self.filter, ""),
            "dialect": (self.dialect.value, Dialect.SAKUIN.value),
        }
        return tuple((name, value) for name, (value, usual) in values.items() if value != usual)

    def parameters(self, **more: str | int | None) -> dict[str, str]:
        """Return the parameters of page 1 of this search; None in `more` stands for nothing."""
        given = {name: str(value) for name, value in more.items() if value is not None}
        return {"q": self.query, **dict(self.carried()), **given}


def read_address(
    parameters: Mapping[str, str], query: str
) -> tuple[SearchAddress, tuple[Notice, ...]]:
    """Read an address; what is wrong in it gets its default, and a notice."""
    notices: list[Notice] = []

    def checked(name: str, read: Callable[[str], _T], default: _T, notice: Notice) -> _T:
        raw = parameters.get(name)
        if raw is None or raw == "":
            return default
        try:
            return read(raw)
        except (BadPage, ValueError):
            notices.append(notice)
            return default

    address = SearchAddress(
        query=query,
        page=checked("page", read_page, 1, Notice.BAD_PAGE),
        per_page=checked("per_page", read_per_page, DEFAULT_PER_PAGE, Notice.BAD_PER_PAGE),
        order=checked("order", Order, Order.RELEVANCE, Notice.BAD_ORDER),
        generation=checked("g", _read_generation, None, Notice.BAD_GENERATION),
        after=parameters.get("after") or None,
        filter=parameters.get("filter", ""),
        dialect=checked("dialect", Dialect, Dialect.SAKUIN, Notice.BAD_DIALECT),
        index=parameters.get("index") or PARAGRAPHS.name,
    )
    return address, tuple(notices)


def _read_generation(raw: str) -> int | None:
    if not (raw.isascii() and raw.isdigit() and int(raw[:20]) > 0 and len(raw) < 16):
        raise ValueError(raw)
    return int(raw)
