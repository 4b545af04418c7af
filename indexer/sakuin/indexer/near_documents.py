"""Which documents hold words near each other: those that hold the words, each text looked at.

Engines know where tokens stand, not how far that is in units, nor what overlaps. So what stands
near each other is found by its parts, exactly, and then each text that was found is read.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.errors import NearTooCommon, QueryTooLarge
from sakuin.indexer.fold import fold
from sakuin.indexer.limits import MOST_NEAR_PARTS
from sakuin.indexer.near import NearParts
from sakuin.indexer.near_places import Steps
from sakuin.indexer.query import And, Ids, Near, Or, Phrase, Query

MOST_NEAR: Final = 10_000
"""Documents that may hold all parts of a `Near`, of all of them in a query together."""

MOST_NEAR_CHARACTERS: Final = 10_000_000
"""Characters that these documents may have in the fields looked at."""

MOST_NEAR_STEPS: Final = 400_000
"""Steps that may be taken in their texts (`Steps`), mostly one for each place of a part."""

Find = Callable[[Query], tuple[int, Iterator[Document]]]


class NearDocuments:
    """Replaces each `Near` of one search by what an engine can answer, to the same effect.

    `find` tells how many documents match a query, and gives them one by one.
    """

    def __init__(self, fields: Fields, find: Find) -> None:
        self._fields, self._find = fields, find
        self._left = MOST_NEAR
        self._characters, self._steps = MOST_NEAR_CHARACTERS, Steps(MOST_NEAR_STEPS)
        self._known: dict[Near, Query] = {}

    def __call__(self, near: Near) -> Query:
        """Return its parts, which give the score, and the ids of the documents it matches.

        Raises NearTooCommon beyond these limits, and ValueError for a name that is no field.
        """
        if len(near.parts) < 2 or near.distance < 0:
            raise ValueError("near needs two parts, and a distance of at least 0")
        if len(near.parts) > MOST_NEAR_PARTS:
            raise QueryTooLarge(f"more than {MOST_NEAR_PARTS} words near each other: use fewer")
        if near not in self._known:
            parts = tuple(Phrase(part.text, near.field) for part in near.parts)
            self._known[near] = And((*parts, Ids(self._ids(near))))
        return self._known[near]

    def _ids(self, near: Near) -> tuple[str, ...]:
        names = self._fields.searched if near.field is None else (near.field,)
        texts = [part.text for part in near.parts]
        in_one = [And(tuple(Phrase(text, name) for text in texts)) for name in names]
        count, documents = self._find(Or(tuple(in_one)))
        self._left -= count
        if self._left < 0:
            raise NearTooCommon(f"more than {MOST_NEAR:,} documents hold {', '.join(texts)}")
        parts = NearParts([self._settled(text) for text in texts], near.distance)
        return tuple(each.id for each in documents if self._holds(each, names, parts))

    def _holds(self, document: Document, names: Sequence[str], parts: NearParts) -> bool:
        texts = [document.text[name] for name in names]
        self._characters -= sum(map(len, texts))
        if self._characters < 0:
            raise NearTooCommon(
                f"the documents that hold all words have more than {MOST_NEAR_CHARACTERS:,}"
                " characters"
            )
        return any(parts.are_in(self._settled(text), self._steps) for text in texts)

    def _settled(self, text: str) -> str:
        return " ".join(fold(text, self._fields.folding).split())
