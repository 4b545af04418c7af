"""MySQL's boolean mode as Tritonn and Mroonga read it: `+must -not optional* "phrase" ( ) OR`.

Without a sign a word is optional, unless the pragma `*D+` or `*D-` at the very start says
otherwise. Optional words beside words with a + only rank there, so they change nothing here.
Words, phrases and parentheses are cut as in Sakuin's own language.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sakuin.indexer.diagnostic import Diagnostic, DiagnosticCode
from sakuin.indexer.leaf import Refused
from sakuin.indexer.query import And, Or, Query
from sakuin.indexer.scan import scan
from sakuin.indexer.syntax import Kind, Syntax, Token
from sakuin.indexer.tree import Group, join, negate

SYNTAX: Final = Syntax(
    signs={"+": Kind.MUST, "＋": Kind.MUST, "-": Kind.NOT, "－": Kind.NOT},
    operators={"OR": Kind.OR, "ＯＲ": Kind.OR},
    ranks="<>~＜＞～",
)
_PRAGMAS = re.compile(r"\*(?:D(?:\+|-|OR)|W\d+(?::\d+)?(?:,\d+(?::\d+)?)*|SS)+(?!\S)", re.ASCII)
_PRAGMA = re.compile(r"D(?:\+|-|OR)|W[\d:,]+|SS")
_ROLES: Final = {"D+": Kind.MUST, "D-": Kind.NOT, "DOR": Kind.OR}


def read(text: str) -> tuple[list[Token], list[Diagnostic], Callable[[], Group]]:
    """Return the tokens, the remarks made, and what joins them. Raises Refused for `*SS`."""
    role, start = Kind.OR, 0
    diagnostics: list[Diagnostic] = []
    if found := _PRAGMAS.match(text):
        start = found.end()
        for pragma in _PRAGMA.finditer(text, 1, start):
            if pragma[0] == "SS":
                raise Refused(DiagnosticCode.UNSUPPORTED, *pragma.span())
            if pragma[0] in _ROLES:
                role = _ROLES[pragma[0]]
            else:
                diagnostics.append(Diagnostic(DiagnosticCode.PRAGMA_IGNORED, *pragma.span()))
    tokens, remarks = scan(text, SYNTAX, start=start)
    return tokens, diagnostics + remarks, partial(Chains, role)


@dataclass(slots=True)
class Chains:
    """Words with their signs; those with OR between them make one, with the sign of the first."""

    without_sign: Kind
    chains: list[list[tuple[Kind | None, Query | None]]] = field(default_factory=list)
    sign: Kind | None = None
    goes_on: bool = False

    def act(self, operator: Kind) -> bool:
        """Take a sign for what follows, or join it to what was before. A - counts more than a +."""
        if operator is Kind.OR:
            self.goes_on = bool(self.chains)
            return self.goes_on
        if self.sign is not Kind.NOT:
            self.sign = operator
        return True

    def add(self, operand: Query | None) -> None:
        """Take an operand."""
        if not self.goes_on:
            self.chains.append([])
        self.chains[-1].append((self.sign, operand))
        self.sign, self.goes_on = None, False

    def is_empty(self) -> bool:
        """Tell whether nothing was taken yet."""
        return not self.chains

    def query(self) -> tuple[Query | None, bool]:
        """Return all that must be, or else any of what may be, and nothing that must not be."""
        parts: dict[Kind, list[Query]] = {Kind.MUST: [], Kind.OR: [], Kind.NOT: []}
        for chain in self.chains:
            role = chain[0][0] or self.without_sign
            if len(chain) == 1:
                joined = chain[0][1]
            else:
                joined = join(Or, (negate(q) if sign is Kind.NOT else q for sign, q in chain))
                role = self.without_sign if role is Kind.NOT else role
            if joined is not None:
                parts[role].append(joined)
        wanted: list[Query | None] = [*parts[Kind.MUST]] or [join(Or, parts[Kind.OR])]
        excluded = [negate(each) for each in parts[Kind.NOT]]
        return join(And, [*wanted, *excluded]), bool(parts[Kind.MUST] and parts[Kind.OR])
