"""What may be meant by what somebody is typing: suggestions of one index, of one generation."""

from dataclasses import dataclass

from sakuin.app.search_generation import own_filter
from sakuin.indexer.did_you_mean import did_you_mean
from sakuin.indexer.index import Index
from sakuin.indexer.limits import DEFAULT_LIMITS
from sakuin.indexer.reader import Reader
from sakuin.indexer.suggest import suggest
from sakuin.indexer.suggestion import Suggestion
from sakuin.indexer.synonyms import Synonyms

MOST_SUGGESTIONS = 20


@dataclass(frozen=True, slots=True)
class Suggested:
    """Suggestions, and the generation that they were made from (0: nothing was indexed yet)."""

    generation: int
    suggestions: tuple[Suggestion, ...]


def suggested(
    reader: Reader,
    index: Index,
    typed: str,
    *,
    most: int = 8,
    within: str = "",
    synonyms: Synonyms | None = None,
) -> Suggested:
    """Return queries that go on from what was typed; each finds something. Asks no database.

    `within` is a filter of the program's own, ValueError where it cannot be searched. The
    indexer's errors when the index cannot be read; never for what was typed.
    """
    condition = own_filter(index, within)
    with reader.open() as opened:
        if opened is None or len(typed) > DEFAULT_LIMITS.length:
            return Suggested(opened.number if opened else 0, ())
        found = suggest(
            opened.searcher, index.fields, typed, most=most, within=condition, synonyms=synonyms
        )
        return Suggested(opened.number, found)


def what_was_meant(
    reader: Reader,
    index: Index,
    text: str,
    *,
    most: int = 3,
    within: str = "",
    synonyms: Synonyms | None = None,
) -> tuple[Suggestion, ...]:
    """Return queries that may have been meant by one that finds nothing; each finds something."""
    condition = own_filter(index, within)
    with reader.open() as opened:
        if opened is None or len(text) > DEFAULT_LIMITS.length:
            return ()
        return did_you_mean(
            opened.searcher, index.fields, text, most=most, within=condition, synonyms=synonyms
        )
