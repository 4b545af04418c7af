"""The tantivy engine: the only module that imports tantivy.

The text of each field is stored as bytes beside a field of tokens, which tantivy splits at
blanks. Nothing that a user typed reaches tantivy's own query parser: it is given letters only.
"""

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import tantivy
from tantivy import Query

from sakuin.indexer.document import Document, Fields, FilterKind
from sakuin.indexer.engine import Hit, Hits, Order, WordCount, require_order
from sakuin.indexer.exact_values import id_number, text_key
from sakuin.indexer.expand import expand
from sakuin.indexer.facet import Counts, Facet, require_facets
from sakuin.indexer.library_trouble import as_os_error, uninterrupted
from sakuin.indexer.near_documents import NearDocuments
from sakuin.indexer.order_page import Column, sorted_page
from sakuin.indexer.plan import plan
from sakuin.indexer.query import Everything
from sakuin.indexer.query import Query as Tree
from sakuin.indexer.tantivy_facets import Counting
from sakuin.indexer.tantivy_queries import Compiler, Sorter
from sakuin.indexer.tantivy_writer import (
    BACKWARDS,
    DAY,
    ID_KEY,
    KEPT,
    MONTH,
    PLACE_KEY,
    PLACE_NUMBER,
    TEXT,
    TOKENS,
    VALUE,
    WORDS,
    TantivyWriter,
    from_stored,
    groups,
    times,
)

_HEAP, _BULK_HEAP = 64_000_000, 128_000_000
_MOST_WORDS = 1_000_000  # it makes room for all that are asked for


class TantivyEngine:
    """tantivy behind the contract of `sakuin.indexer.engine.Engine`."""

    name = "tantivy"

    @property
    def version(self) -> str:
        """The version of the installed tantivy."""
        return version("tantivy")

    def create(self, directory: Path, fields: Fields) -> None:
        """Make an empty index in an existing empty directory."""
        with as_os_error("tantivy"):
            tantivy.Index(_schema(fields), str(directory), reuse=False)

    def open_writer(self, directory: Path, fields: Fields, *, bulk: bool) -> TantivyWriter:
        """Open the index for changes. Only one writer at a time can have it open."""
        with as_os_error("tantivy"):
            index = uninterrupted(lambda: tantivy.Index.open(str(directory)))
            # One thread: documents keep the order in which they come, so ties do too.
            writer = uninterrupted(lambda: index.writer(_BULK_HEAP if bulk else _HEAP, 1))
            # The first change gets the stamp of the commit before it. Where a merge of what was
            # committed begins before ours ends, some segments take a deletion of that stamp for
            # done already, and others do it: it is lost for the first. This one deletes nothing.
            writer.delete_documents_by_query(Query.empty_query())
            before = uninterrupted(index.searcher)
        with_ids = _WithIds(index.schema)
        return TantivyWriter(writer, fields, tantivy.Document, with_ids, before)

    def open_searcher(self, directory: Path, fields: Fields) -> "_Searcher":
        """Open the index for reading."""
        with as_os_error("tantivy"):
            return uninterrupted(lambda: _Searcher(tantivy.Index.open(str(directory)), fields))

    def is_rewritten(self, file_name: str) -> bool:
        """Tell that the lists of files are rewritten; segments never are."""
        return file_name.endswith(".json")

    def is_lock(self, file_name: str) -> bool:
        """Tell tantivy's lock files."""
        return file_name.endswith(".lock")


class _WithIds:
    """Makes the query for the documents with some ids."""

    def __init__(self, schema: tantivy.Schema) -> None:
        self._schema = schema

    def __call__(self, ids: Sequence[str]) -> Query:
        return Query.term_set_query(self._schema, "id", ids)


class _Searcher:
    def __init__(self, index: tantivy.Index, fields: Fields) -> None:
        self._searcher: tantivy.Searcher | None = index.searcher()
        self._index: tantivy.Index | None = index
        self._schema, self._fields = index.schema, fields
        self._pivots: dict[str, list[str]] = {}
        self._labels: dict[tuple[str, str], str] = {}

    @property
    def document_count(self) -> int:
        return self._open_searcher().num_docs

    def search(
        self, query: Tree, *, order: Order, offset: int, limit: int, after: str | None = None
    ) -> Hits:
        require_order(self._fields, order, after)
        searcher = self._open_searcher()
        wanted = max(0, min(limit, searcher.num_docs - offset))
        compiled = self._compiled(query)
        with as_os_error("tantivy"):
            if order is Order.RELEVANCE:
                return self._by_score(searcher, compiled, offset, wanted)
            sorter = Sorter(tantivy, searcher, self._index, self._pivots)
            columns = _columns(order, self._fields)
            rest = compiled
            if after is not None:
                key = text_key(after) if self._fields.text_ids else id_number(after)
                rest = sorter.beyond(compiled, columns[0], key)
            places = sorted_page(sorter, rest, columns, offset, wanted) if wanted else ()
            total = sorter.count(compiled)
            found = tuple(Hit(from_stored(searcher.doc(one), self._fields), 0.0) for one in places)
        return Hits(total, found)

    def _by_score(
        self, searcher: tantivy.Searcher, compiled: Query, offset: int, wanted: int
    ) -> Hits:
        # tantivy panics at a limit of 0, and makes room for all of offset and limit.
        found = searcher.search(compiled, max(wanted, 1), offset=offset if wanted else 0)
        hits = tuple(
            Hit(from_stored(searcher.doc(address), self._fields), score)
            for score, address in (found.hits if wanted else ())
        )
        return Hits(cast(Any, found).count, hits)

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        found = (from_stored(each, self._fields) for each in self._found(ids))
        return {document.id: document for document in found}

    def digests(self, ids: Sequence[str]) -> dict[str, int]:
        found = ((each.get_first("id"), each.get_first("digest")) for each in self._found(ids))
        return dict(cast(Iterator[tuple[str, int]], found))

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        searcher = self._open_searcher()
        names = [TOKENS + name for name in self._fields.searched]
        with as_os_error("tantivy"):
            return {
                token: max(searcher.doc_freq(name, token) for name in names) for token in tokens
            }

    def close(self) -> None:
        self._searcher = self._index = None

    def count(self, query: Tree, facets: Sequence[Facet]) -> tuple[Counts, ...]:
        require_facets(self._fields, facets)
        searcher = self._open_searcher()
        compiled = self._compiled(query)
        with as_os_error("tantivy"):
            counting = Counting(tantivy, searcher, self._schema, self._fields, self._labels)
            return counting.count(compiled, facets)

    def words(
        self, start: str, *, among: Tree | None = None, most: int = 10
    ) -> tuple[WordCount, ...]:
        searcher = self._open_searcher()
        # Without any query the library counts documents that were deleted or replaced.
        compiled = self._compiled(Everything() if among is None else among)
        with as_os_error("tantivy"):
            limit = max(0, min(most, _MOST_WORDS))
            found = searcher.terms_with_prefix(WORDS, start, compiled, limit) if limit else ()
        return tuple(WordCount(*each) for each in found)

    def _compiled(self, query: Tree) -> Query:
        planned = plan(query, self._fields, NearDocuments(self._fields, self._counted))
        with as_os_error("tantivy"):
            compiler = Compiler(tantivy, self._open_searcher(), self._schema, self._fields)
            expand(planned, compiler.words)
            return cast(Query, compiler.query(planned))

    def _counted(self, query: Tree) -> tuple[int, Iterator[Document]]:
        """Return how many documents match, and give them one by one."""
        compiled = self._compiled(query)
        with as_os_error("tantivy"):
            count = cast(Any, self._open_searcher().search(compiled, 1)).count
        return count, self._each(compiled, count)

    def _each(self, query: Query, count: int) -> Iterator[Document]:
        searcher = self._open_searcher()
        with as_os_error("tantivy"):
            found = searcher.search(query, limit=count, count=False).hits if count else ()
        for address in _as_stored(address for _, address in found):
            with as_os_error("tantivy"):
                document = from_stored(searcher.doc(address), self._fields)
            yield document

    def _found(self, ids: Iterable[str]) -> Iterator[tantivy.Document]:
        searcher = self._open_searcher()
        for group in groups(ids):
            query = _WithIds(self._schema)(group)
            with as_os_error("tantivy"):
                found = searcher.search(query, limit=len(group), count=False)
                made = [searcher.doc(each) for each in _as_stored(a for _, a in found.hits)]
            yield from made

    def _open_searcher(self) -> tantivy.Searcher:
        if self._searcher is None:
            raise ValueError("this searcher is closed: open another one")
        return self._searcher


def _as_stored(addresses: Iterable[Any]) -> list[Any]:
    """Put addresses in the order of the store: neighbours are unpacked together."""
    return sorted(addresses, key=lambda address: (address.segment_ord, address.doc))


def _columns(order: Order, fields: Fields) -> tuple[Column, ...]:
    by_id = Column(ID_KEY, is_text=True) if fields.text_ids else Column("n")
    if order is Order.ID:
        return (by_id,)
    if order is Order.SOURCE:
        return (Column(PLACE_KEY, is_text=True), Column(PLACE_NUMBER), by_id)
    return (Column("at", is_descending=order is Order.NEWEST), by_id)


def _schema(fields: Fields) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    raw: Any = {"tokenizer_name": "raw", "index_option": "basic"}
    builder.add_text_field("id", stored=True, **raw)
    builder.add_integer_field("n", stored=True, fast=True)
    builder.add_integer_field("at", stored=True, fast=True)
    builder.add_unsigned_field("digest", stored=True)
    for name in fields.searched:
        builder.add_text_field(TOKENS + name, tokenizer_name="whitespace")
        builder.add_text_field(BACKWARDS + name, tokenizer_name="whitespace")
    builder.add_text_field(WORDS, tokenizer_name="whitespace", index_option="basic")
    for name in fields.searched + fields.stored:
        builder.add_bytes_field(TEXT + name, stored=True)
    for each in fields.filters:
        if each.kind is FilterKind.KEYWORD:
            builder.add_text_field(VALUE + each.name, fast=True, **raw)
            builder.add_bytes_field(KEPT + each.name, stored=True)
        else:
            builder.add_integer_field(VALUE + each.name, stored=True, fast=True)
    for name in times(fields):
        builder.add_integer_field(MONTH + name, fast=True)
        builder.add_integer_field(DAY + name, fast=True)
    if fields.text_ids:
        builder.add_text_field(ID_KEY, fast=True, **raw)
    if fields.place:
        builder.add_text_field(PLACE_KEY, fast=True, **raw)
        builder.add_integer_field(PLACE_NUMBER, fast=True)
    return builder.build()
