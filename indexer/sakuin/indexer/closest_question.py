"""A question weighed against one index: how rare its terms are there, and the query they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log
from typing import Final

from sakuin.indexer.closest_recipe import DEFAULT_RECIPE, Recipe
from sakuin.indexer.closest_terms import Term
from sakuin.indexer.query import AnyOfTokens, Token
from sakuin.indexer.scripts import Script, script_of

MOST_TOKENS_ASKED: Final = 64
LEAST_PART: Final = 16
"""A document must hold one in so many of a question's terms to be found."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A term with what it is worth: its share of its rarity. `forms` are those the index holds."""

    term: Term
    forms: tuple[str, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class Question:
    """The terms of a question that an index holds, in the question's order.

    `kanji` are its single characters of that script: tokens of no index, but told by a text.
    """

    length: int
    terms: tuple[Weighed, ...]
    kanji: tuple[tuple[str, float], ...]
    tokens: tuple[Token, ...]

    @property
    def least(self) -> int:
        """How many of its tokens a document must hold to be found."""
        return max(1, ceil(len(self.terms) / LEAST_PART))

    def query(self, least: int) -> AnyOfTokens:
        """Return the query for the documents that hold so many of its tokens."""
        return AnyOfTokens(self.tokens, least)


def weigh(
    question: str,
    terms: tuple[Term, ...],
    frequencies: Mapping[str, int],
    count: int,
    recipe: Recipe = DEFAULT_RECIPE,
) -> Question:
    """Weigh the terms of a folded question by how many of `count` documents hold each form.

    Terms that no document holds are left out; of more than 64 tokens those worth most are kept.
    """
    weighed, tokens = [], dict[str, float]()
    for term in terms:
        forms = tuple(form for form in term.forms if frequencies.get(form, 0))
        if not forms:
            continue
        rarity = _rarity(sum(frequencies[form] for form in forms), count)
        weighed.append(Weighed(term, forms, term.share * rarity))
        for form in forms:
            # The engine multiplies by the rarity of each form; all forms count as one word.
            boost = term.share * rarity / _rarity(frequencies[form], count)
            tokens[form] = max(boost, tokens.get(form, 0.0))
    if len(tokens) > MOST_TOKENS_ASKED:
        worth = {form: each.worth for each in weighed for form in each.forms}
        kept = sorted(tokens, key=lambda form: (-worth[form], form))[:MOST_TOKENS_ASKED]
        tokens = {form: tokens[form] for form in tokens if form in set(kept)}
        weighed = [each for each in weighed if any(form in tokens for form in each.forms)]
    return Question(
        len(question),
        tuple(weighed),
        _kanji(question, weighed, recipe.kanji),
        tuple(Token(form, boost) for form, boost in tokens.items()),
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
