"""What the address of a search page asks for, and the addresses of its neighbours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sakuin.app.asked import Asked
from sakuin.app.contexts import Notice
from sakuin.app.page import DEFAULT_PER_PAGE, BadPage, read_page, read_per_page
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SearchAddress:
    """One page of one search, as its address says it."""

    asked: Asked
    index: str = PARAGRAPHS.name

    def asks(self) -> bool:
        """Tell whether there is anything to search for."""
        return bool(self.asked.text.strip() or self.asked.filter.strip())

    def otherwise(self, **asked: Any) -> "SearchAddress":
        """Return an address that asks for something else."""
        return replace(self, asked=replace(self.asked, **asked))

    def carried(self) -> tuple[tuple[str, str], ...]:
        """Return what is not as usual, of what stays when the words change."""
        asked, usual = self.asked, Asked()
        values = {
            "index": (self.index, PARAGRAPHS.name),
            "order": (asked.order, usual.order),
            "per_page": (asked.limit, usual.limit),
            "filter": (asked.filter, usual.filter),
            "dialect": (asked.dialect, usual.dialect),
        }
        return tuple((name, str(value)) for name, (value, left) in values.items() if value != left)

    def parameters(self, **more: str | int | None) -> dict[str, str]:
        """Return the parameters of page 1 of this search; None in `more` stands for nothing."""
        given = {name: str(value) for name, value in more.items() if value is not None}
        return {"q": self.asked.text, **dict(self.carried()), **given}


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

    asked = Asked(
        text=query,
        filter=parameters.get("filter", ""),
        dialect=checked("dialect", Dialect, Dialect.SAKUIN, Notice.BAD_DIALECT),
        order=checked("order", Order, Order.RELEVANCE, Notice.BAD_ORDER),
        after=parameters.get("after") or None,
        generation=checked("g", _read_generation, None, Notice.BAD_GENERATION),
    ).at_page(
        checked("page", read_page, 1, Notice.BAD_PAGE),
        checked("per_page", read_per_page, DEFAULT_PER_PAGE, Notice.BAD_PER_PAGE),
    )
    address = SearchAddress(asked, index=parameters.get("index") or PARAGRAPHS.name)
    return address, tuple(notices)


def _read_generation(raw: str) -> int | None:
    if not (raw.isascii() and raw.isdigit() and int(raw[:20]) > 0 and len(raw) < 16):
        raise ValueError(raw)
    return int(raw)
