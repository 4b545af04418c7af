"""Closest matches: the documents that have most to do with a question, where no text has it all.

A second kind of search, never mixed with the exact one. The text is plain words: it holds no
operators. The engine finds the documents that hold some of the question's terms; the first of
them are ranked again by where in their texts those stand (`closest_rank`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sakuin.indexer.closest_question import Question, weigh
from sakuin.indexer.closest_rank import LONGEST_READ, rank
from sakuin.indexer.closest_recipe import DEFAULT_RECIPE, Recipe
from sakuin.indexer.closest_spelling import Near, near_spellings, respelt
from sakuin.indexer.closest_terms import folded_question, lone_characters, terms_of
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit, Hits, Order, Searcher
from sakuin.indexer.fold import fold
from sakuin.indexer.query import And, Nothing, Or, Phrase, Query
from sakuin.indexer.suggestion import Trial

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

    Found is what matches `within` and holds one of the text's terms: of the 64 worth most (those
    of grammar count where there is nothing else), Latin words that no document holds spelt as near
    ones. Takes any text, of which the first 1,000 characters count. The order is
    the same every time, so pages fit together. Scores compare among the hits ranked again, and
    among those behind them. Raises as `search` does for `within`.
    """
    return closest_search(searcher, fields, text, within=within, recipe=recipe).page(offset, limit)


@dataclass(frozen=True, slots=True)
class ClosestSearch:
    """One question to one index: `query` is for all that it finds, in the engine's own order."""

    searcher: Searcher
    fields: Fields
    recipe: Recipe
    question: Question
    query: Query

    def page(self, offset: int, limit: int) -> Hits:
        """Return hits offset..offset+limit, and the exact total."""
        again = self.recipe.ranked_again
        if offset >= again or not limit:
            return self.searcher.search(
                self.query, order=Order.RELEVANCE, offset=offset, limit=limit
            )
        end = offset + limit
        found = self.searcher.search(
            self.query, order=Order.RELEVANCE, offset=0, limit=max(end, again)
        )
        first = [hit.document for hit in found.hits[:again]]
        hits = rerank(self.question, self.fields, first, self.recipe) + found.hits[again:]
        return Hits(found.total, hits[offset:end])


def closest_search(
    searcher: Searcher,
    fields: Fields,
    text: str,
    *,
    within: Query | None = None,
    recipe: Recipe = DEFAULT_RECIPE,
) -> ClosestSearch:
    """Return the search for what is closest to a text, to be paged through and counted."""
    near = near_spellings(Trial(searcher, fields, within))
    count = searcher.document_count
    question = closest(text, fields, searcher.frequencies, count, recipe, near)
    query = question.query() if question.tokens else _single_characters(text, fields)
    if within is not None:
        query = And((query, within))
    return ClosestSearch(searcher, fields, recipe, question, query)


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
    folded = folded_question(text, fields.folding)
    terms = terms_of(folded, recipe)
    held = dict(frequencies([one for term in terms for one in term.forms]))
    if near:
        terms = respelt(terms, held, near)
        new = {one for term in terms for one in term.forms} - held.keys()
        held |= frequencies(sorted(new)) if new else {}
    return weigh(folded, terms, held, count, recipe)


def _single_characters(text: str, fields: Fields) -> Query:
    """Return an exact search: a single character of an unspaced script is no token."""
    alone = lone_characters(folded_question(text, fields.folding))[:_MOST_LONE]
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
