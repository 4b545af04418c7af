"""What a model's search returns: hits as the index has them, and the rows beside them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, overload

from sakuin.app.collection import Collection
from sakuin.app.searched import highlights
from sakuin.indexer.diagnostic import Diagnostic
from sakuin.indexer.engine import Hit as EngineHit
from sakuin.indexer.highlight import Piece
from sakuin.indexer.index import Index
from sakuin.indexer.query import Query

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hit:
    """One document found, as it was when it was indexed.

    `id` is a number where the index's ids are numbers; `fields` are the texts, searched and
    stored.
    """

    id: int | str
    title: str
    url: str | None
    score: float
    fields: Mapping[str, str]
    _cut: Callable[[], dict[str, tuple[Piece, ...]]] = field(repr=False, compare=False)

    @property
    def highlights(self) -> dict[str, tuple[Piece, ...]]:
        """What to show of each searched field: the pieces, joined, are the cut text.

        It is cut when it is asked for, which takes longer than finding the hit.
        """
        return self._cut()


@dataclass(frozen=True, slots=True)
class Found(Sequence[T]):
    """Some of what a search found, in order: a sequence of `rows`.

    `hits` belong to the rows, one each. `missing` are ids that the index still has, but whose
    rows are gone, or are no longer to be found: they are left out of both. `total` counts what
    the index has, exactly; `generation` is its number (0: nothing was indexed yet).
    `next_after`: in the order of ids, what `after` must be for what follows; None at the end.
    `restarted`: the generation asked for is gone, so these are the first of the current one.
    """

    rows: tuple[T, ...]
    hits: tuple[Hit, ...]
    missing: tuple[int | str, ...]
    total: int
    generation: int
    diagnostics: tuple[Diagnostic, ...]
    next_after: int | str | None = None
    restarted: bool = False

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...

    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        """Return a row, or several."""
        return self.rows[at]

    def __len__(self) -> int:
        """Return how many rows these are, not how many were found."""
        return len(self.rows)


def shown_id(index: Index, document_id: str) -> int | str:
    """Return an id as programs see it: a number where the ids of the index are numbers."""
    return document_id if index.fields.text_ids else int(document_id)


def hit_of(collection: Collection, found: EngineHit, query: Query) -> Hit:
    """Return what is shown of a document that a query found."""
    document = found.document
    return Hit(
        id=shown_id(collection.index, document.id),
        title=collection.title_of(document),
        url=collection.url_of(document),
        score=found.score,
        fields=dict(document.text),
        _cut=partial(highlights, collection.index.fields, document, query),
    )
