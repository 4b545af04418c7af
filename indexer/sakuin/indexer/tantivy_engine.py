"""The tantivy engine: the only module that imports tantivy.

The text of each field is stored as bytes beside a field of tokens, which tantivy splits at
blanks. Nothing that a user typed reaches tantivy's own query parser.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import tantivy
from tantivy import Occur, Query

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit, Hits, Order
from sakuin.indexer.fold import fold
from sakuin.indexer.library_trouble import as_os_error
from sakuin.indexer.plan import MOST_EXPANSIONS, AnyOf, Clause, Leaf, Plan, expand, plan
from sakuin.indexer.query import Everything, Nothing
from sakuin.indexer.query import Query as Tree
from sakuin.indexer.tokens import QueryCut, token_text

LONGEST_ID = 65_530
"""Bytes of an id in UTF-8: tantivy drops longer terms without a word."""

_TEXT, _TOKENS = "text:", "tokens:"  # no field can have such a name: it is no identifier
_HEAP, _BULK_HEAP = 64_000_000, 128_000_000
_AT_ONCE = 256
_Item = TypeVar("_Item")
_SORTS = {
    Order.ID: ("n", tantivy.Order.Asc),
    Order.NEWEST: ("at", tantivy.Order.Desc),
    Order.OLDEST: ("at", tantivy.Order.Asc),
}


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

    def open_writer(self, directory: Path, fields: Fields, *, bulk: bool) -> "_Writer":
        """Open the index for changes. Only one writer at a time can have it open."""
        with as_os_error("tantivy"):
            index = tantivy.Index.open(str(directory))
            # One thread: documents keep the order in which they come, so ties do too.
            writer = index.writer(_BULK_HEAP if bulk else _HEAP, 1)
        return _Writer(writer, index.schema, fields)

    def open_searcher(self, directory: Path, fields: Fields) -> "_Searcher":
        """Open the index for reading."""
        with as_os_error("tantivy"):
            index = tantivy.Index.open(str(directory))
            return _Searcher(index.searcher(), index.schema, fields)

    def is_rewritten(self, file_name: str) -> bool:
        """Tell that the lists of files are rewritten; segments never are."""
        return file_name.endswith(".json")

    def is_lock(self, file_name: str) -> bool:
        """Tell tantivy's lock files."""
        return file_name.endswith(".lock")


class _Writer:
    def __init__(self, writer: tantivy.IndexWriter, schema: tantivy.Schema, fields: Fields) -> None:
        self._writer: tantivy.IndexWriter | None = writer
        self._schema, self._fields = schema, fields

    def upsert(self, documents: Iterable[Document]) -> None:
        for group in _groups(documents):
            latest = {document.id: document for document in group}
            self.delete(latest)
            writer = self._open_writer()
            for document in latest.values():
                made = _to_tantivy(document, self._fields)
                with as_os_error("tantivy"):
                    writer.add_document(made)

    def delete(self, ids: Iterable[str]) -> None:
        writer = self._open_writer()
        for group in _groups(ids):
            found = Query.term_set_query(self._schema, "id", group)
            with as_os_error("tantivy"):
                writer.delete_documents_by_query(found)

    def commit(self) -> None:
        """Write everything to files of the directory and close.

        tantivy merges as soon as 8 segments are of a size, all up to 10,000 documents being of
        one size; from Python that cannot be changed, nor be left to later: a merge would go on
        writing files into a sealed copy. So it is waited for. Of one-row batches every seventh
        merges the rows before it (4 ms more than the 10 ms of the others); one that completes
        a set of 8 larger segments takes 0.3 s for 10,000 documents, 1.1 s for 70,000.
        """
        writer = self._open_writer()
        with as_os_error("tantivy"):
            writer.commit()
            self._writer = None
            writer.wait_merging_threads()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        """Abandon whatever was not committed; end tantivy's threads and free its lock."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with as_os_error("tantivy"):
                writer.wait_merging_threads()

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise ValueError("this writer is closed: open another one")
        return self._writer


class _Searcher:
    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema, fields: Fields) -> None:
        self._searcher: tantivy.Searcher | None = searcher
        self._schema, self._fields = schema, fields

    @property
    def document_count(self) -> int:
        return self._open_searcher().num_docs

    def search(self, query: Tree, *, order: Order, offset: int, limit: int) -> Hits:
        searcher = self._open_searcher()
        wanted = max(0, min(limit, searcher.num_docs - offset))
        sort, direction = _SORTS.get(order, (None, tantivy.Order.Desc))
        planned = plan(query)
        with as_os_error("tantivy"):
            compiler = _Compiler(searcher, self._schema, self._fields)
            expand(planned, compiler.words)
            compiled = compiler.query(planned)
            # tantivy panics at a limit of 0, and makes room for all of offset and limit.
            first = offset if wanted else 0
            found = searcher.search(
                compiled, max(wanted, 1), offset=first, order_by_field=sort, order=direction
            )
            hits = tuple(
                Hit(_from_tantivy(searcher.doc(address), self._fields), 0.0 if sort else score)
                for score, address in (found.hits if wanted else ())
            )
        return Hits(cast(Any, found).count, hits)

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        found = (_from_tantivy(each, self._fields) for each in self._found(ids))
        return {document.id: document for document in found}

    def digests(self, ids: Sequence[str]) -> dict[str, int]:
        found = ((each.get_first("id"), each.get_first("digest")) for each in self._found(ids))
        return dict(cast(Iterator[tuple[str, int]], found))

    def close(self) -> None:
        self._searcher = None

    def _found(self, ids: Iterable[str]) -> Iterator[tantivy.Document]:
        searcher = self._open_searcher()
        for group in _groups(ids):
            query = Query.term_set_query(self._schema, "id", group)
            with as_os_error("tantivy"):
                found = searcher.search(query, limit=len(group), count=False)
                # Neighbours in the store are unpacked together.
                addresses = sorted(
                    (address for _, address in found.hits), key=lambda a: (a.segment_ord, a.doc)
                )
                made = [searcher.doc(address) for address in addresses]
            yield from made

    def _open_searcher(self) -> tantivy.Searcher:
        if self._searcher is None:
            raise ValueError("this searcher is closed: open another one")
        return self._searcher


class _Compiler:
    """Makes tantivy's queries; recursion is bounded by the plan's depth."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema, fields: Fields) -> None:
        self._searcher, self._schema = searcher, schema
        self._names = [_TOKENS + name for name in fields.searched]

    def words(self, start: str, most: int) -> set[str]:
        """Return words of the documents that begin so, for the budget of `expand`."""
        # The filter leaves out the words that only deleted documents hold.
        every, find = Query.all_query(), self._searcher.terms_with_prefix
        return {word for name in self._names for word, _ in find(name, start, every, most)}

    def query(self, each: Plan) -> Query:
        if isinstance(each, Everything):
            return Query.all_query()
        if isinstance(each, Nothing):
            return Query.empty_query()
        return self._clause(each)

    def _clause(self, each: Clause) -> Query:
        if isinstance(each, Leaf):
            return _any([self._leaf(name, each.cut) for name in self._names])
        if isinstance(each, AnyOf):
            return _any([self._clause(one) for one in each.clauses])
        wanted = [self._clause(one) for one in each.wanted] or [Query.all_query()]
        return Query.boolean_query(
            [(Occur.Must, one) for one in wanted]
            + [(Occur.MustNot, self._clause(one)) for one in each.unwanted]
        )

    def _leaf(self, name: str, cut: QueryCut) -> Query:
        tokens = cut.tokens
        if len(tokens) == 1:
            if cut.open_end:
                return Query.fuzzy_term_query(
                    self._schema, name, tokens[0], distance=0, prefix=True
                )
            return Query.term_query(self._schema, name, tokens[0], index_option="freq")
        if not cut.open_end:
            return self._phrase(name, tokens)
        *before, last = tokens
        # phrase_prefix_query looks at 50 words at most and does not say so. Only words of the
        # documents that hold the rest of the phrase count: 30 times fewer than all.
        rest = self._leaf(name, QueryCut(tuple(before)))
        found = self._searcher.terms_with_prefix(name, last, rest, MOST_EXPANSIONS)
        if not found:
            return Query.empty_query()
        return _any([self._phrase(name, [*before, word]) for word, _ in found])

    def _phrase(self, name: str, tokens: Iterable[str]) -> Query:
        return Query.phrase_query(self._schema, name, list(tokens))


def _any(queries: list[Query]) -> Query:
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Should, one) for one in queries])


def _schema(fields: Fields) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("n", stored=True, fast=True)
    builder.add_integer_field("at", stored=True, fast=True)
    builder.add_unsigned_field("digest", stored=True)
    for name in fields.searched:
        builder.add_text_field(_TOKENS + name, tokenizer_name="whitespace")
    for name in fields.searched + fields.stored:
        builder.add_bytes_field(_TEXT + name, stored=True)
    return builder.build()


def _to_tantivy(document: Document, fields: Fields) -> tantivy.Document:
    if len(document.id.encode()) > LONGEST_ID:
        raise ValueError(f"the id {document.id[:40]!r}… is longer than {LONGEST_ID} bytes")
    made = tantivy.Document()
    made.add_text("id", document.id)
    made.add_unsigned("n", document.number)
    made.add_integer("at", document.at)
    made.add_unsigned("digest", document.digest)
    for name in fields.searched:
        made.add_text(_TOKENS + name, token_text(fold(document.text[name])))
    for name in fields.searched + fields.stored:
        made.add_bytes(_TEXT + name, document.text[name].encode())
    return made


def _from_tantivy(stored: tantivy.Document, fields: Fields) -> Document:
    first: Callable[[str], Any] = stored.get_first
    names = fields.searched + fields.stored
    text = {name: first(_TEXT + name).decode() for name in names}
    return Document(first("id"), first("n"), first("at"), first("digest"), text)


def _groups(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    """Cut into lists short enough to be worked at once, of documents or of ids."""
    rest = iter(items)
    while group := list(islice(rest, _AT_ONCE)):
        yield group
