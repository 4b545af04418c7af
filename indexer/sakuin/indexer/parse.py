"""The query language (promise S3): any string in, a query tree and remarks out. Never raises.

    a b, a AND b, a OR b, NOT a, -a, "a b", ( ), a*     NOT binds tighter than AND, AND than OR

Full-width forms count too. What is syntax and what is text is decided in `scan`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from sakuin.indexer.diagnostic import Diagnostic, DiagnosticCode
from sakuin.indexer.fold import fold
from sakuin.indexer.query import And, Not, Nothing, Or, Phrase, Query
from sakuin.indexer.scan import Kind, Token, scan

# Control characters that are no blank anyway, and halves of surrogate pairs.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+")
_SURROGATE = re.compile("[\ud800-\udfff]+")
_OPERANDS = (Kind.TERM, Kind.PREFIX, Kind.OPEN, Kind.NOT)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one query may ask: code points, terms, parentheses within parentheses."""

    length: int = 1_000
    leaves: int = 64
    depth: int = 20


DEFAULT_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a query, and what there is to say about it (places in the original string).

    A query over a limit becomes `Nothing` with the remark that names the limit, and `refused`
    is true: nothing else is searched in its place.
    """

    query: Query
    diagnostics: tuple[Diagnostic, ...]

    @property
    def refused(self) -> bool:
        """Tell whether a limit kept the query from being searched."""
        return any(diagnostic.code.refuses for diagnostic in self.diagnostics)


def parse(text: str, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Read a query as a user typed it. Takes any string and never raises."""
    if len(text) > limits.length:
        return _refused(DiagnosticCode.TOO_LONG, limits.length, len(text))
    clean, diagnostics = _clean(text)
    tokens, remarks = scan(clean)
    diagnostics += remarks
    if not tokens:
        diagnostics.append(Diagnostic(DiagnosticCode.EMPTY_QUERY, 0, len(text)))
    builder = _Builder(clean, limits, diagnostics)
    query: Query | None = None
    try:
        query = builder.build(tokens)
    except _OverLimitError as over:
        return _refused(over.code, over.start, over.end)
    if query is not None and _only_excludes(query):
        diagnostics.append(Diagnostic(DiagnosticCode.ALL_BUT, 0, len(text)))
    diagnostics.sort(key=lambda diagnostic: diagnostic.start)
    return Parsed(Nothing() if query is None else query, tuple(diagnostics))


class _OverLimitError(Exception):
    def __init__(self, code: DiagnosticCode, token: Token) -> None:
        super().__init__(code)
        self.code, self.start, self.end = code, token.start, token.end


@dataclass(slots=True)
class _Group:
    """A pair of parentheses being read: alternatives of conjunctions.

    An operand that says nothing (an empty term) is None: it leaves no trace in the tree.
    """

    start: int
    negate_next: bool = False
    alternatives: list[list[Query | None]] = field(default_factory=lambda: [[]])

    def add(self, operand: Query | None) -> None:
        if self.negate_next and operand is not None:
            operand = operand.child if isinstance(operand, Not) else Not(operand)
        self.negate_next = False
        self.alternatives[-1].append(operand)

    def is_empty(self) -> bool:
        return self.alternatives == [[]]

    def query(self) -> Query | None:
        return _join(Or, (_join(And, operands) for operands in self.alternatives))


class _Builder:
    def __init__(self, text: str, limits: Limits, diagnostics: list[Diagnostic]) -> None:
        self.text = text
        self.limits = limits
        self.diagnostics = diagnostics
        self.groups = [_Group(0)]
        self.leaves = 0

    def build(self, tokens: list[Token]) -> Query | None:
        for at, token in enumerate(tokens, start=1):
            operand_follows = at < len(tokens) and tokens[at].kind in _OPERANDS
            self._take(token, operand_follows)
        while len(self.groups) > 1:
            group = self.groups[-1]
            if not group.is_empty():
                self._remark(DiagnosticCode.UNCLOSED_PARENTHESIS, group.start, len(self.text))
            self._close(group.start + 1)
        return self.groups[0].query()

    def _take(self, token: Token, operand_follows: bool) -> None:
        group = self.groups[-1]
        if token.kind is Kind.OPEN:
            if len(self.groups) > self.limits.depth:
                raise _OverLimitError(DiagnosticCode.TOO_DEEP, token)
            self.groups.append(_Group(token.start))
        elif token.kind is Kind.CLOSE:
            self._close(token.end)
        elif token.kind is Kind.NOT and operand_follows:
            group.negate_next = not group.negate_next
        elif token.kind in (Kind.AND, Kind.OR) and operand_follows and group.alternatives[-1]:
            if token.kind is Kind.OR:
                group.alternatives.append([])
        else:
            if token.kind not in (Kind.TERM, Kind.PREFIX):
                self._remark(DiagnosticCode.LONE_OPERATOR, token.start, token.end)
            self._leaf(token)

    def _close(self, end: int) -> None:
        group = self.groups.pop()
        if group.is_empty():
            self._remark(DiagnosticCode.LONE_OPERATOR, group.start, end)
            self._leaf(Token(Kind.TERM, self.text[group.start : end], group.start, end))
        else:
            self.groups[-1].add(group.query())

    def _leaf(self, token: Token) -> None:
        if not fold(token.text).strip():
            self._remark(DiagnosticCode.EMPTY_TERM, token.start, token.end)
            self.groups[-1].add(None)
            return
        self.leaves += 1
        if self.leaves > self.limits.leaves:
            raise _OverLimitError(DiagnosticCode.TOO_MANY_TERMS, token)
        self.groups[-1].add(Phrase(token.text, open_end=token.kind is Kind.PREFIX))

    def _remark(self, code: DiagnosticCode, start: int, end: int) -> None:
        self.diagnostics.append(Diagnostic(code, start, end))


def _join(kind: type[And | Or], operands: Iterable[Query | None]) -> Query | None:
    """Join what says something; a child of the same kind gives its children."""
    children: list[Query] = []
    for operand in operands:
        if isinstance(operand, kind):
            children += operand.children
        elif operand is not None:
            children.append(operand)
    return children[0] if len(children) == 1 else kind(tuple(children)) if children else None


def _only_excludes(query: Query) -> bool:
    parts = query.children if isinstance(query, And) else (query,)
    return all(isinstance(part, Not) for part in parts)


def _clean(text: str) -> tuple[str, list[Diagnostic]]:
    """Replace what no text can hold, one code point by one, so that places stay right."""
    diagnostics = [
        Diagnostic(DiagnosticCode.REPLACED_CHARACTER, *found.span())
        for pattern in (_CONTROL, _SURROGATE)
        for found in pattern.finditer(text)
    ]
    text = _CONTROL.sub(lambda found: " " * len(found[0]), text)
    return _SURROGATE.sub(lambda found: "\ufffd" * len(found[0]), text), diagnostics


def _refused(code: DiagnosticCode, start: int, end: int) -> Parsed:
    return Parsed(Nothing(), (Diagnostic(code, start, end),))


def too_large(text: str) -> Parsed:
    """Return what a query is parsed as when the engine found that it stands for too many words."""
    return _refused(DiagnosticCode.TOO_MANY_WORDS, 0, len(text))
