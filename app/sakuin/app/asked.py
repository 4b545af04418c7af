"""What one search asks for: one value, however it was asked."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from sakuin.app.page import DEFAULT_PER_PAGE, check_page
from sakuin.app.refused import Refused
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order, orders
from sakuin.indexer.exact_values import id_number
from sakuin.indexer.facet import Facet
from sakuin.indexer.index import Index


class Mode(StrEnum):
    """How the words are looked for.

    `exact`: what is asked for, and nothing else (S1). `closest`: documents that have any of the
    words, the best first; operators mean nothing there.
    """

    EXACT = "exact"
    CLOSEST = "closest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Some hits of one search.

    `filter` is a second query in Sakuin's own language, which must match too and is never
    highlighted; where `text` is blank it alone finds all that match it. `within` is a third, the
    program's own: it only ever takes away. `after`, in the order of ids, asks for what follows
    that id, and `offset` counts from there. `generation` is that of an earlier answer.
    `like`: instead of any words, documents that are similar to the one with this id.
    `facets` are counted over all that is found; with `coarsens` times go by longer steps, or are
    left out, where an answer would have too many. `helps`: where nothing is found, say what is
    closest, and what may have been meant.
    """

    text: str = ""
    filter: str = ""
    within: str = ""
    dialect: Dialect = Dialect.SAKUIN
    mode: Mode = Mode.EXACT
    like: str | None = None
    facets: tuple[Facet, ...] = ()
    coarsens: bool = False
    helps: bool = False
    order: Order = Order.RELEVANCE
    after: str | None = None
    generation: int | None = None
    offset: int = 0
    limit: int = DEFAULT_PER_PAGE

    @property
    def page(self) -> int:
        """The number of the page that begins at the offset, from 1."""
        return self.offset // max(1, self.limit) + 1

    @property
    def way(self) -> str:
        """How documents are found, for programs: a mode, or `similar`."""
        if self.like is not None:
            return "similar"
        return str(Mode.CLOSEST if self.is_ranked else Mode.EXACT)

    @property
    def is_ranked(self) -> bool:
        """Whether what is found is more or less like what is asked for, and not exactly it."""
        is_close = self.mode is Mode.CLOSEST and bool(self.text.strip())
        return is_close or self.like is not None

    def at_page(self, page: int, per_page: int) -> Self:
        """Return the same search at a page, from 1; BadPage names a number that cannot be."""
        check_page(page, per_page)
        return replace(self, offset=(page - 1) * per_page, limit=per_page)

    def check(self, index: Index) -> None:
        """Raise Refused for what does not fit the index; the texts always do."""
        known_order(index, self.order)
        if self.is_ranked and self.order is not Order.RELEVANCE:
            raise Refused("order", f"is {self.order}; what is close or similar goes by relevance")
        if self.like is not None and self.text.strip():
            raise Refused("like", "asks for what is similar to a document: leave the words out")
        if self.after is not None and self.order is not Order.ID:
            raise Refused("after", "goes on in the order of ids: give order=id with it")
        for name, given in (("after", self.after), ("like", self.like)):
            try:
                if given is not None:
                    given.encode() if index.fields.text_ids else id_number(given)
            except ValueError as error:
                raise Refused(name, f"must be an id: {error}") from None


def known_order(index: Index, order: Order | str) -> Order:
    """Return an order by name; Refused lists those that the index has."""
    known = orders(index.fields)
    if order not in known:
        raise Refused("order", f"is {order}; index {index.name} knows {', '.join(known)}")
    return Order(order)


def known_mode(mode: Mode | str) -> Mode:
    """Return a mode by name; Refused lists them."""
    if mode not in tuple(Mode):
        raise Refused("mode", f"is {mode}; known: {', '.join(Mode)}")
    return Mode(mode)


def known_dialect(dialect: Dialect | str) -> Dialect:
    """Return a dialect by name; Refused lists them."""
    if dialect not in tuple(Dialect):
        raise Refused("dialect", f"is {dialect}; known: {', '.join(Dialect)}")
    return Dialect(dialect)
