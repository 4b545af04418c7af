"""A suggestion: a whole query to put in the box, which is known to find something."""

from dataclasses import dataclass
from enum import StrEnum

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Hits, Order, Searcher
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.fold import fold
from sakuin.indexer.parse import parse
from sakuin.indexer.query import And, Phrase, Query
from sakuin.indexer.synonyms import Synonyms
from sakuin.indexer.unparse import unparse

_NOTHING_FOUND = Hits(0, ())


class SuggestionKind(StrEnum):
    """What was done to the query that stood in the box.

    Its last piece was completed to a `word` or a `phrase`; a word was written in another
    `spelling`; words that find nothing were left out, so that `fewer` are asked for; or others
    have `asked` it.
    """

    WORD = "word"
    PHRASE = "phrase"
    SPELLING = "spelling"
    FEWER = "fewer"
    ASKED = "asked"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query in Sakuin's own language, and how many documents an exact search for it finds."""

    text: str
    documents: int
    kind: SuggestionKind


@dataclass(frozen=True, slots=True)
class Reading:
    """How a query text is read; `meaning` is the same for texts that differ in spelling alone."""

    query: Query
    meaning: str


@dataclass(frozen=True, slots=True)
class Trial:
    """Tries queries by the exact search, among the documents of `within` (None: all)."""

    searcher: Searcher
    fields: Fields
    within: Query | None = None
    synonyms: Synonyms | None = None

    def read(self, text: str) -> Reading:
        """Return how a query text is read; one that would be refused finds nothing."""
        query = parse(text, fields=self.fields, synonyms=self.synonyms).query
        spelt = " ".join(unparse(query, self.fields).split())
        return Reading(query, fold(spelt, self.fields.folding))

    def find(self, query: Query, limit: int = 0) -> Hits:
        """Return what a query finds; nothing for one that is too large."""
        narrowed = query if self.within is None else And((query, self.within))
        try:
            return self.searcher.search(narrowed, order=Order.RELEVANCE, offset=0, limit=limit)
        except QueryTooLarge:
            return _NOTHING_FOUND

    def as_query(self, text: str) -> str:
        """Return a query text that finds this text, in quotation marks where it needs them."""
        phrase = Phrase(text)
        quoted = unparse(phrase)
        if quoted == text or parse(text, fields=self.fields).query == phrase:
            return text
        return quoted
