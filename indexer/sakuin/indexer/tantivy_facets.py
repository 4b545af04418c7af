"""Counting what a tantivy query finds by its values: one pass, whatever is counted.

tantivy itself is handed in as `library`, so that one module alone imports it.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.exact_values import HIGHEST, LOWEST
from sakuin.indexer.facet import Counts, Facet, Step, most_frequent
from sakuin.indexer.facet_steps import stepped
from sakuin.indexer.tantivy_queries import between
from sakuin.indexer.tantivy_writer import DAY, ID_KEY, KEPT, MONTH, VALUE

# tantivy ends an aggregation that would answer with more than 65,000 buckets. So many days or
# months, and some more, are more than a facet may have steps of any kind.
_AT_ONCE, _MOST_BUCKETS = 5, 12_000
_MOST_ALONE = 60_000
_SPARE = 100  # values beyond those asked for: whatever counts as many as the last one is there
_WHOLE_SEGMENT = 2**31  # a segment that handed on fewer of its values would make counts inexact
_MOST_LABELS = 10_000
_TOTAL = "in all"


class Counting:
    """Counts by the values of one query's documents.

    `labels` (by the name of a filter and a folded value) outlives it.
    """

    def __init__(
        self,
        library: Any,
        searcher: Any,
        schema: Any,
        fields: Fields,
        labels: dict[tuple[str, str], str],
    ) -> None:
        self._library, self._query = library, library.Query
        self._searcher, self._schema, self._fields = searcher, schema, fields
        self._labels = labels

    def count(self, query: Any, facets: Sequence[Facet]) -> tuple[Counts, ...]:
        """Return the counts of facets that fit the index; raises TooManySteps."""
        counted: list[Counts] = []
        for start in range(0, len(facets), _AT_ONCE):
            group = facets[start : start + _AT_ONCE]
            asked = {_TOTAL: _how_many("at")}  # every document has that
            for facet in group:
                asked |= _asked(facet)
            found = self._searcher.aggregate(query, asked)
            counted += [self._counts(query, facet, found) for facet in group]
        return tuple(counted)

    def _counts(self, query: Any, facet: Facet, found: Any) -> Counts:
        total, answer = int(found[_TOTAL]["value"]), found[_key(facet)]
        counts: Sequence[tuple[Any, int]] = _pairs(answer)
        unseen = answer["sum_other_doc_count"]
        if facet.step:
            having = total if facet.name == "created" else int(found[facet.name]["value"])
            if unseen:
                counts = self._first_and_last(query, facet)
            return stepped(facet, dict(counts), having=having, total=total)
        if unseen and facet.most > 0 and not _holds_the_first(counts, facet.most):
            counts, unseen = self._all_values(query, facet.name), 0
        if self._fields.kind_of(facet.name) is not FilterKind.KEYWORD:
            return most_frequent(facet, counts, str, total=total, unseen=unseen)
        label = partial(self._label, facet.name)
        return most_frequent(facet, counts, label, total=total, unseen=unseen)

    def _first_and_last(self, query: Any, facet: Facet) -> list[tuple[int, int]]:
        """Return the ends of what is too many steps, for the error to say how many."""
        ends = {kind: {kind: {"field": _steps_field(facet)}} for kind in ("min", "max")}
        found = self._searcher.aggregate(query, ends)
        return [(int(found[kind]["value"]), 1) for kind in ends]

    def _all_values(self, query: Any, name: str) -> Sequence[tuple[Any, int]]:
        if self._fields.kind_of(name) is FilterKind.KEYWORD:
            return cast(
                Sequence[tuple[str, int]], self._searcher.terms_with_prefix(VALUE + name, "", query)
            )
        found = self._searcher.aggregate(query, {name: _values(VALUE + name, _MOST_ALONE)})[name]
        if not found["sum_other_doc_count"]:
            return _pairs(found)
        every = between(self._library, self._schema, VALUE + name, LOWEST, HIGHEST)
        must = self._library.Occur.Must
        having = self._query.boolean_query([(must, query), (must, every)])
        hits = self._searcher.search(
            having, self._searcher.num_docs, count=False, order_by_field=VALUE + name
        ).hits
        return list(Counter(value for value, _ in hits).items())

    def _label(self, name: str, value: str) -> str:
        label = self._labels.get((name, value))
        if label is None:
            label = self._first_spelling(name, value)
            if len(self._labels) >= _MOST_LABELS:
                self._labels.clear()
            self._labels[name, value] = label
        return label

    def _first_spelling(self, name: str, value: str) -> str:
        """Return the value as the document with the smallest id has it."""
        same = self._query.term_query(self._schema, VALUE + name, value, "basic")
        key = ID_KEY if self._fields.text_ids else "n"
        order = self._library.Order.Asc
        (_, first), *_ = self._searcher.search(
            same, 1, count=False, order_by_field=key, order=order
        ).hits
        return cast(str, self._searcher.doc(first).get_first(KEPT + name).decode())


def _asked(facet: Facet) -> dict[str, Any]:
    """Return what to aggregate for a facet, by names that equal questions share."""
    if facet.step is None:
        look = min(max(facet.most, 0) + _SPARE, _MOST_BUCKETS)
        return {_key(facet): _values(VALUE + facet.name, look)}
    steps = {_key(facet): _values(_steps_field(facet), _MOST_BUCKETS)}
    return steps if facet.name == "created" else {facet.name: _how_many(VALUE + facet.name)} | steps


def _steps_field(facet: Facet) -> str:
    return (DAY if facet.step is Step.DAY else MONTH) + facet.name


def _key(facet: Facet) -> str:
    return f"{facet.name} {facet.step or facet.most}"  # no name of a filter has a blank


def _how_many(field: str) -> dict[str, Any]:
    return {"value_count": {"field": field}}


def _values(field: str, most: int) -> dict[str, Any]:
    return {"terms": {"field": field, "size": most, "segment_size": _WHOLE_SEGMENT}}


def _pairs(found: Any) -> list[tuple[Any, int]]:
    return [(each["key"], each["doc_count"]) for each in found["buckets"]]


def _holds_the_first(counts: Sequence[tuple[Any, int]], most: int) -> bool:
    """Tell whether the first of all values are among these: they do not end in equal counts."""
    return len(counts) > most and counts[most - 1][1] > counts[-1][1]
