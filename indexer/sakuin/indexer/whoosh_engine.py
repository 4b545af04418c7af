"""The whoosh engine: the only module that imports whoosh. Pure Python, it always installs.

Never its `refresh()`, which goes on showing replaced documents.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
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

from sakuin.indexer.document import Document, Fields, FilterKind
from sakuin.indexer.engine import Hit, Hits, Order, require_order
from sakuin.indexer.exact_values import id_number
from sakuin.indexer.expand import End, expand
from sakuin.indexer.library_trouble import as_os_error
from sakuin.indexer.merge_policy import to_merge
from sakuin.indexer.plan import plan
from sakuin.indexer.query import Query as Tree
from sakuin.indexer.tokens import follow_each_other
from sakuin.indexer.whoosh_listed import Listed, in_all, in_any
from sakuin.indexer.whoosh_segment import Segment
from sakuin.indexer.whoosh_words import added
from sakuin.indexer.whoosh_writer import (
    WhooshWriter,
    from_stored,
    key_of,
    keyword_field,
    number_filters,
    token_field,
)

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
                for name, kind in part.schema.items():
                    if kind.column_type:
                        part.reader().column_reader(name)
                    if kind.scorable:
                        part.doc_field_length(0, name)

    @property
    def document_count(self) -> int:
        return cast(int, self._open_searcher().doc_count())

    def search(
        self, query: Tree, *, order: Order, offset: int, limit: int, after: str | None = None
    ) -> Hits:
        require_order(self._fields, order, after)
        planned = plan(query, self._fields)
        parts = self._open_searcher().leaf_searchers()
        segments = [Segment(part, at, self._fields, _Matchers) for part, at in parts]
        endings = expand(planned, lambda end, most: self._words(segments, end, most))
        for segment in segments:
            for steps in segment.read(planned):
                self._in_turns(steps)
        self._open_searcher()
        with self._turn, as_os_error("whoosh"):
            keyed: list[tuple[Any, int]] = [
                m for s in segments for m in s.matches(planned, endings)
            ]
            total = len(keyed)
            if keyed and order is not Order.RELEVANCE:
                key = key_of(self._searcher.reader(), self._fields, order)
                keyed = [(key(place), place) for _, place in keyed]
                if after is not None:
                    last = (after.encode() if self._fields.text_ids else id_number(after),)
                    keyed = [each for each in keyed if each[0] > last]
            page = nsmallest(min(offset + limit, len(keyed)), keyed)[offset:] if limit else []
            scored = order is Order.RELEVANCE
            found = tuple(Hit(self._document(at), -key if scored else 0.0) for key, at in page)
        return Hits(total, found)

    def _words(self, segments: Iterable[Segment], end: End, most: int) -> set[bytes]:
        found: set[bytes] = set()
        for segment in segments:
            self._in_turns(added(segment.words(end), found, most))
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
        numbers = self._searcher.reader().column_reader("numbers")[place]
        return from_stored(self._searcher.stored_fields(place), numbers, self._fields)

    def _open_searcher(self) -> Any:
        if self._searcher is None:
            raise ValueError("this searcher is closed: open another one")
        return self._searcher


class _EndingMatcher(Listed):
    """Matches documents by the encoded positions of some words in each, at a constant score."""

    def __init__(
        self, places: dict[int, list[bytes]], decode: Callable[[bytes], list[int]]
    ) -> None:
        super().__init__(dict.fromkeys(places, 1.0))
        self._encoded, self._decode = places, decode

    def value_as(self, _: str) -> list[int]:
        return [at for each in self._encoded[self.id()] for at in self._decode(each)]


class _PhraseMatcher(SpanWrappingMatcher):  # type: ignore[misc]
    """Matches where tokens stand at their places one after another, wherever the first is."""

    def __init__(self, parts: Sequence[tuple[Any, list[int]]]) -> None:
        self._parts = parts
        super().__init__(_all([matcher for matcher, _ in parts]))  # no joined lists: places

    def _get_spans(self) -> bool:
        return follow_each_other(
            [(set(each.value_as("positions")), where) for each, where in self._parts]
        )


class _Without(matching.AndNotMatcher):  # type: ignore[misc]
    """Matches what the first matches and the second does not.

    whoosh's own lets its first document pass if the second begins with an earlier one, and
    looks for the next document after the last.
    """

    def _find_first(self) -> None:
        self._find_next()

    def _find_next(self) -> None:
        while self.a.is_active() and self.b.is_active():
            if self.b.id() < self.a.id():
                self.b.skip_to(self.a.id())
            elif self.b.id() == self.a.id():
                self.a.next()
            else:
                return

    def next(self) -> None:
        self.a.next()
        self._find_next()

    def skip_to(self, number: int) -> None:
        self.a.skip_to(number)
        self._find_next()


class _Matchers:
    """The matchers that a segment's answer is made of."""

    none, some, phrase, ending = (
        matching.NullMatcher,
        Listed.alike,
        _PhraseMatcher,
        _EndingMatcher,
    )

    @staticmethod
    def all_of(matchers: list[Any]) -> Any:
        return _all(in_all(matchers))

    @staticmethod
    def any_of(matchers: Iterable[Any]) -> Any:
        active = in_any(matchers)
        if not active:
            return matching.NullMatcher()
        return make_binary_tree(matching.UnionMatcher, active)

    @staticmethod
    def without(wanted: Any, unwanted: Any) -> Any:
        if isinstance(wanted, Listed) and isinstance(unwanted, Listed):
            return wanted.without(unwanted.scores)
        return _Without(wanted, unwanted) if unwanted.is_active() else wanted

    @staticmethod
    def weighted(matcher: Any, weight: float) -> Any:
        if isinstance(matcher, Listed):
            return matcher.weighted(weight)
        return matching.WrappingMatcher(matcher, boost=weight)


def _all(matchers: list[Any]) -> Any:
    if not all(matcher.is_active() for matcher in matchers):
        return matching.NullMatcher()
    return make_binary_tree(matching.IntersectionMatcher, matchers)


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
    filters = number_filters(fields)
    default = (0, 0, 0, *[0, 0] * len(filters))
    numbers = COLUMN(columns.StructColumn("!qqQ" + "?q" * len(filters), default))
    schema = Schema(id=ID(stored=True), numbers=numbers, texts=STORED(), kept=STORED())
    for name in fields.searched:
        for backwards in (False, True):
            analyzer = analysis.RegexTokenizer(r"\S+")
            schema.add(
                token_field(fields, name, backwards=backwards),
                TEXT(analyzer=analyzer, stored=False),
            )
    for each in fields.filters:
        if each.kind is FilterKind.KEYWORD:
            schema.add(keyword_field(fields, each.name), ID())
    if fields.text_ids:
        schema.add("order_id", COLUMN(columns.VarBytesColumn()))
    if fields.place:
        schema.add("order_place", COLUMN(columns.VarBytesColumn()))
    return schema
