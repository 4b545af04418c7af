"""What to mark in the documents that are close to a question: its words, in whatever form."""

from typing import Final

from sakuin.indexer.closest_terms import Term, folded_question, terms_of
from sakuin.indexer.document import Fields
from sakuin.indexer.query import Nothing, Or, Phrase, Query
from sakuin.indexer.scripts import Script, script_of

MOST_MARKS: Final = 48


def closest_marks(text: str, fields: Fields) -> Query:
    """Return a query whose phrases are what to mark; it is not meant to be searched for.

    Pairs of characters of one script are marked, and so words of more, and a kanji with the kana
    behind it; not what is grammar more often than not.
    """
    question = folded_question(text, fields.folding)
    terms = terms_of(question)
    telling = [each for each in terms if _is_telling(question, each)]
    forms = dict.fromkeys(form for each in telling or terms for form in each.forms)
    phrases = tuple(Phrase(form) for form in list(forms)[:MOST_MARKS])
    return Or(phrases) if phrases else Nothing()


def _is_telling(question: str, term: Term) -> bool:
    """Tell a word, a pair of one script that is no hiragana, or a lone kanji with its okurigana.

    The last is as 生ま of 生まれた.
    """
    scripts = [script_of(one) for one in term.text[:2]]
    if term.is_word or (len(set(scripts)) == 1 and term.finds):
        return True
    before = question[term.at - 1 : term.at]
    is_lone = not before or script_of(before) is not Script.KANJI
    return is_lone and scripts == [Script.KANJI, Script.HIRAGANA]
