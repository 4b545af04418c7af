"""What the query language has to say about a query, beside its tree. Says it once, in English."""

from dataclasses import dataclass
from enum import StrEnum

from sakuin.indexer.limits import DEFAULT_DISTANCE, MOST_DISTANCE, MOST_NEAR_PARTS


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
    BAD_NUMBER = "bad_number"
    BAD_TIME = "bad_time"
    BAD_KEYWORD = "bad_keyword"
    EMPTY_RANGE = "empty_range"
    UNSUPPORTED = "unsupported"
    OPTIONAL_WORDS = "optional_words"
    RANK_IGNORED = "rank_ignored"
    PRAGMA_IGNORED = "pragma_ignored"
    UNKNOWN_FIELD = "unknown_field"
    UNKNOWN_FILTER = "unknown_filter"
    NEAR_DISTANCE = "near_distance"
    NEAR_ALONE = "near_alone"
    NEAR_AS_TEXT = "near_as_text"
    NEAR_TOO_FAR = "near_too_far"
    NEAR_TOO_MANY = "near_too_many"
    NEAR_TOO_COMMON = "near_too_common"
    SYNONYMS = "synonyms"
    SYNONYMS_LEFT_OUT = "synonyms_left_out"

    @property
    def refuses(self) -> bool:
        """Tell whether a query with this remark was not searched at all."""
        return self in _REFUSALS


_REFUSALS = frozenset(
    (
        DiagnosticCode.UNKNOWN_FILTER,
        DiagnosticCode.TOO_LONG,
        DiagnosticCode.TOO_MANY_TERMS,
        DiagnosticCode.TOO_DEEP,
        DiagnosticCode.TOO_MANY_WORDS,
        DiagnosticCode.BAD_NUMBER,
        DiagnosticCode.BAD_TIME,
        DiagnosticCode.BAD_KEYWORD,
        DiagnosticCode.EMPTY_RANGE,
        DiagnosticCode.UNSUPPORTED,
        DiagnosticCode.NEAR_TOO_FAR,
        DiagnosticCode.NEAR_TOO_MANY,
        DiagnosticCode.NEAR_TOO_COMMON,
    )
)
_MESSAGES = {
    DiagnosticCode.EMPTY_QUERY: "there is nothing to search for",
    DiagnosticCode.EMPTY_TERM: "holds no visible character and is left out",
    DiagnosticCode.TOO_LONG: "the query is too long and was not searched: shorten it",
    DiagnosticCode.TOO_MANY_TERMS: "the query has too many words and was not searched: use fewer",
    DiagnosticCode.TOO_DEEP: "parentheses are nested too deep; the query was not searched",
    DiagnosticCode.TOO_MANY_WORDS: "too many words are spelt like this; the query was not"
    " searched: write more letters beside the *",
    DiagnosticCode.UNCLOSED_QUOTE: "the quotation mark is not closed; it runs to the end",
    DiagnosticCode.UNCLOSED_PARENTHESIS: "the parenthesis is not closed; it runs to the end",
    DiagnosticCode.UNMATCHED_PARENTHESIS: "nothing opens this parenthesis; it is searched as text",
    DiagnosticCode.LONE_OPERATOR: "the operator has nothing to act on; it is searched as text",
    DiagnosticCode.QUOTE_AS_TEXT: "a quotation mark inside a word is searched as text",
    DiagnosticCode.STAR_AS_TEXT: "a * counts at either end of a word, or between letters of a word"
    " like wom*n; this one is searched as text",
    DiagnosticCode.REPLACED_CHARACTER: "a control character counts as a blank, half a surrogate"
    " pair as U+FFFD",
    DiagnosticCode.ALL_BUT: "the query only excludes: everything else is found",
    DiagnosticCode.BAD_NUMBER: "no whole number can be read here and nothing was searched: write"
    " 5, >=100, <100, 10..20, 10.. or ..20",
    DiagnosticCode.BAD_TIME: "no time can be read here and nothing was searched: write 2024,"
    " 2024-01, 2024-01-15 or 2024-01-15T10:30 (UTC), with >= or < before it, or .. between two",
    DiagnosticCode.BAD_KEYWORD: "no value can be read here and nothing was searched: write the"
    " whole value, or its beginning and a *; a * that is meant as such needs quotation marks",
    DiagnosticCode.EMPTY_RANGE: "the range ends before it begins and nothing was searched",
    DiagnosticCode.UNSUPPORTED: "this is not supported and nothing was searched: leave it out",
    DiagnosticCode.OPTIONAL_WORDS: "beside words with a + the others change nothing in what is"
    " found; they were left out",
    DiagnosticCode.RANK_IGNORED: "the signs < > ~ would only change the order; left out",
    DiagnosticCode.UNKNOWN_FIELD: "this index has no such field; searched as text",
    DiagnosticCode.UNKNOWN_FILTER: "this index has no such field; the query was not searched",
    DiagnosticCode.PRAGMA_IGNORED: "this pragma has no meaning here; left out",
    DiagnosticCode.NEAR_DISTANCE: f"no number stands behind the ~; taken as ~{DEFAULT_DISTANCE}",
    DiagnosticCode.NEAR_ALONE: "a ~ needs two words in the quotation marks; left out",
    DiagnosticCode.NEAR_AS_TEXT: "a ~ counts right behind a quoted phrase without a star, with a"
    " number behind it; this one is searched as text",
    DiagnosticCode.NEAR_TOO_FAR: f"words can be at most {MOST_DISTANCE} apart and nothing was"
    " searched: write a smaller number behind the ~",
    DiagnosticCode.NEAR_TOO_MANY: f"at most {MOST_NEAR_PARTS} words can be near each other and"
    " nothing was searched: use fewer",
    DiagnosticCode.NEAR_TOO_COMMON: "too many documents hold all the words that must be near each"
    " other; the query was not searched: write rarer ones",
    DiagnosticCode.SYNONYMS: "synonyms are searched too",
    DiagnosticCode.SYNONYMS_LEFT_OUT: "its synonyms were left out: with them the query would have"
    " too many words",
}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One remark about the query's code points start..end (end is past the last one).

    `words` are those that were added to the query, or left out of it, because of what stands there.
    """

    code: DiagnosticCode
    start: int
    end: int
    words: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The remark as an English sentence, without the place."""
        named = f": {', '.join(self.words)}" if self.words else ""
        return _MESSAGES[self.code] + named
