"""What to mark in the documents that are close to a question: its words, in whatever form."""

from typing import Final

from sakuin.indexer.closest_terms import MIXED, Term, terms_of
from sakuin.indexer.document import Fields
from sakuin.indexer.fold import fold
from sakuin.indexer.query import Nothing, Or, Phrase, Query
from sakuin.indexer.scripts import Script, script_of

MOST_MARKS: Final = 48
_LONGEST_QUESTION: Final = 1_000


def closest_marks(text: str, fields: Fields) -> Query:
    """Return a query whose phrases are what to mark; it is not meant to be searched for.

    Pairs of characters of one script are marked, and so words of more, and a kanji with the kana
    behind it; not what is grammar more often than not.
    """
    question = fold(text[:_LONGEST_QUESTION], fields.folding).strip()
    terms = terms_of(question)
    telling = [each for each in terms if each.share > MIXED or _is_stem(question, each)]
    forms = dict.fromkeys(form for each in telling or terms for form in each.forms)
    phrases = tuple(Phrase(form) for form in list(forms)[:MOST_MARKS])
    return Or(phrases) if phrases else Nothing()


def _is_stem(question: str, term: Term) -> bool:
    """Tell whether a pair is a lone kanji with its okurigana, as 生ま of 生まれた."""
    before = question[term.at - 1 : term.at]
    scripts = [script_of(one) for one in term.text[:2]]
    is_lone = not before or script_of(before) is not Script.KANJI
    return is_lone and scripts == [Script.KANJI, Script.HIRAGANA]
