"""The text of HTML: what is read when its tags are taken out."""

import re
from html import unescape
from html.parser import HTMLParser

_SILENT = frozenset({"script", "style", "template", "noscript", "iframe", "noembed", "noframes"})
# What stands within a line; the rest of the elements part words.
_INLINE = frozenset(
    re.findall(
        r"\w+",
        "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr "
        "output q rb rp rt ruby s samp small span strike strong sub sup time tt u var wbr",
    )
)


def strip_html(html: str) -> str:
    """Return the text of HTML, entities resolved, scripts and styles dropped.

    Elements that are blocks part words, those within a line do not; runs of blanks become one.
    Takes any text; what is no tag is text.
    """
    if "<" not in html and "&" not in html:
        return html
    reading = _Text()
    # No tag ends behind the last >; the parser would look for the end of each that begins there.
    end = html.rfind(">") + 1
    reading.feed(html[:end])
    reading.close()
    reading.handle_data(unescape(html[end:]))
    return " ".join("".join(reading.pieces).split())


class _Text(HTMLParser):
    """Collects text; what parts words becomes a line break."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Part words; begin to be silent."""
        if self._silent is None and tag in _SILENT:
            self._silent = tag
        self._part(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Part words: `<br/>` has no content."""
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        """Part words; end the silence."""
        if tag == self._silent:
            self._silent = None
        self._part(tag)

    def handle_data(self, data: str) -> None:
        """Take text."""
        if self._silent is None:
            self.pieces.append(data)

    def parse_html_declaration(self, i: int) -> int:
        """Pass over <!anything>: of what is no declaration the parser would make an error."""
        if self.rawdata.startswith("<!--", i):
            return self.parse_comment(i)
        return self.parse_bogus_comment(i)

    def _part(self, tag: str) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")
