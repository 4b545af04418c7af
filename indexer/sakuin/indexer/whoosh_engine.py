"""The whoosh engine: the only module that imports whoosh. Pure Python, it always installs.

Never its `refresh()`, which goes on showing replaced documents.
"""

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, cast

from whoosh import analysis, columns, matching
from whoosh.fields import COLUMN, ID, STORED, TEXT, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.query.spans import SpanWrappingMatcher
from whoosh.reading import SegmentReader
from whoosh.util import make_binary_tree

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit, Hits, Order
from sakuin.indexer.library_trouble import as_os_error
from sakuin.indexer.merge_policy import to_merge
from sakuin.indexer.plan import AnyOf, Leaf, Plan, expand, lone_starts, plan
from sakuin.indexer.query import Everything, Nothing
from sakuin.indexer.query import Query as Tree
from sakuin.indexer.tokens import QueryCut, follow_each_other
from sakuin.indexer.whoosh_words import Words, added
from sakuin.indexer.whoosh_writer import WhooshWriter, field_names

_SORTS = {Order.ID: (0, 1), Order.NEWEST: (1, -1), Order.OLDEST: (1, 1)}  # which number, sign
_AT_ONCE = 500


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

    def open_writer(self, directory: Path, fields: Fields, *, bulk: bool) -> WhooshWriter:
        """Open the index for changes. Only one writer at a time can have it open."""
        with as_os_error("whoosh"):
            index = FileStorage(str(directory)).open_index()
            # Of a compound file whoosh would read the whole into memory at every opening.
            writer = index.writer(limitmb=512 if bulk else 128, compound=False)
            return WhooshWriter(writer, fields, _merge)

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


class _Searcher:
    """Its threads take turns: whoosh's files have one position each."""

    def __init__(self, searcher: Any, fields: Fields) -> None:
        self._searcher, self._fields = searcher, fields
        self._turn = threading.Lock()
        for part, _ in searcher.leaf_searchers():
            if part.doc_count_all():  # whoosh opens these files at need, when they may be gone
                part.stored_fields(0)
                part.reader().column_reader("numbers")
                for field in field_names(fields):
                    part.doc_field_length(0, field)

    @property
    def document_count(self) -> int:
        return cast(int, self._open_searcher().doc_count())

    def search(self, query: Tree, *, order: Order, offset: int, limit: int) -> Hits:
        planned = plan(query)
        fields = field_names(self._fields)
        parts = self._open_searcher().leaf_searchers()
        segments = [_Segment(part, offset, fields) for part, offset in parts]
        endings = expand(planned, lambda start, most: self._words(segments, start, most))
        for start in lone_starts(planned):
            for segment in segments:
                self._in_turns(segment.read(start))
        searcher = self._open_searcher()
        with self._turn, as_os_error("whoosh"):
            keyed = [match for each in segments for match in each.matches(planned, endings)]
            if keyed and order in _SORTS:
                which, sign = _SORTS[order]
                numbers = searcher.reader().column_reader("numbers")
                keyed = [(sign * numbers[place][which], place) for _, place in keyed]
            page = nsmallest(min(offset + limit, len(keyed)), keyed)[offset:] if limit else []
            found = [(self._document(place), -key) for key, place in page]
        return Hits(len(keyed), tuple(Hit(d, 0.0 if order in _SORTS else s) for d, s in found))

    def _words(self, segments: Iterable["_Segment"], start: str, most: int) -> set[bytes]:
        found: set[bytes] = set()
        for segment in segments:
            self._in_turns(added(segment.words(start), found, most))
        return found

    def _in_turns(self, steps: Iterator[None]) -> None:
        """Go through all steps, and let other searches have turns in between."""
        taken = _AT_ONCE
        while taken == _AT_ONCE:
            self._open_searcher()
            with self._turn, as_os_error("whoosh"):
                taken = sum(1 for _ in islice(steps, _AT_ONCE))
            time.sleep(0)  # without it this thread is back before one that waits has woken

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


class _Segment:
    """One segment during one search; recursion is bounded by the plan's depth."""

    def __init__(self, searcher: Any, offset: int, fields: Sequence[str]) -> None:
        self._searcher, self._reader, self._fields = searcher, searcher.reader(), fields
        self._offset, self._words = offset, Words(self._reader)
        self._endings: Mapping[str, Collection[bytes]] = {}
        self._places: dict[tuple[str, str], dict[int, list[bytes]]] = {}

    def words(self, start: str) -> Iterator[bytes]:
        """Yield the words of each field that begin so."""
        return (word for field in self._fields for word in self._words.living(field, start))

    def read(self, start: str) -> Iterator[None]:
        """Read what prefixes that begin so will need, one word a step."""
        return (step for field in self._fields for step in self._words.read(field, start))

    def matches(
        self, query: Plan, endings: Mapping[str, Collection[bytes]]
    ) -> Iterator[tuple[float, int]]:
        """Yield (minus the score, document number) of every match."""
        self._endings = endings
        matcher = self.matcher(query)
        while matcher.is_active():
            yield -matcher.score(), self._offset + matcher.id()
            matcher.next()

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
        return (self._beginning if cut.open_end else self._term)(field, cut.tokens[0])

    def _term(self, field: str, token: str | bytes) -> Any:
        if (field, token) in self._reader:
            return self._searcher.postings(field, token)
        return matching.NullMatcher()

    def _beginning(self, field: str, start: str) -> Any:
        """Match all documents with a token that begins so, at a constant score."""
        return matching.ListMatcher(self._words.documents(field, start))

    def _phrase(self, field: str, cut: QueryCut) -> Any:
        parts = [(self._term(field, token), places) for token, places in cut.places().items()]
        if not all(matcher.is_active() for matcher, _ in parts):
            return matching.NullMatcher()
        if cut.open_end:
            parts.append((self._ending(field, cut.tokens[-1]), [len(cut.tokens) - 1]))
        return _PhraseMatcher(parts)

    def _ending(self, field: str, start: str) -> Any:
        """Match the words that the open end of a phrase stands for, read once a search."""
        places = self._places.get((field, start))
        if places is None:
            places = self._words.places(field, self._endings[start])
            self._places[field, start] = places
        decode = self._reader.schema[field].format.decoder("positions")
        return _EndingMatcher(places, decode)


class _EndingMatcher(matching.ListMatcher):  # type: ignore[misc]
    """Matches documents by the encoded positions of some words in each, at a constant score."""

    def __init__(
        self, places: dict[int, list[bytes]], decode: Callable[[bytes], list[int]]
    ) -> None:
        super().__init__(sorted(places))
        self._i: int = 0
        self._encoded, self._decode = places, decode

    def skip_to(self, number: int) -> None:
        self._i = bisect_left(self._ids, number, self._i)

    def value_as(self, _: str) -> list[int]:
        return [at for each in self._encoded[self.id()] for at in self._decode(each)]


class _PhraseMatcher(SpanWrappingMatcher):  # type: ignore[misc]
    """Matches where tokens stand at their places one after another, wherever the first is."""

    def __init__(self, parts: Sequence[tuple[Any, list[int]]]) -> None:
        self._parts = parts
        super().__init__(_all([matcher for matcher, _ in parts]))

    def _get_spans(self) -> bool:
        return follow_each_other(
            [(set(each.value_as("positions")), where) for each, where in self._parts]
        )


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


def _schema(fields: Fields) -> Any:
    numbers = COLUMN(columns.StructColumn("!qqQ", (0, 0, 0)))
    schema = Schema(id=ID(stored=True), numbers=numbers, texts=STORED())
    for name in field_names(fields):
        schema.add(name, TEXT(analyzer=analysis.RegexTokenizer(r"\S+"), stored=False))
    return schema
