"""What one search asks for: checked against the index, and parsed."""

from dataclasses import dataclass

from sakuin.app.refused import Refused
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order, orders
from sakuin.indexer.exact_values import id_number
from sakuin.indexer.index import Index
from sakuin.indexer.parse import Parsed, parse
from sakuin.indexer.query import And, Nothing, Query

MOST_OFFSET = 100_000
"""How many hits page numbers can skip; further on, `after` goes on in the order of ids."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One page of one search. `filtered` is None where no filter was given."""

    text: str
    parsed: Parsed
    filtered: Parsed | None
    page: int
    per_page: int
    order: Order
    after: str | None

    @property
    def offset(self) -> int:
        """How many hits the page skips."""
        return (self.page - 1) * self.per_page

    @property
    def tree(self) -> Query:
        """What must match. A filter alone finds all that match it.

        A query or a filter that was refused keeps anything from being found.
        """
        if self.filtered is None:
            return self.parsed.query
        if self.parsed.refused or self.filtered.refused:
            return Nothing()
        if not self.text.strip():
            return self.filtered.query
        return And((self.parsed.query, self.filtered.query))


def ask(
    index: Index,
    text: str,
    filter_text: str,
    *,
    page: int,
    per_page: int,
    order: Order,
    dialect: Dialect,
    after: str | None,
) -> Asked:
    """Check and parse. Raises Refused for what does not fit together, never for the texts."""
    known = orders(index.fields)
    if order not in known:
        raise Refused("order", f"is {order}; index {index.name} knows {', '.join(known)}")
    if after is not None and order is not Order.ID:
        raise Refused("after", "goes on in the order of ids: give order=id with it")
    if after is not None and not index.fields.text_ids:
        try:
            id_number(after)
        except ValueError as error:
            raise Refused("after", f"must be an id: {error}") from None
    if after is not None and page != 1:
        raise Refused("after", "counts from the id that it names: leave page out")
    return Asked(
        text=text,
        parsed=parse(text, fields=index.fields, dialect=dialect),
        filtered=parse(filter_text, fields=index.fields) if filter_text.strip() else None,
        page=page,
        per_page=per_page,
        order=order,
        after=after,
    )
