"""A question weighed against one index: how rare its terms are there, and the query they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Final

from sakuin.indexer.closest_recipe import DEFAULT_RECIPE, Recipe
from sakuin.indexer.closest_terms import Term
from sakuin.indexer.query import AnyOfTokens, Token
from sakuin.indexer.scripts import Script, script_of

MOST_TERMS: Final = 64


@dataclass(frozen=True, slots=True)
class Weighed:
    """A term with what it is worth: its share of its rarity. `forms` are those the index holds."""

    term: Term
    forms: tuple[str, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class Question:
    """The terms of a question that an index holds, in the question's order.

    `tokens` are those by which documents are found: not those of grammar, if there are others.
    `kanji` are its single characters of that script: tokens of no index, but told by a text.
    """

    length: int
    terms: tuple[Weighed, ...]
    kanji: tuple[tuple[str, float], ...]
    tokens: tuple[Token, ...]

    def query(self) -> AnyOfTokens:
        """Return the query for the documents that hold at least one of its tokens."""
        return AnyOfTokens(self.tokens)


def weigh(
    question: str,
    terms: tuple[Term, ...],
    frequencies: Mapping[str, int],
    count: int,
    recipe: Recipe = DEFAULT_RECIPE,
) -> Question:
    """Weigh the terms of a folded question by how many of `count` documents hold each form.

    Terms that no document holds are left out; of more than 64 those worth most are kept.
    """
    weighed = []
    for term in terms:
        forms = tuple(form for form in term.forms if frequencies.get(form, 0))
        if forms:
            rarity = _rarity(sum(frequencies[form] for form in forms), count)
            weighed.append(Weighed(term, forms, term.share * rarity))
    if len(weighed) > MOST_TERMS:
        kept = sorted(weighed, key=lambda each: (-each.worth, each.term.at))[:MOST_TERMS]
        weighed = sorted(kept, key=lambda each: each.term.at)
    boosts = dict[str, float]()
    for each in [one for one in weighed if one.term.finds] or weighed:
        for form in each.forms:
            # The engine multiplies by the rarity of each form; all forms count as one word.
            boosts.setdefault(form, each.worth / _rarity(frequencies[form], count))
    return Question(
        len(question),
        tuple(weighed),
        _kanji(question, weighed, recipe.kanji),
        tuple(Token(form, boost) for form, boost in boosts.items()),
    )


def _rarity(frequency: int, count: int) -> float:
    """Return what BM25 takes a word for that so many of the documents hold."""
    frequency = min(frequency, count)
    return log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def _kanji(question: str, weighed: list[Weighed], share: float) -> tuple[tuple[str, float], ...]:
    """Weigh single kanji: as rare as the most frequent pair of the question that has it."""
    rarities = dict[str, float]()
    for each in weighed:
        if not each.term.is_word:
            rarity = each.worth / each.term.share
            for character in each.term.text:
                rarities[character] = min(rarity, rarities.get(character, rarity))
    return tuple(
        (character, share * rarities[character])
        for character in dict.fromkeys(question)
        if character in rarities and script_of(character) is Script.KANJI
    )
