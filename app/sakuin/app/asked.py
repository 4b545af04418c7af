"""What one search asks for: one value, however it was asked."""

from dataclasses import dataclass, replace
from typing import Self

from sakuin.app.page import DEFAULT_PER_PAGE, check_page
from sakuin.app.refused import Refused
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order, orders
from sakuin.indexer.exact_values import id_number
from sakuin.indexer.index import Index


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Some hits of one search.

    `filter` is a second query in Sakuin's own language, which must match too and is never
    highlighted; where `text` is blank it alone finds all that match it. `within` is a third, the
    program's own: it only ever takes away. `after`, in the order of ids, asks for what follows
    that id, and `offset` counts from there. `generation` is that of an earlier answer.
    """

    text: str = ""
    filter: str = ""
    within: str = ""
    dialect: Dialect = Dialect.SAKUIN
    order: Order = Order.RELEVANCE
    after: str | None = None
    generation: int | None = None
    offset: int = 0
    limit: int = DEFAULT_PER_PAGE

    @property
    def page(self) -> int:
        """The number of the page that begins at the offset, from 1."""
        return self.offset // max(1, self.limit) + 1

    def at_page(self, page: int, per_page: int) -> Self:
        """Return the same search at a page, from 1; BadPage names a number that cannot be."""
        check_page(page, per_page)
        return replace(self, offset=(page - 1) * per_page, limit=per_page)

    def check(self, index: Index) -> None:
        """Raise Refused for what does not fit the index; the texts always do."""
        known_order(index, self.order)
        if self.after is None:
            return
        if self.order is not Order.ID:
            raise Refused("after", "goes on in the order of ids: give order=id with it")
        try:
            self.after.encode() if index.fields.text_ids else id_number(self.after)
        except ValueError as error:
            raise Refused("after", f"must be an id: {error}") from None


def known_order(index: Index, order: Order | str) -> Order:
    """Return an order by name; Refused lists those that the index has."""
    known = orders(index.fields)
    if order not in known:
        raise Refused("order", f"is {order}; index {index.name} knows {', '.join(known)}")
    return Order(order)


def known_dialect(dialect: Dialect | str) -> Dialect:
    """Return a dialect by name; Refused lists them."""
    if dialect not in tuple(Dialect):
        raise Refused("dialect", f"is {dialect}; known: {', '.join(Dialect)}")
    return Dialect(dialect)
