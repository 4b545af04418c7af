"""Ranking the first hits of a question again, by where in their texts its terms stand.

The sum of four things, all in what the terms are worth: how often each occurs (BM25); what one
sentence has of them; pairs of neighbours that are neighbours in the text too; and what the
beginning of the text has.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sakuin.indexer.closest_question import Question
from sakuin.indexer.closest_recipe import DEFAULT_RECIPE, Recipe
from sakuin.indexer.tokens import is_spaced

LONGEST_READ: Final = 20_000
"""Characters of a text that are looked at: whoever calls cuts off the rest."""

_FIRST_HITS = 10
_SENTENCE_QUESTIONS, _SHORTEST_SENTENCE = 4, 100
_BEGINNING_QUESTIONS = 2
_MOST_PLACES = 16
_SENTENCE_ENDS = re.compile(r"[。!?\n.](?:(?<=[^.])|(?=\s))")


@dataclass(frozen=True, slots=True)
class _Text:
    """Where each of the terms, and then each of the kanji, stands in a folded text."""

    text: str
    places: Sequence[Sequence[int]]


def rank(question: Question, texts: Sequence[str], recipe: Recipe = DEFAULT_RECIPE) -> list[float]:
    """Return the score of each folded text; the texts are in the engine's order, best first."""
    found = [_find(question, text) for text in texts]
    if not found:
        return []
    worths = _telling_apart(question, found[:_FIRST_HITS], recipe.common)
    mean = max(1, sum(len(each.text) for each in found) / len(found))
    part = recipe.length_part
    scores = []
    for each in found:
        long = recipe.saturation * (1 - part + part * len(each.text) / mean)
        scores.append(
            _occurrences(worths, each, recipe.saturation, long)
            + recipe.beginning * _beginning(worths, each, _BEGINNING_QUESTIONS * question.length)
            + recipe.neighbours * _neighbours(question, worths, each)
            + recipe.sentence * _best_sentence(question, worths, each)
        )
    return scores


def _find(question: Question, text: str) -> _Text:
    places = []
    for each in question.terms:
        found = _places(text, each.forms[0], each.term.is_word)
        for form in each.forms[1:]:
            found = sorted(found + _places(text, form, is_word=True))
        places.append(found)
    places += [_places(text, kanji, is_word=False) for kanji, _ in question.kanji]
    return _Text(text, places)


def _places(text: str, part: str, is_word: bool) -> list[int]:
    """Return where a token stands; of what stands everywhere the first places say enough."""
    places = list[int]()
    at = text.find(part)
    while at >= 0 and len(places) < _MOST_PLACES:
        end = at + len(part)
        if not is_word or (_is_edge(text[at - 1 : at]) and _is_edge(text[end : end + 1])):
            places.append(at)
        at = text.find(part, end if is_word else at + 1)
    return places


def _is_edge(neighbour: str) -> bool:
    return not (neighbour.isalnum() if neighbour.isascii() else is_spaced(neighbour))


def _telling_apart(question: Question, first: Sequence[_Text], common: float) -> list[float]:
    """Return what terms and kanji are worth, less where most of the first hits have them.

    The subject of a question is in all of them; what is asked about it tells them apart.
    """
    worths = [each.worth for each in question.terms] + [worth for _, worth in question.kanji]
    return [
        worth * (1 - common * sum(bool(each.places[n]) for each in first) / len(first))
        for n, worth in enumerate(worths)
    ]


def _occurrences(worths: Sequence[float], found: _Text, saturation: float, long: float) -> float:
    return sum(
        worth * len(places) * (1 + saturation) / (len(places) + long)
        for worth, places in zip(worths, found.places, strict=True)
    )


def _beginning(worths: Sequence[float], found: _Text, end: int) -> float:
    return sum(
        worth
        for worth, places in zip(worths, found.places, strict=True)
        if places and places[0] < end
    )


def _neighbours(question: Question, worths: Sequence[float], found: _Text) -> float:
    """Sum up the terms that follow each other in the text as they do in the question."""
    total = 0.0
    for n in range(len(question.terms) - 1):
        places, following = found.places[n], found.places[n + 1]
        if places and following:
            step = question.terms[n + 1].term.at - question.terms[n].term.at
            if not {at + step for at in places}.isdisjoint(following):
                total += worths[n] + worths[n + 1]
    return total


def _best_sentence(question: Question, worths: Sequence[float], found: _Text) -> float:
    """Return the most that one sentence has of the terms; of a long one, a part of it."""
    occurrences = sorted((at, n) for n, places in enumerate(found.places) for at in places)
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(found.text)] + [len(found.text)]
    longest = max(_SHORTEST_SENTENCE, _SENTENCE_QUESTIONS * question.length)
    counts = [0] * len(worths)
    best = current = 0.0
    begin = oldest = sentence = 0
    for at, n in occurrences:
        while at >= ends[sentence]:
            begin, sentence = ends[sentence], sentence + 1
        from_here = at - longest if at - longest > begin else begin
        while occurrences[oldest][0] < from_here:
            gone = occurrences[oldest][1]
            counts[gone] -= 1
            if not counts[gone]:
                current -= worths[gone]
            oldest += 1
        if not counts[n]:
            current += worths[n]
            if current > best:
                best = current
        counts[n] += 1
    return best
