"""The documents on a search page: what is shown of each, and where its links lead."""

from collections.abc import Sequence
from dataclasses import dataclass

from sakuin.app.answer import Item
from sakuin.app.asked import Asked
from sakuin.app.clicks import click_url
from sakuin.app.collection import Collection
from sakuin.app.contexts import Result
from sakuin.app.paragraph_index import place_of
from sakuin.app.search_address import SearchAddress, search_url

_BETWEEN_FIELDS = " · "


@dataclass(frozen=True, slots=True)
class ResultList:
    """Makes the results of one page.

    `logged` is what the search log knows the search by (None: it does not): then a result's link
    counts that it was opened.
    """

    collection: Collection
    address: SearchAddress
    root: str
    logged: str | None

    def of(self, items: Sequence[Item], before: int, way: str) -> tuple[Result, ...]:
        """Return the results of these items, which come after `before` others."""
        return tuple(
            self._result(item, position, way) for position, item in enumerate(items, before + 1)
        )

    def _result(self, item: Item, position: int, way: str) -> Result:
        collection, document = self.collection, item.document
        place = place_of(collection.index, document)
        source, line = place or (None, None)
        titled = collection.title_field
        pieces: list[tuple[str, bool]] = []
        for name, cut in item.highlights.items():
            if cut and name != titled:
                pieces += [(_BETWEEN_FIELDS, False)] if pieces else []
                pieces += [(piece.text, piece.hit) for piece in cut]
        similar = SearchAddress(Asked(like=document.id), self.address.index)
        return Result(
            index=collection.index.name,
            id=document.id,
            url=self._url(item, position, way),
            title=None if place else collection.title_of(document),
            title_pieces=tuple(
                (piece.text, piece.hit) for piece in (item.highlights[titled] if titled else ())
            ),
            source=source,
            position=line,
            pieces=tuple(pieces),
            stale=item.is_stale,
            similar_url=search_url(similar, self.root),
        )

    def _url(self, item: Item, position: int, way: str) -> str | None:
        url = self.collection.url_of(item.document, self.root)
        if url is None or self.logged is None:
            return url
        name = self.collection.index.name
        return click_url(self.root, name, item.document.id, self.logged, position, way)
