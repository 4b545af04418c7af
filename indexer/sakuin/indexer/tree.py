"""From tokens to a tree, with a stack of one's own, so that no nesting can overflow."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from sakuin.indexer.diagnostic import Diagnostic, DiagnosticCode
from sakuin.indexer.document import Fields
from sakuin.indexer.leaf import Refused, leaf
from sakuin.indexer.limits import Limits
from sakuin.indexer.query import And, Not, Or, Query
from sakuin.indexer.syntax import Kind, Token

_OPERANDS = (Kind.TERM, Kind.OPEN, Kind.NOT, Kind.MUST)


class Group(Protocol):
    """A pair of parentheses being read, by the rules of a dialect.

    An operand that says nothing (an empty term) is None: it leaves no trace in the tree.
    """

    def act(self, operator: Kind) -> bool:
        """Take an operator that has an operand behind it; False if it has nothing to act on."""
        ...

    def add(self, operand: Query | None) -> None:
        """Take an operand."""
        ...

    def is_empty(self) -> bool:
        """Tell whether nothing was taken yet."""
        ...

    def query(self) -> tuple[Query | None, bool]:
        """Return what the group asks for, and whether some of it makes no difference."""
        ...


@dataclass(slots=True)
class Alternatives:
    """Sakuin's own rules: NOT binds tighter than AND, AND than OR."""

    negate_next: bool = False
    alternatives: list[list[Query | None]] = field(default_factory=lambda: [[]])

    def act(self, operator: Kind) -> bool:
        """Negate what follows, or begin the next alternative."""
        if operator is Kind.NOT:
            self.negate_next = not self.negate_next
            return True
        if not self.alternatives[-1]:
            return False
        if operator is Kind.OR:
            self.alternatives.append([])
        return True

    def add(self, operand: Query | None) -> None:
        """Take an operand into the last alternative."""
        self.alternatives[-1].append(negate(operand) if self.negate_next else operand)
        self.negate_next = False

    def is_empty(self) -> bool:
        """Tell whether nothing was taken yet."""
        return self.alternatives == [[]]

    def query(self) -> tuple[Query | None, bool]:
        """Return the alternatives, joined."""
        return join(Or, (join(And, operands) for operands in self.alternatives)), False


class Builder:
    """Makes one tree; every remark goes into `diagnostics`."""

    def __init__(
        self,
        text: str,
        limits: Limits,
        fields: Fields | None,
        diagnostics: list[Diagnostic],
        new_group: Callable[[], Group] = Alternatives,
    ) -> None:
        self.text, self.limits, self.fields = text, limits, fields
        self.diagnostics = diagnostics
        self.new_group = new_group
        self.groups: list[tuple[Token, Group]] = [(Token(Kind.OPEN, "", 0, 0), new_group())]
        self.leaves = 0

    def build(self, tokens: list[Token]) -> Query | None:
        """Return the tree; None if it asks for nothing. Raises Refused at a limit."""
        for at, token in enumerate(tokens, start=1):
            operand_follows = at < len(tokens) and tokens[at].kind in _OPERANDS
            self._take(token, operand_follows)
        while len(self.groups) > 1:
            opening, group = self.groups[-1]
            if group.is_empty():
                self._close(opening.end)
            else:
                self._remark(DiagnosticCode.UNCLOSED_PARENTHESIS, opening.start, len(self.text))
                self._close(len(self.text))
        return self._query(*self.groups[0], len(self.text))

    def _take(self, token: Token, operand_follows: bool) -> None:
        if token.kind is Kind.TERM:
            self._leaf(token)
        elif token.kind is Kind.OPEN:
            if len(self.groups) > self.limits.depth:
                raise Refused(DiagnosticCode.TOO_DEEP, token.start, token.end)
            self.groups.append((token, self.new_group()))
        elif token.kind is Kind.CLOSE:
            self._close(token.end)
        elif not (operand_follows and self.groups[-1][1].act(token.kind)):
            self._remark(DiagnosticCode.LONE_OPERATOR, token.start, token.end)
            self._leaf(token)

    def _close(self, end: int) -> None:
        opening, group = self.groups.pop()
        start = opening.start
        if group.is_empty():
            self._remark(DiagnosticCode.LONE_OPERATOR, start, end)
            self._leaf(Token(Kind.TERM, self.text[start:end], start, end))
        else:
            self.groups[-1][1].add(self._query(opening, group, end))

    def _query(self, opening: Token, group: Group, end: int) -> Query | None:
        query, makes_no_difference = group.query()
        if makes_no_difference:
            self._remark(DiagnosticCode.OPTIONAL_WORDS, opening.start, end)
        return query

    def _leaf(self, token: Token) -> None:
        self.leaves += 1
        if self.leaves > self.limits.leaves:
            raise Refused(DiagnosticCode.TOO_MANY_TERMS, token.start, token.end)
        query = leaf(token, self.fields)
        if query is None:
            self._remark(DiagnosticCode.EMPTY_TERM, token.start, token.end)
        self.groups[-1][1].add(query)

    def _remark(self, code: DiagnosticCode, start: int, end: int) -> None:
        self.diagnostics.append(Diagnostic(code, start, end))


def join(kind: type[And | Or], operands: Iterable[Query | None]) -> Query | None:
    """Join what says something; a child of the same kind gives its children."""
    children: list[Query] = []
    for operand in operands:
        if isinstance(operand, kind):
            children += operand.children
        elif operand is not None:
            children.append(operand)
    return children[0] if len(children) == 1 else kind(tuple(children)) if children else None


def negate(operand: Query | None) -> Query | None:
    """Return what the operand does not match; twice is not at all."""
    if operand is None:
        return None
    return operand.child if isinstance(operand, Not) else Not(operand)
