"""The whoosh engine: the only module that imports whoosh. Pure Python, it always installs.

Fields are named by their place, since whoosh makes file names of them. Never its `refresh()`,
which goes on showing replaced documents.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self, cast

from whoosh import analysis, columns, matching
from whoosh.fields import COLUMN, ID, STORED, TEXT, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.query.spans import SpanWrappingMatcher
from whoosh.reading import SegmentReader
from whoosh.util import make_binary_tree

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit, Hits, Order
from sakuin.indexer.fold import fold
from sakuin.indexer.library_trouble import as_os_error
from sakuin.indexer.merge_policy import to_merge
from sakuin.indexer.plan import AnyOf, Leaf, Plan, plan, require_few
from sakuin.indexer.query import Everything, Nothing
from sakuin.indexer.query import Query as Tree
from sakuin.indexer.tokens import QueryCut, follow_each_other, token_text

_SORTS = {Order.ID: (0, 1), Order.NEWEST: (1, -1), Order.OLDEST: (1, 1)}  # which number, sign


class WhooshEngine:
    """whoosh behind the contract of `sakuin.indexer.engine.Engine`."""

    name = "whoosh"

    @property
    def version(self) -> str:
        """The version of the installed distribution."""
        return version("whoosh-reloaded")

    def create(self, directory: Path, fields: Fields) -> None:
        """Make an empty index in an existing empty directory."""
        FileStorage(str(directory)).create_index(_schema(fields))

    def open_writer(self, directory: Path, fields: Fields, *, bulk: bool) -> "_Writer":
        """Open the index for changes. Only one writer at a time can have it open."""
        with as_os_error("whoosh"):
            index = FileStorage(str(directory)).open_index()
            # Of a compound file whoosh would read the whole into memory at every opening.
            return _Writer(index.writer(limitmb=512 if bulk else 128, compound=False), fields)

    def open_searcher(self, directory: Path, fields: Fields) -> "_Searcher":
        """Open the index for reading."""
        with as_os_error("whoosh"):
            return _Searcher(FileStorage(str(directory)).open_index().searcher(), fields)

    def is_rewritten(self, file_name: str) -> bool:  # noqa: ARG002
        """Tell that no file is: each commit writes a table of contents of its own."""
        return False

    def is_lock(self, file_name: str) -> bool:
        """Tell whoosh's lock file."""
        return file_name.endswith("_WRITELOCK")


class _Writer:
    def __init__(self, writer: Any, fields: Fields) -> None:
        self._writer, self._fields = writer, fields
        self._reader = writer.reader()
        self._added: dict[str, int] = {}

    def upsert(self, documents: Iterable[Document]) -> None:
        writer = self._open_writer()
        for document in documents:
            values = self._values(document)
            self.delete([document.id])
            self._added[document.id] = writer.docnum
            writer.add_document(**values)

    def delete(self, ids: Iterable[str]) -> None:
        writer = self._open_writer()
        for one in ids:
            earlier = self._added.pop(one, None)
            if earlier is not None:
                writer.newsegment.delete_document(earlier)
            elif ("id", term := one.encode()) in self._reader:
                for number in list(self._reader.postings("id", term).all_ids()):
                    writer.delete_document(number)

    def commit(self) -> None:
        self._closed().commit(mergetype=_merge)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._writer is not None:
            self._closed().cancel()

    def _closed(self) -> Any:
        writer = self._open_writer()
        self._reader.close()
        self._writer = self._reader = None
        return writer

    def _values(self, document: Document) -> dict[str, object]:
        texts = [document.text[name] for name in self._fields.searched + self._fields.stored]
        numbers = (document.number, document.at, document.digest)
        values: dict[str, object] = {"id": document.id, "numbers": numbers, "texts": texts}
        for name, text in zip(_names(self._fields), texts, strict=False):
            values[name] = token_text(fold(text))
        return values

    def _open_writer(self) -> Any:
        if self._writer is None:
            raise ValueError("this writer is closed: open another one")
        return self._writer


class _Searcher:
    """Its threads take turns: whoosh's files have one position each."""

    def __init__(self, searcher: Any, fields: Fields) -> None:
        self._searcher, self._fields = searcher, fields
        self._turn = threading.Lock()
        for part, _ in searcher.leaf_searchers():
            if part.doc_count_all():  # whoosh opens these files at need, when they may be gone
                part.stored_fields(0)
                part.reader().column_reader("numbers")
                for field in _names(fields):
                    part.doc_field_length(0, field)

    @property
    def document_count(self) -> int:
        return cast(int, self._open_searcher().doc_count())

    def search(self, query: Tree, *, order: Order, offset: int, limit: int) -> Hits:
        planned = plan(query)
        searcher = self._open_searcher()
        with self._turn, as_os_error("whoosh"):
            keyed = list(_matches(searcher, planned, _names(self._fields)))
            if keyed and order in _SORTS:
                which, sign = _SORTS[order]
                numbers = searcher.reader().column_reader("numbers")
                keyed = [(sign * numbers[place][which], place) for _, place in keyed]
            page = nsmallest(min(offset + limit, len(keyed)), keyed)[offset:] if limit else []
            found = [(self._document(place), -key) for key, place in page]
        return Hits(len(keyed), tuple(Hit(d, 0.0 if order in _SORTS else s) for d, s in found))

    def documents(self, ids: Sequence[str]) -> dict[str, Document]:
        found = {}
        reader = self._open_searcher().reader()
        for one in ids:
            term = one.encode()
            with self._turn, as_os_error("whoosh"):
                if ("id", term) in reader:
                    for place in list(reader.postings("id", term).all_ids()):
                        found[one] = self._document(place)
        return found

    def digests(self, ids: Sequence[str]) -> dict[str, int]:
        return {one: document.digest for one, document in self.documents(ids).items()}

    def close(self) -> None:
        with self._turn:
            if self._searcher is not None:
                self._searcher.close()
            self._searcher = None

    def _document(self, place: int) -> Document:
        number, at, digest = self._searcher.reader().column_reader("numbers")[place]
        stored = self._searcher.stored_fields(place)
        names = self._fields.searched + self._fields.stored
        return Document(
            stored["id"], number, at, digest, dict(zip(names, stored["texts"], strict=True))
        )

    def _open_searcher(self) -> Any:
        if self._searcher is None:
            raise ValueError("this searcher is closed: open another one")
        return self._searcher


def _matches(searcher: Any, query: Plan, fields: list[str]) -> Iterator[tuple[float, int]]:
    """Yield (minus the score, document number) of every match, one segment after another."""
    for part, offset in searcher.leaf_searchers():
        matcher = _Segment(part, fields).matcher(query)
        while matcher.is_active():
            yield -matcher.score(), offset + matcher.id()
            matcher.next()


class _Segment:
    """Makes the matchers of one segment; recursion is bounded by the plan's depth."""

    def __init__(self, searcher: Any, fields: Sequence[str]) -> None:
        self._searcher, self._reader, self._fields = searcher, searcher.reader(), fields

    def matcher(self, each: Plan) -> Any:
        if isinstance(each, Everything):
            return matching.ListMatcher(list(self._reader.all_doc_ids()))
        if isinstance(each, Nothing):
            return matching.NullMatcher()
        if isinstance(each, Leaf):
            return _any(self._leaf(field, each.cut) for field in self._fields)
        if isinstance(each, AnyOf):
            return _any(self.matcher(one) for one in each.clauses)
        wanted = _all([self.matcher(one) for one in each.wanted or (Everything(),)])
        unwanted = _any(self.matcher(one) for one in each.unwanted)
        return matching.AndNotMatcher(wanted, unwanted) if unwanted.is_active() else wanted

    def _leaf(self, field: str, cut: QueryCut) -> Any:
        if len(cut.tokens) > 1:
            return self._phrase(field, cut)
        return (self._beginning if cut.prefix else self._term)(field, cut.tokens[0])

    def _term(self, field: str, token: str | bytes) -> Any:
        if (field, token) in self._reader:
            return self._searcher.postings(field, token)
        return matching.NullMatcher()

    def _beginning(self, field: str, start: str) -> Any:
        """Match all documents with a token that begins so, at a constant score."""
        found: set[int] = set()
        for token in self._expand(field, start):
            found.update(self._reader.postings(field, token).all_ids())
        return matching.ListMatcher(sorted(found))

    def _phrase(self, field: str, cut: QueryCut) -> Any:
        parts = [(self._term(field, token), places) for token, places in cut.places().items()]
        if not all(matcher.is_active() for matcher, _ in parts):
            return matching.NullMatcher()
        if cut.prefix:
            words = list(self._expand(field, cut.tokens[-1]))
            require_few(len(words), cut.tokens[-1])
            parts.append((_any(self._term(field, word) for word in words), [len(cut.tokens) - 1]))
        return _PhraseMatcher(parts)

    def _expand(self, field: str, start: str) -> Iterator[bytes]:
        if field in self._reader.indexed_field_names():
            yield from self._reader.expand_prefix(field, start)


class _PhraseMatcher(SpanWrappingMatcher):  # type: ignore[misc]
    """Matches where tokens stand at their places one after another, wherever the first is."""

    def __init__(self, parts: Sequence[tuple[Any, list[int]]]) -> None:
        self._parts = parts
        super().__init__(_all([matcher for matcher, _ in parts]))

    def _get_spans(self) -> bool:
        return follow_each_other([(set(_positions(each)), where) for each, where in self._parts])


def _positions(matcher: Any) -> Iterable[int]:
    if isinstance(matcher, matching.UnionMatcher):
        return (span.start for span in matcher.spans())
    return cast(Iterable[int], matcher.value_as("positions"))


def _all(matchers: list[Any]) -> Any:
    if not all(matcher.is_active() for matcher in matchers):
        return matching.NullMatcher()
    return make_binary_tree(matching.IntersectionMatcher, matchers)


def _any(matchers: Iterable[Any]) -> Any:
    active = [matcher for matcher in matchers if matcher.is_active()]
    return make_binary_tree(matching.UnionMatcher, active) if active else matching.NullMatcher()


def _merge(writer: Any, segments: list[Any]) -> list[Any]:
    """Merge old segments into the one being written; return those that stay."""
    sizes = [segment.doc_count_all() - segment.deleted_count() for segment in segments]
    merged = to_merge(sizes, writer.doc_count())
    for place in merged:
        reader = SegmentReader(writer.storage, writer.schema, segments[place])
        writer.add_reader(reader)
        reader.close()
    return [
        segment for place, segment in enumerate(segments) if sizes[place] and place not in merged
    ]


def _names(fields: Fields) -> list[str]:
    return [f"t{place}" for place in range(len(fields.searched))]


def _schema(fields: Fields) -> Any:
    numbers = COLUMN(columns.StructColumn("!qqQ", (0, 0, 0)))
    schema = Schema(id=ID(stored=True), numbers=numbers, texts=STORED())
    for name in _names(fields):
        schema.add(name, TEXT(analyzer=analysis.RegexTokenizer(r"\S+"), stored=False))
    return schema
