"""What the address of a search page asks for, and the addresses of its neighbours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import urlencode

from sakuin.app.asked import Asked, Mode
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
        asked = self.asked
        return bool(asked.text.strip() or asked.filter.strip() or asked.like is not None)

    def otherwise(self, **asked: Any) -> "SearchAddress":
        """Return an address that asks for something else."""
        return replace(self, asked=replace(self.asked, **asked))

    def carried(self) -> tuple[tuple[str, str], ...]:
        """Return what is not as usual, of what stays when the words change (the mode does not)."""
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
        asked = self.asked
        mode = None if asked.mode is Mode.EXACT else asked.mode.value
        more = {"mode": mode, "like": asked.like, **more}
        given = {name: str(value) for name, value in more.items() if value is not None}
        return {"q": asked.text, **dict(self.carried()), **given}


def search_url(address: SearchAddress, root: str, **more: str | int | None) -> str:
    """Return the address of page 1 of a search, or of what `more` says."""
    return f"{root}/search?{urlencode(address.parameters(**more))}"


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
        mode=checked("mode", Mode, Mode.EXACT, Notice.BAD_MODE),
        like=parameters.get("like") or None,
        helps=True,
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
