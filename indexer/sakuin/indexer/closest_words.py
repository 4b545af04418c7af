"""Words of Latin letters in a question: those that ask, and the other forms of the rest.

Both are small on purpose. What is rare weighs much by itself, but words that ask (`which`) are
rarer in texts than in questions, so their rarity says nothing.
"""

from typing import Final

_ASKING = (
    "a an and are as at be been by can could did do does for from had has have how i if in into is "
    "it its many me much my of on or our should so such than that the their there these they this "
    "those to was we were what when where which who whom whose why will with would you your"
)
ASKING: Final = frozenset(_ASKING.split())
"""English words that a question has for its grammar alone."""

_SHORTEST_STEM: Final = 3
_ENDINGS: Final = ("", "s", "es", "e", "ed", "ing")


def word_forms(word: str) -> tuple[str, ...]:
    """Return a folded word and the forms that it may have in English texts, itself first.

    Plural, past and -ing alone, of words of the letters a to z. Most are no words at all: an
    index knows which of them it holds.
    """
    stem = _stem(word)
    if len(stem) < _SHORTEST_STEM or not (word.isascii() and word.isalpha()):
        return (word,)
    endings = [stem + ending for ending in _ENDINGS]
    if stem.endswith("y"):
        endings.append(f"{stem[:-1]}ies")
    return (word, *(one for one in endings if one != word and _stem(one) == stem))


def _stem(word: str) -> str:
    """Cut plural, past and -ing off, and the e that they swallow."""
    word = _singular(word)
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) >= len(ending) + _SHORTEST_STEM:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > _SHORTEST_STEM + 1 else word


def _singular(word: str) -> str:
    if len(word) <= _SHORTEST_STEM or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if len(word) > _SHORTEST_STEM + 1:
        if word.endswith("ies"):
            return f"{word[:-3]}y"
        if word.endswith(("ses", "xes", "zes", "ches", "shes")):
            return word[:-2]
    return word[:-1]
