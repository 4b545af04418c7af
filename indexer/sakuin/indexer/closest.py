"""Closest matches: the documents that have most to do with a question, where no text has it all.

A second kind of search, never mixed with the exact one. The text is plain words: it holds no
operators. The engine finds the documents that hold some of the question's terms; the first of
them are ranked again by where in their texts those stand (`closest_rank`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from sakuin.indexer.closest_question import Question, weigh
from sakuin.indexer.closest_rank import LONGEST_READ, rank
from sakuin.indexer.closest_recipe import DEFAULT_RECIPE, Recipe
from sakuin.indexer.closest_terms import lone_characters, terms_of
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit, Hits, Order, Searcher
from sakuin.indexer.fold import fold
from sakuin.indexer.query import And, Nothing, Or, Phrase, Query

LONGEST_QUESTION: Final = 1_000
_MOST_LONE: Final = 8


def search_closest(
    searcher: Searcher,
    fields: Fields,
    text: str,
    *,
    within: Query | None = None,
    offset: int,
    limit: int,
    recipe: Recipe = DEFAULT_RECIPE,
) -> Hits:
    """Return the documents closest to a text, best first, and how many there are exactly.

    Found is what matches `within` and holds one in sixteen of the terms of the text that the
    index knows, rounded up (if nothing does: one of them). Takes any text, of which the first
    1,000 characters count. The order is the same every time, so pages fit together. Scores compare
    among the hits ranked again, and among those behind them. Raises as `search` does for `within`.
    """
    question = closest(text, fields, searcher.frequencies, searcher.document_count, recipe)
    rerank_first = partial(rerank, question, fields, recipe=recipe)
    found = Hits(0, ())
    for query in _queries(text, fields, question):
        asked = query if within is None else And((query, within))
        found = _page(searcher, asked, offset, limit, recipe.ranked_again, rerank_first)
        if found.total:
            break
    return found


def closest(
    text: str,
    fields: Fields,
    frequencies: Callable[[Sequence[str]], Mapping[str, int]],
    count: int,
    recipe: Recipe = DEFAULT_RECIPE,
) -> Question:
    """Return the question that a text is to an index of `count` documents.

    `frequencies` says how many of them hold each token, as `Searcher.frequencies` does.
    """
    folded = _folded(text, fields)
    terms = terms_of(folded, recipe)
    found = frequencies([one for term in terms for one in term.forms])
    return weigh(folded, terms, found, count, recipe)


def _folded(text: str, fields: Fields) -> str:
    return fold(text[:LONGEST_QUESTION], fields.folding).strip()


def _queries(text: str, fields: Fields, question: Question) -> Sequence[Query]:
    """Return what to look for, one after the other until something is found."""
    if question.tokens:
        return [question.query(least) for least in sorted({question.least, 1}, reverse=True)]
    # A single character is no token: an exact search finds it.
    alone = lone_characters(_folded(text, fields))[:_MOST_LONE]
    return [Or(tuple(map(Phrase, alone)))] if alone else [Nothing()]


def _page(
    searcher: Searcher,
    query: Query,
    offset: int,
    limit: int,
    ranked_again: int,
    rank_again: Callable[[Sequence[Document]], tuple[Hit, ...]],
) -> Hits:
    if offset >= ranked_again or not limit:
        return searcher.search(query, order=Order.RELEVANCE, offset=offset, limit=limit)
    end = offset + limit
    most = max(end, ranked_again)
    found = searcher.search(query, order=Order.RELEVANCE, offset=0, limit=most)
    first = rank_again([hit.document for hit in found.hits[:ranked_again]])
    return Hits(found.total, (first + found.hits[ranked_again:])[offset:end])


def rerank(
    question: Question,
    fields: Fields,
    documents: Sequence[Document],
    *,
    recipe: Recipe = DEFAULT_RECIPE,
) -> tuple[Hit, ...]:
    """Rank documents, which come in the engine's order, by their texts; equal ones stay so."""
    scores = [0.0] * len(documents)
    for name in fields.searched:
        texts = [
            fold(document.text.get(name, "")[:LONGEST_READ], fields.folding)
            for document in documents
        ]
        weight = fields.weight(name)
        for at, score in enumerate(rank(question, texts, recipe)):
            scores[at] += weight * score
    hits = [Hit(one, score) for one, score in zip(documents, scores, strict=True)]
    return tuple(sorted(hits, key=lambda hit: -hit.score))
