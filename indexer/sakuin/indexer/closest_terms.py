"""The terms of a question: tokens of the index, and what share of their rarity each one is worth.

A word of letters with word edges is one token, but a long word of kanji or katakana is many pairs
of characters, which mostly occur together: a run of n pairs is worth the square root of n pairs.
Pairs of mixed scripts and of hiragana are grammar more often than not, and worth less.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from typing import Final

from sakuin.indexer.closest_recipe import DEFAULT_RECIPE, Recipe
from sakuin.indexer.closest_words import ASKING, word_forms
from sakuin.indexer.fold import BLANK, Folding, fold
from sakuin.indexer.scripts import Script, script_of
from sakuin.indexer.tokens import cut

LONGEST_QUESTION: Final = 1_000
"""Characters of a question that count."""

_RUNS: Final = (Script.KANJI, Script.KATAKANA)
_GRAMMAR: Final = frozenset({Script.HIRAGANA, Script.SIGN})
_WHOLE: Final = (*_RUNS, Script.HANGUL, Script.OTHER)


@dataclass(frozen=True, slots=True)
class Term:
    """What is looked for: any of `forms`, tokens of the index, of which the first was asked.

    `at` is its place in the folded question, `share` what it is worth beside other terms of its
    rarity. A word (`is_word`) stands between word edges. A document that holds it is found by it
    (`finds`), unless it is a pair of hiragana or signs: those only rank.
    """

    forms: tuple[str, ...]
    at: int
    share: float
    is_word: bool
    finds: bool = True

    @property
    def text(self) -> str:
        """The form that was asked."""
        return self.forms[0]


def folded_question(text: str, folding: Folding) -> str:
    """Return what of a text counts as a question, folded."""
    return fold(text[:LONGEST_QUESTION], folding).strip()


def terms_of(question: str, recipe: Recipe = DEFAULT_RECIPE) -> tuple[Term, ...]:
    """Return the different terms of a folded question, in order; words that ask if all do."""
    found = dict[str, Term]()
    for script, at, text in _parts(question):
        cut_part = _words if script is Script.SPACED else _pairs
        for term in cut_part(at, text, recipe):
            found.setdefault(min(term.forms), term)
    every = tuple(found.values())
    asking = ASKING if recipe.english else ()
    return tuple(term for term in every if term.text not in asking) or every


def lone_characters(question: str) -> tuple[str, ...]:
    """Return the different characters of unspaced scripts that stand alone, and make no pair."""
    alone = [text for script, _, text in _parts(question) if script is not Script.SPACED]
    return tuple(dict.fromkeys(text for text in alone if len(text) == 1))


def _parts(question: str) -> Iterator[tuple[Script, int, str]]:
    """Yield the parts that tokens do not cross: words, and runs of all other characters."""
    at = 0
    for script, group in groupby(question, _side):
        text = "".join(group)
        if script is not Script.BLANK:
            yield script, at, text
        at += len(text)


def _side(character: str) -> Script:
    script = script_of(character)
    return script if script in (Script.SPACED, Script.BLANK) else Script.OTHER


def _words(at: int, text: str, recipe: Recipe) -> Iterator[Term]:
    tokens = [one for one in cut(text) if one != BLANK]
    forms = word_forms(text) if recipe.english and len(tokens) == 1 else ()
    for token in tokens:
        yield Term(forms or (token,), at, recipe.word, is_word=True)


def _pairs(at: int, text: str, recipe: Recipe) -> Iterator[Term]:
    scripts = list(map(script_of, text))
    lengths = [n for _, group in groupby(scripts) for n in [len(list(group))] for _ in range(n)]
    for i in range(len(text) - 1):
        share = recipe.mixed
        if scripts[i] is scripts[i + 1] and scripts[i] in _WHOLE:
            pairs = min(lengths[i] - 1, recipe.longest_run) if scripts[i] in _RUNS else 1
            share = 1 / sqrt(pairs)
        finds = not _GRAMMAR.issuperset(scripts[i : i + 2])
        yield Term((text[i : i + 2],), at + i, share, is_word=False, finds=finds)
