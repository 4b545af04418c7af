"""Counting what a tantivy query finds by its values: one pass for all numbers and times.

tantivy itself is handed in as `library`, so that one module alone imports it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.errors import TooManySteps
from sakuin.indexer.exact_values import HIGHEST, LOWEST
from sakuin.indexer.facet import Counts, Facet, Step, most_frequent
from sakuin.indexer.facet_steps import FIRST_MOMENT, LAST_MOMENT, Spans, stepped, steps_between
from sakuin.indexer.tantivy_queries import between
from sakuin.indexer.tantivy_writer import ID_KEY, KEPT, VALUE

# tantivy ends an aggregation that would answer with more than 65,000 buckets.
_FIRST_LOOK, _SECOND_LOOK = 5_000, 50_000
_SPARE = 100  # values beyond those asked for: whatever counts as many as the last one is there
_WHOLE_SEGMENT = 2**31  # a segment that handed on fewer of its values would make counts inexact
_MOST_LABELS = 10_000


class Known:
    """What counting learns of an index that does not change, for the next time."""

    def __init__(self) -> None:
        self.labels: dict[tuple[str, str], str] = {}
        self.spans: dict[tuple[str, Step | None], Spans | None] = {}


class Counting:
    """Counts by the values of one query's documents; `known` outlives it."""

    def __init__(
        self, library: Any, searcher: Any, schema: Any, fields: Fields, known: Known
    ) -> None:
        self._library, self._query = library, library.Query
        self._searcher, self._schema, self._fields = searcher, schema, fields
        self._known = known

    def count(self, query: Any, facets: Sequence[Facet]) -> tuple[Counts, ...]:
        """Return the counts of facets that fit the index; raises TooManySteps."""
        kinds = [self._fields.kind_of(facet.name) for facet in facets]
        spans = [
            self._spans(query, facet) if kind is FilterKind.TIME else None
            for facet, kind in zip(facets, kinds, strict=True)
        ]
        asked = {"total": {"value_count": {"field": "at"}}}  # every document has that
        for number, (facet, kind, steps) in enumerate(zip(facets, kinds, spans, strict=True)):
            if kind is not FilterKind.KEYWORD:
                asked[str(number)] = _asked(facet, steps)
        found = self._searcher.aggregate(query, asked)
        total = int(found["total"]["value"])
        return tuple(
            self._keywords(query, facet, total)
            if kind is FilterKind.KEYWORD
            else self._numbers(query, facet, total, found[str(number)])
            if steps is None
            else _stepped(facet, steps, total, found[str(number)])
            for number, (facet, kind, steps) in enumerate(zip(facets, kinds, spans, strict=True))
        )

    def _keywords(self, query: Any, facet: Facet, total: int) -> Counts:
        found = self._searcher.terms_with_prefix(VALUE + facet.name, "", query)
        return most_frequent(
            facet, found, lambda value: self._label(facet.name, value), total=total
        )

    def _numbers(self, query: Any, facet: Facet, total: int, found: Any) -> Counts:
        counts = [(each["key"], each["doc_count"]) for each in found["buckets"]]
        unseen = found["sum_other_doc_count"]
        is_cut = facet.most >= len(counts) or counts[facet.most - 1][1] == counts[-1][1]
        if unseen and is_cut and facet.most > 0:
            counts, unseen = self._all_numbers(query, facet.name), 0
        return most_frequent(facet, counts, str, total=total, unseen=unseen)

    def _all_numbers(self, query: Any, name: str) -> list[tuple[int, int]]:
        asked = {"all": _values(name, _SECOND_LOOK)}
        found = self._searcher.aggregate(query, asked)["all"]
        if not found["sum_other_doc_count"]:
            return [(each["key"], each["doc_count"]) for each in found["buckets"]]
        having = self._both(query, VALUE + name, LOWEST, HIGHEST)
        hits = self._searcher.search(
            having, self._searcher.num_docs, count=False, order_by_field=VALUE + name
        ).hits
        return list(Counter(value for value, _ in hits).items())

    def _label(self, name: str, value: str) -> str:
        labels = self._known.labels
        if (name, value) not in labels:
            if len(labels) >= _MOST_LABELS:
                labels.clear()
            labels[name, value] = self._first_spelling(name, value)
        return labels[name, value]

    def _first_spelling(self, name: str, value: str) -> str:
        """Return the value as the document with the smallest id has it."""
        same = self._query.term_query(self._schema, VALUE + name, value, "basic")
        key = ID_KEY if self._fields.text_ids else "n"
        order = self._library.Order.Asc
        (_, first), *_ = self._searcher.search(
            same, 1, count=False, order_by_field=key, order=order
        ).hits
        return cast(str, self._searcher.doc(first).get_first(KEPT + name).decode())

    def _spans(self, query: Any, facet: Facet) -> Spans:
        """Return steps that hold all that is found: those of the index, unless they are many."""
        known, key = self._known.spans, (facet.name, facet.step)
        if key not in known:
            try:
                known[key] = self._steps(self._query.all_query(), facet)
            except TooManySteps:
                known[key] = None
        return known[key] or self._steps(query, facet)

    def _steps(self, query: Any, facet: Facet) -> Spans:
        field = _field(facet.name)
        named = self._both(query, field, FIRST_MOMENT, LAST_MOMENT)
        first, last = (
            [
                moment
                for moment, _ in self._searcher.search(
                    named, 1, count=False, order_by_field=field, order=order
                ).hits
            ]
            for order in (self._library.Order.Asc, self._library.Order.Desc)
        )
        return steps_between(facet, first[0], last[0]) if first else Spans((), ())

    def _both(self, query: Any, field: str, low: int, high: int) -> Any:
        must = self._library.Occur.Must
        values = between(self._library, self._schema, field, low, high)
        return self._query.boolean_query([(must, query), (must, values)])


def _field(name: str) -> str:
    return "at" if name == "created" else VALUE + name


def _asked(facet: Facet, steps: Spans | None) -> dict[str, Any]:
    if steps is None:
        return _values(facet.name, min(max(facet.most, 0) + _SPARE, _FIRST_LOOK))
    if not steps.names:
        return {"value_count": {"field": _field(facet.name)}}
    ends = zip(steps.edges, steps.edges[1:], strict=False)  # midnights: exact as fractions too
    ranges = [{"from": start, "to": end} for start, end in ends]
    return {"range": {"field": _field(facet.name), "ranges": ranges}}


def _values(name: str, size: int) -> dict[str, Any]:
    return {
        "terms": {"field": _field(name), "size": size, "segment_size": _WHOLE_SEGMENT},
    }


def _stepped(facet: Facet, steps: Spans, total: int, found: Any) -> Counts:
    if not steps.names:
        return stepped(facet, (), (), having=int(found["value"]), total=total)
    # tantivy adds what lies before all ranges, and behind them.
    having = sum(each["doc_count"] for each in found["buckets"])
    counts = [each["doc_count"] for each in found["buckets"] if "from" in each and "to" in each]
    return stepped(facet, steps.names, counts, having=having, total=total)
