"""What to mark in the documents that are close to a question: its words, in whatever form."""

from typing import Final

from sakuin.indexer.closest_terms import MIXED, terms_of
from sakuin.indexer.document import Fields
from sakuin.indexer.fold import fold
from sakuin.indexer.query import Nothing, Or, Phrase, Query

MOST_MARKS: Final = 48
_LONGEST_QUESTION: Final = 1_000


def closest_marks(text: str, fields: Fields) -> Query:
    """Return a query whose phrases are what to mark; it is not meant to be searched for.

    Pairs of characters of one script are marked, and so words of more, but not those that are
    grammar more often than not.
    """
    terms = terms_of(fold(text[:_LONGEST_QUESTION], fields.folding).strip())
    telling = [each for each in terms if each.share > MIXED] or list(terms)
    forms = dict.fromkeys(form for each in telling for form in each.forms)
    phrases = tuple(Phrase(form) for form in list(forms)[:MOST_MARKS])
    return Or(phrases) if phrases else Nothing()
