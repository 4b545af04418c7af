"""The contract of a search engine: one directory in, one sealed index out, exact answers.

An engine writes only into the directory it is given, knows nothing of generations, queues or
databases, and keeps no state between calls. One suite of tests holds every engine to it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.exact_values import id_number
from sakuin.indexer.facet import Counts, Facet
from sakuin.indexer.query import Query


class Order(StrEnum):
    """How hits are ordered; ties always fall in one fixed order of the generation."""

    RELEVANCE = "relevance"
    ID = "id"
    NEWEST = "newest"
    OLDEST = "oldest"
    SOURCE = "source"


def orders(fields: Fields) -> tuple[Order, ...]:
    """Return the orders that an index of these fields knows."""
    timed = (Order.NEWEST, Order.OLDEST) if fields.timed else ()
    place = (Order.SOURCE,) if fields.place else ()
    return (Order.RELEVANCE, Order.ID, *timed, *place)


def require_order(fields: Fields, order: Order, after: str | None) -> None:
    """Raise ValueError for an order that the index does not know, or an `after` that is no id."""
    if order not in orders(fields):
        known = ", ".join(orders(fields))
        raise ValueError(f"this index cannot order by {order}: choose one of {known}")
    if after is not None and order is not Order.ID:
        raise ValueError(f"`after` goes with order {Order.ID} alone, not {order}")
    if after is not None and not fields.text_ids:
        id_number(after)


@dataclass(frozen=True, slots=True)
class Hit:
    """One document found, with its score (0.0 where the order is not by relevance)."""

    document: Document
    score: float


@dataclass(frozen=True, slots=True)
class Hits:
    """One page of hits, and the exact total of the search."""

    total: int
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class WordCount:
    """A word of the index, folded, and how many documents hold it."""

    word: str
    documents: int


class Writer(Protocol):
    """Changes one index directory; nothing counts until `commit` has returned.

    A context manager: leaving it without a commit abandons the changes and frees every lock.
    Later changes of one id win over earlier ones.
    """

    def upsert(self, documents: Iterable[Document]) -> None:
        """Add each document, replacing whatever has its id."""
        ...

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids; an id that is not there is no error."""
        ...

    def commit(self) -> None:
        """Write everything to files of the directory and close. Does not fsync."""
        ...

    def __enter__(self) -> Self:
        """Return the writer itself."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Abandon whatever was not committed."""
        ...


class Searcher(Protocol):
    """Reads one index directory as it was when it was opened; may be shared by threads."""

    @property
    def document_count(self) -> int:
        """How many documents the index holds."""
        ...

    def search(
        self, query: Query, *, order: Order, offset: int, limit: int, after: str | None = None
    ) -> Hits:
        """Return hits offset..offset+limit (limit may be 0) and the exact total.

        SOURCE orders by the fields' `place`, as text and then as number, then by id; what has no
        value comes first. With `after` (an id, which need not be there any more) and Order.ID,
        offset counts from the first hit behind that id; the total is still of all hits. NEWEST
        and OLDEST order equal times by id too. All but RELEVANCE are the same in every engine.
        Raises QueryTooLarge beyond the bounds of `plan` and `expand`, and ValueError for a name
        that is no field, an order that the index does not know, or an `after` that is no id.
        """
        ...

    def count(self, query: Query, facets: Sequence[Facet]) -> tuple[Counts, ...]:
        """Count the documents found by the values of these filters, exactly.

        Raises as `search` does; ValueError for a name that is no filter or a step that does not
        fit it, TooManySteps where a facet of time would have more than MOST_STEPS buckets.
        """
        ...

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """Return how many documents hold each token in a searched field: the most of any field.

        For weighing: a document that was deleted or replaced may count still.
        """
        ...

    def words(
        self, start: str, *, among: Query | None = None, most: int = 10
    ) -> tuple[WordCount, ...]:
        """Return the words (`words.py`) of the documents found that begin with a folded text.

        The most frequent come first, equal ones by code points, each with the exact number of
        documents of `among` (None: of all) that hold it. Raises as `search` does.
        """
        ...

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        """Return the documents with these ids, by id; an unknown id is left out."""
        ...

    def digests(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the digest of each of these ids that the index holds."""
        ...

    def close(self) -> None:
        """Free files and memory; the directory may be removed from then on."""
        ...


class Engine(Protocol):
    """A search library behind this contract. Stateless, cheap to make."""

    @property
    def name(self) -> str:
        """The name in settings and manifests: `tantivy` or `whoosh`."""
        ...

    @property
    def version(self) -> str:
        """The version of the library, for the manifest."""
        ...

    def create(self, directory: Path, fields: Fields) -> None:
        """Make an empty index in an existing empty directory."""
        ...

    def open_writer(self, directory: Path, fields: Fields, *, bulk: bool) -> Writer:
        """Open the index for changes; `bulk` says that very many documents will come.

        The directory may hold files that are hard links of another index: the engine never
        writes into an existing file, except those that `is_rewritten` names.
        """
        ...

    def open_searcher(self, directory: Path, fields: Fields) -> Searcher:
        """Open the index for reading."""
        ...

    def is_rewritten(self, file_name: str) -> bool:
        """Tell whether a clone must copy this file, because the engine rewrites it in place."""
        ...

    def is_lock(self, file_name: str) -> bool:
        """Tell whether this file is a lock, which a clone must leave out."""
        ...
