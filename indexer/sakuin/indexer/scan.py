"""Cut a query into words, phrases, parentheses and operators. Decides what is syntax, what text.

Blanks part words. A parenthesis, a star or a sign is syntax only at the edge of a word, and a
parenthesis only where its partner is not inside the same word; a quotation mark only at the
start of one; a colon only behind the name of a field that there is. The rest is text:
東京（大阪）, f(x), 12:30, foo-bar and C++ stay what they are.
"""

import re
import unicodedata

from sakuin.indexer.diagnostic import Diagnostic, DiagnosticCode
from sakuin.indexer.document import Fields
from sakuin.indexer.limits import DEFAULT_DISTANCE
from sakuin.indexer.stars import STARS, cut_stars, pieces
from sakuin.indexer.syntax import CLOSING, COLONS, OPENING, QUOTES, Kind, Syntax, Token

_WORD = re.compile(r"\S+")
_DISTANCE = re.compile(r"(\d*)(?![^\s)）])")  # with nothing behind it but a blank or a closing
_NAME = re.compile(rf"([^\s{COLONS}]{{1,100}})[{COLONS}]")


def scan(
    text: str, syntax: Syntax, fields: Fields | None = None, *, start: int = 0
) -> tuple[list[Token], list[Diagnostic]]:
    """Return the tokens of a query from `start` on, and the remarks made, in linear time."""
    scanner = _Scanner(text, syntax, fields)
    while found := _WORD.search(text, start):
        word = _Word(text, *found.span())
        start = word.start
        while start < word.end:
            start = scanner.part(word, start)
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
    def __init__(self, text: str, syntax: Syntax, fields: Fields | None) -> None:
        self.text, self.syntax, self.fields = text, syntax, fields
        self.tokens: list[Token] = []
        self.diagnostics: list[Diagnostic] = []
        self._signs = frozenset((*syntax.signs, *syntax.ranks))
        # The field before each parenthesis that is open, and around them none.
        self._groups: list[str | None] = [None]
        self._looked_at = (-1, -1, False)

    def part(self, word: _Word, start: int) -> int:
        """Scan from the start of a word, or from behind a phrase in it; return where to go on."""
        at = self._lead(word, start)
        field, value = self._field(word, at)
        if value > at and self._opens(word, value, self._before_quote(word, value)):
            self._open(at, value + 1, field)
            return value + 1
        starred = value < word.end and self.text[value] in STARS
        if value + starred < word.end and self.text[value + starred] in QUOTES:
            return self._phrase(at, value + starred, field, open_start=starred)
        end = self._close_from(word, value)
        if at < end:
            self._body(at, value, end, field)
        for close in range(end, word.end):
            self._groups.pop()
            self._emit(Kind.CLOSE, close, close + 1)
        return word.end

    def _lead(self, word: _Word, start: int) -> int:
        """Take the opening parentheses and signs that are syntax; return what follows."""
        before_quote = self._before_quote(word, start)
        counts = start == word.start or self.text[start - 1] in OPENING
        for at in range(start, word.tail):
            character = self.text[at]
            if self._opens(word, at, before_quote):
                self._open(at, at + 1, self._groups[-1])
                counts = True
            elif counts and character in self._signs and self._acts(at, word.tail):
                if character in self.syntax.ranks:
                    self._remark(DiagnosticCode.RANK_IGNORED, at, at + 1)
                else:
                    self._emit(self.syntax.signs[character], at, at + 1)
            else:
                return at
        return max(start, word.tail)

    def _acts(self, sign: int, tail: int) -> bool:
        """Tell whether a sign has something behind it, other than one more of its kind."""
        kind = self.syntax.signs.get
        following = self.text[sign + 1 : sign + 2]
        return sign + 1 < tail and (
            following not in self._signs or kind(following) != kind(self.text[sign])
        )

    def _opens(self, word: _Word, at: int, before_quote: bool) -> bool:
        """Tell whether there is a parenthesis that opens a group."""
        if at >= word.tail or self.text[at] not in OPENING:
            return False
        return before_quote or at not in word.inside

    def _before_quote(self, word: _Word, at: int) -> bool:
        """Tell whether only parentheses, signs, fields and a star stand before a quotation mark.

        What was looked at before is not looked at again, so that time stays linear.
        """
        start, end, known = self._looked_at
        if start <= at <= end:
            return known
        start, value = at, -1
        while value != at:
            value = at
            while at < word.tail and (self.text[at] in OPENING or self.text[at] in self._signs):
                at += 1
            at = self._field(word, at)[1]
        quote = at + (at < word.tail and self.text[at] in STARS)
        known = quote < word.tail and self.text[quote] in QUOTES
        self._looked_at = start, at, known
        return known

    def _close_from(self, word: _Word, at: int) -> int:
        """Return where the parentheses begin that close a group, behind what starts at `at`."""
        tail = range(max(at, word.tail), word.end)
        loose = sum(1 for close in tail if word.partners.get(close, -1) < at)
        closed = min(loose, len(self._groups) - 1)
        self._remark(DiagnosticCode.UNMATCHED_PARENTHESIS, word.end - loose, word.end - closed)
        return word.end - closed

    def _open(self, start: int, end: int, field: str | None) -> None:
        self._groups.append(field)
        self._emit(Kind.OPEN, start, end)

    def _field(self, word: _Word, at: int) -> tuple[str | None, int]:
        """Return the field that holds here, and where its value begins."""
        found = _NAME.match(self.text, at, word.end) if self.fields else None
        if self.fields and found and found.end() < word.end:
            written = unicodedata.normalize("NFKC", found[1])
            for name in (written, written.lower()):  # phones begin a line with a capital
                if name in self.fields.searched or self.fields.kind_of(name):
                    return name, found.end()
            if written.isidentifier() and not self.text.startswith("//", found.end()):
                self._remark_once(DiagnosticCode.UNKNOWN_FIELD, at, found.end())
        return self._groups[-1], at

    def _phrase(self, start: int, quote: int, field: str | None, *, open_start: bool) -> int:
        """Emit a quoted phrase, with the star that may stand on either side of it."""
        text, mark = self.text, self.text[quote]
        found = QUOTES[mark].match(text, quote + 1)
        end = found.end(1) if found else len(text)
        phrase = text[quote + 1 : end]
        if not found and not phrase.strip():
            self._remark(DiagnosticCode.LONE_OPERATOR, start, quote + 1)
            self._emit(Kind.TERM, start, quote + 1)
            return end
        if not found:
            self._remark(DiagnosticCode.UNCLOSED_QUOTE, quote, end)
        star, behind = text[end + 1 : end + 2], text[end + 2 : end + 3]
        open_end = star != "" and star in STARS and (behind.isspace() or behind in CLOSING)
        stop = min(end + 1 + open_end, len(text))
        phrase = phrase.replace("””", "”") if mark == "“" else phrase
        near, stop = self._near(phrase, stop, counts=not (open_start or open_end))
        self.tokens.append(
            Token(
                Kind.TERM, phrase, start, stop, field, open_start, open_end, quoted=True, near=near
            )
        )
        return stop

    def _near(self, phrase: str, at: int, *, counts: bool) -> tuple[int | None, int]:
        """Return the number behind a phrase and its ~, if that is there, and where to go on."""
        if at == len(self.text) or self.text[at] not in self.syntax.tildes:
            return None, at
        several = len(phrase.split()) > 1
        found = _DISTANCE.match(self.text, at + 1) if counts else None
        if not found or not (found[1] or several):
            if several:
                self._remark(DiagnosticCode.NEAR_AS_TEXT, at, at + 1)
            return None, at
        if not found[1]:
            self._remark(DiagnosticCode.NEAR_DISTANCE, at, at + 1)
            return DEFAULT_DISTANCE, at + 1
        # Python refuses to read numbers of thousands of digits.
        return int(found[1]) if len(found[1]) < 10 else 10**9, found.end()

    def _body(self, start: int, value: int, end: int, field: str | None) -> None:
        """Emit what is left between the syntax at both edges of a word: an operator or a term."""
        body = self.text[value:end]
        signed = start > 0 and self.text[start - 1] in self._signs
        if value == start and body in self.syntax.operators and not signed:
            self._emit(self.syntax.operators[body], start, end)
            return
        if body in self._signs:
            self._remark(DiagnosticCode.LONE_OPERATOR, start, end)
        if any(mark in body for mark in QUOTES):
            self._remark(DiagnosticCode.QUOTE_AS_TEXT, value, end)
        star = cut_stars(body)
        is_words = not self.fields or field is None or field in self.fields.searched
        if is_words and any(mark in star.text for mark in STARS) and not pieces(star):
            self._remark(DiagnosticCode.STAR_AS_TEXT, value, end)
        self.tokens.append(
            Token(Kind.TERM, star.text, start, end, field, star.open_start, star.open_end)
        )

    def _emit(self, kind: Kind, start: int, end: int) -> None:
        self.tokens.append(Token(kind, self.text[start:end], start, end))

    def _remark_once(self, code: DiagnosticCode, start: int, end: int) -> None:
        remark = Diagnostic(code, start, end)
        if remark not in self.diagnostics[-4:]:  # a place may be looked at again
            self.diagnostics.append(remark)

    def _remark(self, code: DiagnosticCode, start: int, end: int) -> None:
        if start < end:
            self.diagnostics.append(Diagnostic(code, start, end))
