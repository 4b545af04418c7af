"""Timing searches, as the table that benchmarks print."""

from collections.abc import Sequence

from sakuin.app.answer import answer
from sakuin.app.assemble import Parts
from sakuin.app.timing import Table


def time_searches(parts: Parts, queries: Sequence[str]) -> Table:
    """Search each query once, page 1, and return its times; labels carry the totals."""
    table = Table()
    for query in queries:
        with table.measure(query) as row:
            found = answer(parts, query)
            row.label = f"{query} ({found.page.total:,})"
    return table
