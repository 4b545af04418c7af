"""Closest matches: the documents that have most to do with a question, where no text has it all.

A second kind of search, never mixed with the exact one. The text is plain words: it holds no
operators. The engine finds the documents that hold some of the question's terms; the first of
them are ranked again by where in their texts those stand (`closest_rank`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sakuin.indexer.closest_question import Question, weigh
from sakuin.indexer.closest_rank import LONGEST_READ, rank
from sakuin.indexer.closest_recipe import DEFAULT_RECIPE, Recipe
from sakuin.indexer.closest_spelling import Near, near_spellings, respelt
from sakuin.indexer.closest_terms import lone_characters, terms_of
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit, Hits, Order, Searcher
from sakuin.indexer.fold import fold
from sakuin.indexer.query import And, Nothing, Or, Phrase, Query
from sakuin.indexer.suggestion import Trial

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

    Found is what matches `within` and holds one of the text's terms (those of grammar count where
    there is nothing else). Takes any text, of which the first 1,000 characters count. The order is
    the same every time, so pages fit together. Scores compare among the hits ranked again, and
    among those behind them. Raises as `search` does for `within`.
    """
    question = _question(searcher, fields, text, recipe)
    query = _query(question, fields, text, within)
    if offset >= recipe.ranked_again or not limit:
        return searcher.search(query, order=Order.RELEVANCE, offset=offset, limit=limit)
    end = offset + limit
    most = max(end, recipe.ranked_again)
    found = searcher.search(query, order=Order.RELEVANCE, offset=0, limit=most)
    first = [hit.document for hit in found.hits[: recipe.ranked_again]]
    hits = rerank(question, fields, first, recipe) + found.hits[recipe.ranked_again :]
    return Hits(found.total, hits[offset:end])


def closest_query(
    searcher: Searcher, fields: Fields, text: str, *, within: Query | None = None
) -> Query:
    """Return the query for all that `search_closest` finds, in the engine's own order."""
    question = _question(searcher, fields, text, DEFAULT_RECIPE)
    return _query(question, fields, text, within)


def closest(
    text: str,
    fields: Fields,
    frequencies: Callable[[Sequence[str]], Mapping[str, int]],
    count: int,
    recipe: Recipe = DEFAULT_RECIPE,
    near: Near | None = None,
) -> Question:
    """Return the question that a text is to an index of `count` documents.

    `frequencies` says how many of them hold each token, as `Searcher.frequencies` does; `near`
    gives words for one that none of them holds (None: it is left out).
    """
    folded = _folded(text, fields)
    terms = terms_of(folded, recipe)
    held = dict(frequencies([one for term in terms for one in term.forms]))
    if near:
        terms = respelt(terms, held, near)
        new = {one for term in terms for one in term.forms} - held.keys()
        held |= frequencies(sorted(new)) if new else {}
    return weigh(folded, terms, held, count, recipe)


def _question(searcher: Searcher, fields: Fields, text: str, recipe: Recipe) -> Question:
    near = near_spellings(Trial(searcher, fields))
    return closest(text, fields, searcher.frequencies, searcher.document_count, recipe, near)


def _query(question: Question, fields: Fields, text: str, within: Query | None) -> Query:
    query = question.query() if question.tokens else _single_characters(text, fields)
    return query if within is None else And((query, within))


def _folded(text: str, fields: Fields) -> str:
    return fold(text[:LONGEST_QUESTION], fields.folding).strip()


def _single_characters(text: str, fields: Fields) -> Query:
    """Return an exact search: a single character of an unspaced script is no token."""
    alone = lone_characters(_folded(text, fields))[:_MOST_LONE]
    return Or(tuple(map(Phrase, alone))) if alone else Nothing()


def rerank(
    question: Question,
    fields: Fields,
    documents: Sequence[Document],
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
