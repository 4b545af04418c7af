"""The query language (promise S3): any string in, a query tree and remarks out. Never raises.

    a b, a AND b, a OR b, NOT a, -a, "a b", "a b"~5, ( ), a*, *a, a*b, title:a, source:x*,
    created:2024..

NOT binds tighter than AND, AND than OR. Full-width forms count too. What is syntax and what is
text is decided in `scan`; `estraier` and `tritonn` read the languages of two older programs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sakuin.indexer import estraier, tritonn
from sakuin.indexer.diagnostic import Diagnostic, DiagnosticCode
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.document import Fields
from sakuin.indexer.errors import NearTooCommon, QueryTooLarge
from sakuin.indexer.fold import DEFAULT_FOLDING
from sakuin.indexer.leaf import Refused
from sakuin.indexer.limits import DEFAULT_LIMITS, Limits
from sakuin.indexer.query import And, Not, Nothing, Query
from sakuin.indexer.scan import scan
from sakuin.indexer.synonyms import Synonyms
from sakuin.indexer.syntax import SAKUIN, Token
from sakuin.indexer.tree import Alternatives, Builder, Expansions, Group

# Control characters that are no blank anyway, and halves of surrogate pairs.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEARCHABLE = re.compile(f"{_CONTROL.pattern}|{_SURROGATE.pattern}")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a query, and what there is to say about it (places in the original string).

    A query that is over a limit, or holds what cannot be read as the filter that it names,
    becomes `Nothing` with the remark that says why, and `refused` is true: nothing else is
    searched in its place.
    """

    query: Query
    diagnostics: tuple[Diagnostic, ...]

    @property
    def refused(self) -> bool:
        """Tell whether something kept the query from being searched."""
        return any(diagnostic.code.refuses for diagnostic in self.diagnostics)


def parse(
    text: str,
    limits: Limits = DEFAULT_LIMITS,
    *,
    fields: Fields | None = None,
    dialect: Dialect = Dialect.SAKUIN,
    strict: bool = False,
    synonyms: Synonyms | None = None,
) -> Parsed:
    """Read a query as a user typed it. Takes any string and never raises.

    `fields` are those of the index: `name:` is syntax only behind the name of a searched field
    or a filter that it has, and only in Sakuin's own dialect; everywhere else it is text. With
    `strict` an unknown name refuses the query: in a filter it would change in silence what is
    found.

    With `synonyms` a word that is neither quoted nor starred, in any field or a searched one,
    means any of itself and its synonyms, as a remark says; in Sakuin's own dialect only. Where
    they would take the query over its limit of words it stays alone, and a remark says that.
    """
    if len(text) > limits.length:
        return _refused(DiagnosticCode.TOO_LONG, limits.length, len(text))
    clean, diagnostics = _clean(text)
    try:
        tokens, remarks, group = _read(clean, fields, dialect)
        diagnostics += remarks
        unknown = [each for each in remarks if each.code is DiagnosticCode.UNKNOWN_FIELD]
        if strict and unknown:
            return _refused(DiagnosticCode.UNKNOWN_FILTER, unknown[0].start, unknown[0].end)
        if not tokens:
            diagnostics.append(Diagnostic(DiagnosticCode.EMPTY_QUERY, 0, len(text)))
        known = synonyms if dialect is Dialect.SAKUIN else None
        query, remarks = _build(clean, tokens, limits, fields, group, known)
        diagnostics += remarks
    except Refused as why:
        return _refused(why.code, why.start, why.end)
    if query is not None and _only_excludes(query):
        diagnostics.append(Diagnostic(DiagnosticCode.ALL_BUT, 0, len(text)))
    diagnostics.sort(key=lambda diagnostic: diagnostic.start)
    return Parsed(Nothing() if query is None else query, tuple(diagnostics))


def too_large(text: str, why: QueryTooLarge | None = None) -> Parsed:
    """Return what a query is parsed as when the engine found it too large.

    That is, it stands for too many words, or too many documents hold what it asks to be near.
    """
    near = isinstance(why, NearTooCommon)
    code = DiagnosticCode.NEAR_TOO_COMMON if near else DiagnosticCode.TOO_MANY_WORDS
    return _refused(code, 0, len(text))


def _read(
    text: str, fields: Fields | None, dialect: Dialect
) -> tuple[list[Token], list[Diagnostic], Callable[[], Group]]:
    """Return the tokens, the remarks made, and the rules by which a group of them is joined."""
    match dialect:
        case Dialect.SAKUIN:
            return *scan(text, SAKUIN, fields), Alternatives
        case Dialect.ESTRAIER:
            return *estraier.scan(text), Alternatives
        case Dialect.TRITONN:
            return tritonn.read(text)


def _build(
    text: str,
    tokens: list[Token],
    limits: Limits,
    fields: Fields | None,
    group: Callable[[], Group],
    synonyms: Synonyms | None,
) -> tuple[Query | None, list[Diagnostic]]:
    """Return the tree and the remarks made; synonyms get the room that the words leave."""
    builder = Builder(text, limits, fields, group)
    query = builder.build(tokens)
    if synonyms:
        of = partial(synonyms.of, folding=fields.folding if fields else DEFAULT_FOLDING)
        expansions = Expansions(of, room=limits.leaves - builder.leaves)
        builder = Builder(text, limits, fields, group, expansions)
        query = builder.build(tokens)
    return query, builder.diagnostics


def _only_excludes(query: Query) -> bool:
    parts = query.children if isinstance(query, And) else (query,)
    return all(isinstance(part, Not) for part in parts)


def _clean(text: str) -> tuple[str, list[Diagnostic]]:
    """Replace what no text can hold, one code point by one, so that places stay right."""
    places = [found.span() for found in _UNSEARCHABLE.finditer(text)]
    if not places:
        return text, []
    text = _CONTROL.sub(" ", text)
    remark = Diagnostic(DiagnosticCode.REPLACED_CHARACTER, places[0][0], places[-1][1])
    return _SURROGATE.sub("\ufffd", text), [remark]


def _refused(code: DiagnosticCode, start: int, end: int) -> Parsed:
    return Parsed(Nothing(), (Diagnostic(code, start, end),))
