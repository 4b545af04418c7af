"""Hyper Estraier's usual form of a query, as tokens.

Blanks join words into a phrase; AND, OR and ANDNOT stand between phrases, and OR binds tighter
than the other two. `[BW] word` begins so, `[EW] word` ends so. Nothing else is syntax.
"""

import re
from dataclasses import dataclass

from sakuin.indexer.diagnostic import Diagnostic, DiagnosticCode
from sakuin.indexer.leaf import Refused
from sakuin.indexer.syntax import Kind, Token

_WORD = re.compile(r"\S+")
_OPERATORS = {
    "AND": Kind.AND,
    "ＡＮＤ": Kind.AND,
    "OR": Kind.OR,
    "ＯＲ": Kind.OR,
    "ANDNOT": Kind.NOT,
    "ＡＮＤＮＯＴ": Kind.NOT,
}
_BEGINS, _ENDS, _UNSUPPORTED = "[BW]", "[EW]", ("[RX]", "[RANK]")


@dataclass(slots=True)
class _Span:
    start: int
    end: int


def scan(text: str) -> tuple[list[Token], list[Diagnostic]]:
    """Return the tokens, and the remarks made. Raises Refused for what cannot be searched.

    An operator acts between two phrases; at either end, or right behind another one, it is text.
    Alternatives are put into parentheses, so that they bind tighter.
    """
    diagnostics: list[Diagnostic] = []
    words = list(_WORD.finditer(text))
    # The conjunction: alternatives, each a phrase, and whether they are excluded.
    conjunction: list[tuple[bool, list[_Span]]] = [(False, [])]
    joined = False
    for number, word in enumerate(words, start=1):
        operator = _OPERATORS.get(word[0])
        alternatives = conjunction[-1][1]
        if operator and joined and number < len(words):
            if operator is not Kind.OR:
                conjunction.append((operator is Kind.NOT, []))
            joined = False
            continue
        if operator:
            diagnostics.append(Diagnostic(DiagnosticCode.LONE_OPERATOR, *word.span()))
        if joined:
            alternatives[-1].end = word.end()
        else:
            alternatives.append(_Span(*word.span()))
        joined = True
    return _tokens(text, conjunction), diagnostics


def _tokens(text: str, conjunction: list[tuple[bool, list[_Span]]]) -> list[Token]:
    tokens: list[Token] = []
    for excluded, alternatives in conjunction:
        if excluded:
            at = alternatives[0].start
            tokens.append(Token(Kind.NOT, "", at, at))
        several = len(alternatives) > 1
        for number, span in enumerate(alternatives):
            if several:
                kind = Kind.OR if number else Kind.OPEN
                tokens.append(Token(kind, "", span.start, span.start))
            tokens.append(_phrase(text, span))
        if several:
            end = alternatives[-1].end
            tokens.append(Token(Kind.CLOSE, "", end, end))
    return tokens


def _phrase(text: str, span: _Span) -> Token:
    written = text[span.start : span.end]
    command, *rest = written.split(maxsplit=1)
    if command in _UNSUPPORTED:
        raise Refused(DiagnosticCode.UNSUPPORTED, span.start, span.start + len(command))
    begins, ends = command == _BEGINS and bool(rest), command == _ENDS and bool(rest)
    phrase = rest[0] if begins or ends else written
    return Token(Kind.TERM, phrase, span.start, span.end, None, ends, begins, quoted=True)
