"""What the query language has to say about a query, beside its tree. Says it once, in English."""

from dataclasses import dataclass
from enum import StrEnum


class DiagnosticCode(StrEnum):
    """Every remark a parse can make; the code is stable, the sentence is not."""

    EMPTY_QUERY = "empty_query"
    EMPTY_TERM = "empty_term"
    TOO_LONG = "too_long"
    TOO_MANY_TERMS = "too_many_terms"
    TOO_DEEP = "too_deep"
    TOO_MANY_WORDS = "too_many_words"
    UNCLOSED_QUOTE = "unclosed_quote"
    UNCLOSED_PARENTHESIS = "unclosed_parenthesis"
    UNMATCHED_PARENTHESIS = "unmatched_parenthesis"
    LONE_OPERATOR = "lone_operator"
    QUOTE_AS_TEXT = "quote_as_text"
    STAR_AS_TEXT = "star_as_text"
    REPLACED_CHARACTER = "replaced_character"
    ALL_BUT = "all_but"

    @property
    def refuses(self) -> bool:
        """Tell whether a query with this remark was not searched at all."""
        return self in _REFUSALS


_REFUSALS = frozenset(
    (
        DiagnosticCode.TOO_LONG,
        DiagnosticCode.TOO_MANY_TERMS,
        DiagnosticCode.TOO_DEEP,
        DiagnosticCode.TOO_MANY_WORDS,
    )
)
_MESSAGES = {
    DiagnosticCode.EMPTY_QUERY: "there is nothing to search for",
    DiagnosticCode.EMPTY_TERM: "holds no visible character and is left out",
    DiagnosticCode.TOO_LONG: "the query is too long and was not searched: shorten it",
    DiagnosticCode.TOO_MANY_TERMS: "the query has too many words and was not searched: use fewer",
    DiagnosticCode.TOO_DEEP: "parentheses are nested too deep; the query was not searched",
    DiagnosticCode.TOO_MANY_WORDS: "too many words begin so; the query was not searched: write"
    " more letters before the *",
    DiagnosticCode.UNCLOSED_QUOTE: "the quotation mark is not closed; it runs to the end",
    DiagnosticCode.UNCLOSED_PARENTHESIS: "the parenthesis is not closed; it runs to the end",
    DiagnosticCode.UNMATCHED_PARENTHESIS: "nothing opens this parenthesis; it is searched as text",
    DiagnosticCode.LONE_OPERATOR: "the operator has nothing to act on; it is searched as text",
    DiagnosticCode.QUOTE_AS_TEXT: "a quotation mark inside a word is searched as text",
    DiagnosticCode.STAR_AS_TEXT: "only one * at the end of a word is a prefix; searched as text",
    DiagnosticCode.REPLACED_CHARACTER: "a control character counts as a blank, half a surrogate"
    " pair as U+FFFD",
    DiagnosticCode.ALL_BUT: "the query only excludes: everything else is found",
}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One remark about the query's code points start..end (end is past the last one)."""

    code: DiagnosticCode
    start: int
    end: int

    @property
    def message(self) -> str:
        """The remark as an English sentence, without the place."""
        return _MESSAGES[self.code]
