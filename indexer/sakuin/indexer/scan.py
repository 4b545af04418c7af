"""Cut a query into words, phrases, parentheses and operators. Decides what is syntax, what text.

Blanks part words. A parenthesis, a star or a minus is syntax only at the edge of a word, and a
parenthesis only where its partner is not inside the same word; a quotation mark only at the
start of one. The rest is text: 東京（大阪）, f(x), 12:30, foo-bar and C++ stay what they are.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from sakuin.indexer.diagnostic import Diagnostic, DiagnosticCode

OPENING, CLOSING, STARS, MINUS = "(（", ")）", "*＊", "-－"
# What closes each opening quotation mark; a Japanese keyboard writes ” on both sides.
_STRAIGHT, _CURLY = re.compile('["＂]'), re.compile("”")
QUOTES = {'"': _STRAIGHT, "＂": _STRAIGHT, "“": _CURLY, "”": _CURLY}

_WORD = re.compile(r"\S+")


class Kind(StrEnum):
    """What a token is; AND, OR and NOT may still turn out to be text."""

    TERM = "term"
    PREFIX = "prefix"
    OPEN = "open"
    CLOSE = "close"
    AND = "and"
    OR = "or"
    NOT = "not"


OPERATORS = {
    "AND": Kind.AND,
    "ＡＮＤ": Kind.AND,
    "OR": Kind.OR,
    "ＯＲ": Kind.OR,
    "NOT": Kind.NOT,
    "ＮＯＴ": Kind.NOT,
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the query: code points start..end, and the text to search if it is text."""

    kind: Kind
    text: str
    start: int
    end: int


def scan(text: str) -> tuple[list[Token], list[Diagnostic]]:
    """Return the tokens of a query and the remarks made on the way, in linear time."""
    scanner = _Scanner(text)
    at = 0
    while found := _WORD.search(text, at):
        word = _Word(text, *found.span())
        at = word.start
        while at < word.end:
            at = scanner.part(word, at)
    return scanner.tokens, scanner.diagnostics


class _Word:
    """What stands between two blanks, and which of its parentheses belong together.

    `tail` is where the closing parentheses at its end begin; `partners` gives for each closing
    one its opening one; `inside` are the opening ones that are closed before the tail.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.tail = start + len(text[start:end].rstrip(CLOSING))
        self.partners: dict[int, int] = {}
        waiting: list[int] = []
        for at in range(start, end):
            if text[at] in OPENING:
                waiting.append(at)
            elif text[at] in CLOSING and waiting:
                self.partners[at] = waiting.pop()
        self.inside = {start for end, start in self.partners.items() if end < self.tail}


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.diagnostics: list[Diagnostic] = []
        self._open = 0

    def part(self, word: _Word, start: int) -> int:
        """Scan from the start of a word, or from behind a phrase in it; return where to go on."""
        at = self._lead(word, start)
        if at < word.end and self.text[at] in QUOTES:
            return self._phrase(at)
        end = word.end
        loose = sum(1 for c in range(max(at, word.tail), end) if word.partners.get(c, -1) < at)
        closed = min(loose, self._open)
        self._remark(DiagnosticCode.UNMATCHED_PARENTHESIS, end - loose, end - closed)
        if at < end - closed:
            self._body(at, end - closed)
        for close in range(end - closed, end):
            self._open -= 1
            self._emit(Kind.CLOSE, close, close + 1)
        return end

    def _lead(self, word: _Word, start: int) -> int:
        """Take the opening parentheses and minus signs that are syntax; return what follows."""
        text, run = self.text, start
        while run < word.tail and text[run] in OPENING + MINUS:
            run += 1
        before_quote = run < word.tail and text[run] in QUOTES
        minus_counts = start == word.start
        for at in range(start, run):
            if text[at] in OPENING and (before_quote or at not in word.inside):
                self._open += 1
                self._emit(Kind.OPEN, at, at + 1)
            elif text[at] in MINUS and minus_counts and _acts(text, at, word.tail):
                self._emit(Kind.NOT, at, at + 1)
            else:
                return at
            minus_counts = text[at] in OPENING
        return run

    def _phrase(self, start: int) -> int:
        text = self.text
        found = QUOTES[text[start]].search(text, start + 1)
        if found is None:
            return self._unclosed_phrase(start)
        end = found.start()
        after = text[end + 1 : end + 3]
        starred = after[:1] in STARS and (after[1:].isspace() or after[1:] in CLOSING)
        kind, stop = (Kind.PREFIX, end + 2) if after and starred else (Kind.TERM, end + 1)
        self._emit(kind, start, stop, text[start + 1 : end])
        return stop

    def _unclosed_phrase(self, start: int) -> int:
        end = len(self.text)
        if self.text[start + 1 :].strip():
            self._remark(DiagnosticCode.UNCLOSED_QUOTE, start, end)
            self._emit(Kind.TERM, start, end, self.text[start + 1 :])
        else:
            self._remark(DiagnosticCode.LONE_OPERATOR, start, start + 1)
            self._emit(Kind.TERM, start, start + 1)
        return end

    def _body(self, start: int, end: int) -> None:
        """Emit what is left between the syntax at both edges of a word: an operator or a term."""
        body = self.text[start:end]
        negated = start > 0 and self.text[start - 1] in MINUS
        if body in OPERATORS and not negated:
            self._emit(OPERATORS[body], start, end)
            return
        if body in MINUS:
            self._remark(DiagnosticCode.LONE_OPERATOR, start, end)
        if any(mark in body for mark in QUOTES):
            self._remark(DiagnosticCode.QUOTE_AS_TEXT, start, end)
        stem = body.strip(STARS)
        if stem and len(stem) == len(body) - 1 and body[0] not in STARS:
            self._emit(Kind.PREFIX, start, end, stem)
            return
        if stem != body:
            self._remark(DiagnosticCode.STAR_AS_TEXT, start, end)
        self._emit(Kind.TERM, start, end)

    def _emit(self, kind: Kind, start: int, end: int, text: str | None = None) -> None:
        term = self.text[start:end] if text is None else text
        self.tokens.append(Token(kind, term, start, end))

    def _remark(self, code: DiagnosticCode, start: int, end: int) -> None:
        if start < end:
            self.diagnostics.append(Diagnostic(code, start, end))


def _acts(text: str, minus: int, tail: int) -> bool:
    """Tell whether a minus sign has something behind it, other than one more minus sign."""
    return minus + 1 < tail and text[minus + 1] not in MINUS
