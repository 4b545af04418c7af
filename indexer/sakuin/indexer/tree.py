"""From tokens to a tree, with a stack of one's own, so that no nesting can overflow."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from sakuin.indexer.diagnostic import Diagnostic, DiagnosticCode
from sakuin.indexer.document import Fields
from sakuin.indexer.leaf import Refused, leaf
from sakuin.indexer.limits import Limits
from sakuin.indexer.query import And, Near, Not, Or, Phrase, Query
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


@dataclass(slots=True)
class Expansions:
    """The synonyms of one query, and how many words more there is room for."""

    of: Callable[[str], tuple[str, ...]]
    room: int


class Builder:
    """Makes one tree; its remarks are in `diagnostics`, and how many terms it took in `leaves`."""

    def __init__(
        self,
        text: str,
        limits: Limits,
        fields: Fields | None,
        new_group: Callable[[], Group] = Alternatives,
        synonyms: Expansions | None = None,
    ) -> None:
        self.text, self.limits, self.fields = text, limits, fields
        self.diagnostics: list[Diagnostic] = []
        self.new_group, self.synonyms = new_group, synonyms
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
        self._count(1, token)
        query = leaf(token, self.fields)
        if query is None:
            self._remark(DiagnosticCode.EMPTY_TERM, token.start, token.end)
        elif isinstance(query, Near):
            self._count(len(query.parts) - 1, token)
        elif token.near is not None:
            self._remark(DiagnosticCode.NEAR_ALONE, token.start, token.end)
        elif self.synonyms and isinstance(query, Phrase) and not token.quoted:
            query = self._expanded(query, token, self.synonyms)
        self.groups[-1][1].add(query)

    def _expanded(self, phrase: Phrase, token: Token, synonyms: Expansions) -> Phrase | Or:
        """Return any of the word and its synonyms, if that is not too much."""
        words = () if phrase.open_start or phrase.open_end else synonyms.of(phrase.text)
        if len(words) > synonyms.room:
            self._remark(DiagnosticCode.SYNONYMS_LEFT_OUT, token.start, token.end)
        elif words:
            synonyms.room -= len(words)
            self.diagnostics.append(
                Diagnostic(DiagnosticCode.SYNONYMS, token.start, token.end, words)
            )
            return Or((phrase, *(Phrase(word, phrase.field) for word in words)))
        return phrase

    def _count(self, terms: int, token: Token) -> None:
        self.leaves += terms
        if self.leaves > self.limits.leaves:
            raise Refused(DiagnosticCode.TOO_MANY_TERMS, token.start, token.end)

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
