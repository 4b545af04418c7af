"""The words of an index: the most frequent ones, those that begin like this, those that rise."""

import time
from dataclasses import dataclass
from typing import Any

from sakuin.app.refused import Refused
from sakuin.indexer.fold import fold
from sakuin.indexer.index import Index
from sakuin.indexer.reader import Reader
from sakuin.indexer.rising_words import rising_words

MOST_WORDS = 1_000
MOST_DAYS = 36_600
_DAY = 86_400 * 1_000_000


@dataclass(frozen=True, slots=True)
class IndexWord:
    """A word, folded, and how many documents hold it.

    Of a rising word: how many of those since then, and `before` how many of the earlier ones.
    """

    word: str
    documents: int
    before: int | None = None


@dataclass(frozen=True, slots=True)
class IndexWords:
    """Words, and the generation that they are of (0: nothing was indexed yet)."""

    generation: int
    words: tuple[IndexWord, ...]


def index_words(
    reader: Reader,
    index: Index,
    *,
    start: str = "",
    rising_days: int | None = None,
    most: int = 20,
) -> IndexWords:
    """Return the most frequent words of the documents. Asks no database.

    With `start` only those that begin with it, folded as the index folds; with `rising_days` those
    that the documents of the last days hold more often than the earlier ones, the greatest rise
    first. Refused names what does not fit; the indexer's errors when the index cannot be read.
    """
    _check(index, start, rising_days, most)
    with reader.open() as opened:
        if opened is None:
            return IndexWords(0, ())
        searcher = opened.searcher
        if rising_days is not None:
            since = time.time_ns() // 1_000 - rising_days * _DAY
            rising = rising_words(searcher, index.fields, since=since, most=most)
            words = tuple(IndexWord(each.word, each.documents, each.before) for each in rising)
            return IndexWords(opened.number, words)
        found = searcher.words(fold(start.strip(), index.fields.folding), most=most)
        words = tuple(IndexWord(each.word, each.documents) for each in found)
        return IndexWords(opened.number, words)


def words_json(words: IndexWords, index: str) -> dict[str, Any]:
    """Return words as JSON has them: {"index", "generation", "words": [{"word", "documents"}]}.

    A rising word also has "before".
    """
    entries = [
        {"word": each.word, "documents": each.documents}
        | ({} if each.before is None else {"before": each.before})
        for each in words.words
    ]
    return {"index": index, "generation": words.generation, "words": entries}


def _check(index: Index, start: str, rising_days: int | None, most: int) -> None:
    if not 1 <= most <= MOST_WORDS:
        raise Refused("most", f"must be 1 to {MOST_WORDS:,}, not {most}")
    if rising_days is None:
        return
    if not 1 <= rising_days <= MOST_DAYS:
        raise Refused("rising", f"must be 1 to {MOST_DAYS:,} days, not {rising_days}")
    if start.strip():
        raise Refused("rising", "is asked of all words, whatever their start: give one of the two")
    if not index.fields.timed:
        raise Refused("rising", f"needs documents with a time; those of {index.name} have none")
