"""From a plan to tantivy's own queries, and what sorting needs of them.

tantivy itself is handed in as `library`, so that one module alone imports it.
"""

from collections.abc import Sequence
from typing import Any

from sakuin.indexer.document import Fields
from sakuin.indexer.exact_values import HIGHEST, LOWEST
from sakuin.indexer.expand import MOST_EXPANSIONS, End, ends
from sakuin.indexer.order_page import Column
from sakuin.indexer.plan import AnyOf, Clause, Plan
from sakuin.indexer.plan_leaves import Between, Gaps, Keyword, Leaf, OneOf, Tokens
from sakuin.indexer.query import Everything, Nothing
from sakuin.indexer.tantivy_writer import BACKWARDS, TOKENS, VALUE
from sakuin.indexer.tokens import QueryCut

_MOST_PIVOTS = 4_096
_CHEAP = 500  # pieces times bytes: an expression takes up to 15 ms to make, then four times more


class Compiler:
    """Makes the queries of one search; recursion is bounded by the plan's depth."""

    def __init__(self, library: Any, searcher: Any, schema: Any, fields: Fields) -> None:
        self._library, self._query = library, library.Query
        self._searcher, self._schema, self._fields = searcher, schema, fields

    def words(self, end: End, most: int) -> set[str]:
        """Return words of the documents that begin so, for the budget of `expand`."""
        # The filter leaves out the words that only deleted documents hold.
        every = self._query.all_query()
        return {w for name in self._fields.searched for w in self._words(name, end, every, most)}

    def query(self, each: Plan) -> Any:
        """Return the query for a plan that is not too large."""
        if isinstance(each, Everything):
            return self._query.all_query()
        if isinstance(each, Nothing):
            return self._query.empty_query()
        return self._clause(each)

    def _clause(self, each: Clause) -> Any:
        if isinstance(each, Leaf | Gaps):
            names = self._fields.searched if each.field is None else (each.field,)
            return self._any([self._weighted(name, each) for name in names])
        if isinstance(each, Tokens):
            return self._some_of(each)
        if isinstance(each, Keyword | Between | OneOf):
            return self._query.const_score_query(self._filter(each), 0.0)
        if isinstance(each, AnyOf):
            return self._any([self._clause(one) for one in each.clauses])
        occur = self._library.Occur
        wanted = [self._clause(one) for one in each.wanted] or [self._query.all_query()]
        return self._query.boolean_query(
            [(occur.Must, one) for one in wanted]
            + [(occur.MustNot, self._clause(one)) for one in each.unwanted]
        )

    def _some_of(self, each: Tokens) -> Any:
        # One clause a token, whatever the number of fields: so it counts once for `least`.
        should = self._library.Occur.Should
        clauses = [(should, self._token(token, weight)) for token, weight in each.weighted]
        return self._query.boolean_query(clauses, each.least)

    def _token(self, token: str, weight: float) -> Any:
        found = []
        for name in self._fields.searched:
            one = self._tokens(TOKENS + name, (token,))
            times = weight * self._fields.weight(name)
            found.append(one if times == 1 else self._query.boost_query(one, times))
        return self._any(found)

    def _filter(self, each: Keyword | Between | OneOf) -> Any:
        if isinstance(each, OneOf):
            return self._query.term_set_query(self._schema, "id", list(each.ids))
        if isinstance(each, Between):
            name = {"id": "n", "created": "at"}.get(each.field, VALUE + each.field)
            return between(self._library, self._schema, name, each.low, each.high)
        name = "id" if each.field == "id" else VALUE + each.field
        if each.open_end:
            return self._beginning(name, each.text)
        return self._query.term_query(self._schema, name, each.text, "basic")

    def _weighted(self, name: str, each: Leaf | Gaps) -> Any:
        weight = self._fields.weight(name)
        made = self._leaf(name, BACKWARDS if each.backwards else TOKENS, each)
        return made if weight == 1 else self._query.boost_query(made, weight)

    def _leaf(self, name: str, way: str, each: Leaf | Gaps) -> Any:
        if isinstance(each, Gaps):
            return self._gaps(way + name, each)
        if open_ends := ends(each):
            return self._open_phrase(name, way, each.cut, open_ends)
        if each.cut.open_end:
            return self._beginning(way + name, each.cut.tokens[0])
        return self._tokens(way + name, each.cut.tokens)

    def _gaps(self, name: str, gaps: Gaps) -> Any:
        # The pieces are letters, marks and numbers: nothing that an expression would read.
        expression = ".*".join(gaps.pieces)
        if len(gaps.pieces) * len(expression.encode()) <= _CHEAP:
            return self._query.regex_query(self._schema, name, expression)
        words = self._searcher.terms_with_prefix(name, gaps.pieces[0])
        fitting = [word for word, _ in words if gaps.fits(word)]
        return self._query.term_set_query(self._schema, name, fitting)

    def _beginning(self, name: str, text: str) -> Any:
        return self._query.fuzzy_term_query(self._schema, name, text, distance=0, prefix=True)

    def _tokens(self, name: str, tokens: Sequence[str]) -> Any:
        if len(tokens) == 1:
            return self._query.term_query(self._schema, name, tokens[0], "freq")
        return self._query.phrase_query(self._schema, name, list(tokens))

    def _open_phrase(self, name: str, way: str, cut: QueryCut, open_ends: Sequence[End]) -> Any:
        """Make a phrase of each word, or pair of words, that the open ends stand for.

        phrase_prefix_query looks at 50 words at most and does not say so. Only words of the
        documents that hold the rest of the phrase count: 30 times fewer than all.
        """
        first, *between, last = cut.tokens
        rest = cut.tokens[cut.open_start : len(cut.tokens) - cut.open_end]
        holding = self._tokens(way + name, rest) if rest else self._query.all_query()
        firsts, lasts = [first], [last]
        if cut.open_start:
            found = self._words(name, open_ends[0], holding, MOST_EXPANSIONS)
            firsts = [word[::-1] for word in found]
        if cut.open_end:
            lasts = self._words(name, open_ends[-1], holding, MOST_EXPANSIONS)
        return self._any(
            [self._tokens(way + name, (a, *between, b)) for a in firsts for b in lasts]
        )

    def _words(self, name: str, end: End, holding: Any, most: int) -> list[str]:
        within = (BACKWARDS if end.backwards else TOKENS) + name
        found = self._searcher.terms_with_prefix(within, end.start, holding, most)
        return [word for word, _ in found]

    def _any(self, queries: list[Any]) -> Any:
        if len(queries) == 1:
            return queries[0]
        if not queries:
            return self._query.empty_query()
        return self._query.boolean_query([(self._library.Occur.Should, one) for one in queries])


class Sorter:
    """What `sorted_page` needs; `pivots` outlives the search."""

    def __init__(
        self, library: Any, searcher: Any, index: Any, pivots: dict[str, list[str]]
    ) -> None:
        self._library, self._query = library, library.Query
        self._searcher, self._index, self._pivots = searcher, index, pivots
        self._counts: dict[int, tuple[Any, int]] = {}  # by identity: queries know no equality

    def count(self, query: Any) -> int:
        """Return how many documents match; known already if they have been sorted."""
        if id(query) not in self._counts:
            self._counts[id(query)] = (query, self._searcher.search(query, 1).count)
        return self._counts[id(query)][1]

    def sorted(
        self, query: Any, column: Column, offset: int, limit: int
    ) -> Sequence[tuple[Any, Any]]:
        """Return hits by a column."""
        order = self._library.Order.Desc if column.is_descending else self._library.Order.Asc
        found = self._searcher.search(
            query, limit, order_by_field=column.name, offset=offset, order=order
        )
        self._counts[id(query)] = (query, found.count)
        hits: Sequence[tuple[Any, Any]] = found.hits
        return hits

    def within(self, query: Any, column: Column, low: Any, high: Any) -> Any:
        """Return a query for the values from low to high, or of texts for low alone, or from it."""
        schema = self._index.schema
        if not column.is_text:
            return self._both(query, between(self._library, schema, column.name, low, high))
        if low == high:
            return self._both(query, self._query.term_query(schema, column.name, low, "basic"))
        return self._both(query, self._read(f"{column.name}:[{low} TO *]"))

    def beyond(self, query: Any, column: Column, value: Any) -> Any:
        """Return a query for what comes after this value."""
        if column.is_text:
            return self._both(query, self._read(f"{column.name}:{{{value} TO *}}"))
        if value == (LOWEST if column.is_descending else HIGHEST):
            return self._query.empty_query()
        low, high = (LOWEST, value - 1) if column.is_descending else (value + 1, HIGHEST)
        return self.within(query, column, low, high)

    def some_values(self, column: Column) -> Sequence[str]:
        """Return some of the keys of a column, read once."""
        if column.name not in self._pivots:
            words = self._searcher.terms_with_prefix(column.name, "")
            step = len(words) // _MOST_PIVOTS + 1
            self._pivots[column.name] = [word for word, _ in words[::step]]
        return self._pivots[column.name]

    def _read(self, keys: str) -> Any:
        # The library makes a range of texts by its parser alone; a key is letters, and no word.
        return self._index.parse_query(keys)

    def _both(self, one: Any, other: Any) -> Any:
        must = self._library.Occur.Must
        return self._query.boolean_query([(must, one), (must, other)])


def between(library: Any, schema: Any, name: str, low: int, high: int) -> Any:
    """Return the query for numbers from low to high."""
    return library.Query.range_query(schema, name, library.FieldType.Integer, low, high)
