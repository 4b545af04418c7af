"""Words of a question that no text holds, taken for words that are spelt nearly like them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sakuin.indexer.closest_terms import Term
from sakuin.indexer.near_words import near_words
from sakuin.indexer.suggestion import Trial

MOST_WORDS: Final = 4
"""So many unknown words of a question are looked up; further ones find nothing."""

_MOST_NEAR = 3
_SHARE = 0.5  # of what the word itself would be worth

Near = Callable[[str], Sequence[str]]


def near_spellings(trial: Trial) -> Near:
    """Return what gives the words of an index that are nearest to a word, the likeliest first."""

    def near(word: str) -> Sequence[str]:
        guesses = near_words(trial, word)
        nearest = min((each.distance for each in guesses), default=0)
        likely = sorted(
            (each for each in guesses if each.distance == nearest),
            key=lambda each: (-each.documents, each.words),
        )
        return [word for each in likely[:_MOST_NEAR] for word in each.words]

    return near


def respelt(terms: Sequence[Term], held: Mapping[str, int], near: Near) -> tuple[Term, ...]:
    """Return terms with near words as the forms of those words that no document holds."""
    unknown = [each for each in terms if each.is_word and not any(map(held.get, each.forms))]
    known = {each: tuple(near(each.text)) for each in unknown[:MOST_WORDS]}
    return tuple(
        replace(each, forms=forms, share=each.share * _SHARE)
        if (forms := known.get(each, ()))
        else each
        for each in terms
    )
