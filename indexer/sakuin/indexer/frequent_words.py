"""The words that most documents of an index hold."""

from sakuin.indexer.engine import Searcher, WordCount
from sakuin.indexer.query import Query


def frequent_words(
    searcher: Searcher, *, within: Query | None = None, most: int = 50
) -> tuple[WordCount, ...]:
    """Return the most frequent words of the documents of `within` (None: all), folded.

    Equal ones are in the order of their code points; the counts are exact. Takes as long as the
    index has words: 0.1 s at 80,000. Raises as `search` does.
    """
    return searcher.words("", among=within, most=most)
