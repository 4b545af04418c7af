"""What one segment of a whoosh index answers.

whoosh's matchers are handed in, so that one module alone imports it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sakuin.indexer.document import Fields
from sakuin.indexer.expand import End, alone, ends, open_keywords
from sakuin.indexer.plan import AnyOf, Plan
from sakuin.indexer.plan_leaves import Between, Gaps, Keyword, Leaf, OneOf, Tokens
from sakuin.indexer.query import Everything, Nothing
from sakuin.indexer.whoosh_words import Words
from sakuin.indexer.whoosh_writer import WORDS, keyword_field, number_getter, token_field


class Segment:
    """One segment during one search; recursion is bounded by the plan's depth."""

    def __init__(self, searcher: Any, offset: int, fields: Fields, matchers: Any) -> None:
        self._matchers = matchers
        self._searcher, self._reader, self._fields = searcher, searcher.reader(), fields
        self._offset, self._words = offset, Words(self._reader)
        self._endings: Mapping[End, Collection[bytes]] = {}
        self._places: dict[tuple[str, End], dict[int, list[bytes]]] = {}

    def words(self, end: End) -> Iterator[bytes]:
        """Yield the words of each field that begin so."""
        for name in self._fields.searched:
            field = token_field(self._fields, name, backwards=end.backwards)
            yield from self._words.living(field, end.start)

    def count_words(self, start: str, found: set[int], counts: Counter[bytes]) -> Iterator[None]:
        """Count, one word a step, those of these documents that have each word that begins so."""
        return self._count(WORDS, start, found, counts)

    def count_keywords(self, name: str, found: set[int], counts: Counter[bytes]) -> Iterator[None]:
        """Count, one value of a keyword filter a step, those of these documents that have it."""
        return self._count(keyword_field(self._fields, name), "", found, counts)

    def _count(
        self, field: str, start: str, found: set[int], counts: Counter[bytes]
    ) -> Iterator[None]:
        among = {at - self._offset for at in found}
        for word, numbers in self._words.having(field, start):
            if count := len(among.intersection(numbers)):
                counts[word] += count
            yield

    def count_numbers(self, found: set[int], counts: Mapping[str, Counter[int]]) -> Iterator[None]:
        """Count the values of number and time filters, by name: one of these documents a step."""
        numbers = self._reader.column_reader("numbers")
        getters = [(number_getter(self._fields, name), each) for name, each in counts.items()]
        for at in found:
            row = numbers[at - self._offset]
            for value_in, each in getters:
                if (value := value_in(row)) is not None:
                    each[value] += 1
            yield

    def read(self, planned: Plan) -> Iterator[Iterator[None]]:
        """Read what open words outside phrases, and of filters, will need, one word a step."""
        for each in alone(planned):
            for name in self._fields.searched:
                field = token_field(self._fields, name, backwards=each.backwards)
                if each.gaps:
                    yield self._words.read_fitting(field, each.start, each.gaps)
                else:
                    yield self._words.read(field, each.start)
        for keyword in open_keywords(planned):
            yield self._words.read(keyword_field(self._fields, keyword.field), keyword.text)

    def matches(
        self, query: Plan, endings: Mapping[End, Collection[bytes]]
    ) -> Iterator[tuple[float, int]]:
        """Yield (minus the score, document number) of every match."""
        self._endings = endings
        matcher = self._matcher(query)
        while matcher.is_active():
            yield -matcher.score(), self._offset + matcher.id()
            matcher.next()

    def _matcher(self, each: Plan) -> Any:
        if isinstance(each, Everything):
            return self._matchers.some(list(self._reader.all_doc_ids()))
        if isinstance(each, Nothing):
            return self._matchers.none()
        if isinstance(each, Leaf | Gaps):
            names = self._fields.searched if each.field is None else (each.field,)
            return self._matchers.any_of(self._weighted(name, each) for name in names)
        if isinstance(each, Tokens):
            return self._some_of(each)
        if isinstance(each, Keyword | Between | OneOf):
            return self._matchers.weighted(self._filter(each), 0.0)
        if isinstance(each, AnyOf):
            return self._matchers.any_of(self._matcher(one) for one in each.clauses)
        wanted = [self._matcher(one) for one in each.wanted or (Everything(),)]
        unwanted = self._matchers.any_of(self._matcher(one) for one in each.unwanted)
        return self._matchers.without(self._matchers.all_of(wanted), unwanted)

    def _some_of(self, each: Tokens) -> Any:
        """Match by dictionaries: whoosh's tree of matchers takes a step of every token a hit."""
        scores: dict[int, float] = {}
        tokens: dict[int, int] = {}
        for token, weight in each.weighted:
            found: dict[int, float] = {}
            for name in self._fields.searched:
                times = weight * self._fields.weight(name)
                matcher = self._term(token_field(self._fields, name), token)
                while matcher.is_active():
                    found[matcher.id()] = found.get(matcher.id(), 0.0) + times * matcher.score()
                    matcher.next()
            for at, score in found.items():
                scores[at] = scores.get(at, 0.0) + score
                tokens[at] = tokens.get(at, 0) + 1
        return self._matchers.listed(
            {at: score for at, score in scores.items() if tokens[at] >= each.least}
        )

    def _filter(self, each: Keyword | Between | OneOf) -> Any:
        if isinstance(each, OneOf):
            return self._matchers.some(
                at for one in each.ids for at in self._having("id", one.encode())
            )
        if isinstance(each, Keyword):
            field = keyword_field(self._fields, each.field)
            if each.open_end:
                return self._matchers.some(self._words.documents(field, each.text))
            return self._term(field, each.text)
        numbers = self._reader.column_reader("numbers")
        value_in = number_getter(self._fields, each.field)
        values = ((at, value_in(numbers[at])) for at in self._reader.all_doc_ids())
        return self._matchers.some(
            at for at, value in values if value is not None and each.low <= value <= each.high
        )

    def _weighted(self, name: str, each: Leaf | Gaps) -> Any:
        weight = self._fields.weight(name)
        made = self._leaf(token_field(self._fields, name, backwards=each.backwards), each)
        return made if weight == 1 else self._matchers.weighted(made, weight)

    def _leaf(self, field: str, each: Leaf | Gaps) -> Any:
        if isinstance(each, Gaps):
            return self._matchers.some(self._words.fitting(field, each))
        first, *others = each.cut.tokens
        if others:
            return self._phrase(field, each)
        if each.cut.open_end:  # at a constant score
            return self._matchers.some(self._words.documents(field, first))
        return self._term(field, first)

    def _term(self, field: str, token: str | bytes) -> Any:
        if (field, token) in self._reader:
            return self._searcher.postings(field, token)
        return self._matchers.none()

    def _having(self, field: str, value: bytes) -> Iterator[int]:
        if (field, value) in self._reader:
            yield from self._reader.postings(field, value).all_ids()

    def _phrase(self, field: str, leaf: Leaf) -> Any:
        cut = leaf.cut
        parts = [(self._term(field, token), places) for token, places in cut.places().items()]
        if not all(matcher.is_active() for matcher, _ in parts):
            return self._matchers.none()
        for end in ends(leaf):
            turned = end.backwards and not leaf.backwards
            place = 0 if turned else len(cut.tokens) - 1
            parts.append((self._ending(field, end, turned=turned), [place]))
        return self._matchers.phrase(parts)

    def _ending(self, field: str, end: End, *, turned: bool) -> Any:
        """Match the words that the open end of a phrase stands for, read once a search."""
        places = self._places.get((field, end))
        if places is None:
            words = self._endings[end]
            if turned:
                words = [word.decode()[::-1].encode() for word in words]
            places = self._places[field, end] = self._words.places(field, words)
        decode = self._reader.schema[field].format.decoder("positions")
        return self._matchers.ending(places, decode)
