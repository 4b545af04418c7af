"""A collection: an index, and what a hit of it is called and where it leads."""

import re
from dataclasses import dataclass
from urllib.parse import quote

from sakuin.indexer.document import Document
from sakuin.indexer.index import Index

_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Collection:
    """One index as people see it.

    `title` and `url` are templates: `{name}` stands for a field's text, `{id}` for the id. In an
    address what is filled in is percent-encoded, and one that begins with / belongs to this
    site. An empty template gives no title (the id is shown) and no link.
    """

    index: Index
    title: str = ""
    url: str = ""

    def __post_init__(self) -> None:
        """Refuse a template that names no field, and an address that is none."""
        known = {"id", *self.index.fields.searched, *self.index.fields.stored}
        for template in (self.title, self.url):
            for name in _NAME.findall(template):
                if name not in known:
                    raise ValueError(
                        f"{template!r} names {name!r}; known: {', '.join(sorted(known))}"
                    )
        if self.url and not re.match(r"(https?://[^/{]|/(?!/))", self.url):
            raise ValueError(f"the address {self.url!r} must begin with https://, http:// or /")

    @property
    def title_field(self) -> str | None:
        """The searched field that alone is the title, if one is: it need not be shown twice."""
        named = _NAME.fullmatch(self.title)
        return named[1] if named and named[1] in self.index.fields.searched else None

    def title_of(self, document: Document) -> str:
        """Return what a hit is called."""
        return _NAME.sub(lambda name: _text(document, name[1]), self.title) or document.id

    def url_of(self, document: Document, root_path: str = "") -> str | None:
        """Return where a hit leads, or None."""
        if not self.url:
            return None
        filled = _NAME.sub(lambda name: quote(_text(document, name[1]), safe=""), self.url)
        return root_path + filled if filled.startswith("/") else filled


def _text(document: Document, name: str) -> str:
    return document.id if name == "id" else document.text[name]
