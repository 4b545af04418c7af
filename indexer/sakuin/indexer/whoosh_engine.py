"""The whoosh engine: the only module that imports whoosh. Pure Python, it always installs.

Never its `refresh()`, which goes on showing replaced documents.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from whoosh import analysis, columns, matching
from whoosh.fields import COLUMN, ID, STORED, TEXT, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.query.spans import SpanWrappingMatcher
from whoosh.reading import SegmentReader
from whoosh.util import make_binary_tree

from sakuin.indexer.document import Fields, FilterKind
from sakuin.indexer.library_trouble import as_os_error
from sakuin.indexer.merge_policy import to_merge
from sakuin.indexer.tokens import follow_each_other
from sakuin.indexer.whoosh_listed import Listed, in_all, in_any
from sakuin.indexer.whoosh_searcher import WhooshSearcher
from sakuin.indexer.whoosh_writer import (
    WORDS,
    WhooshWriter,
    keyword_field,
    number_filters,
    token_field,
)


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

    def open_searcher(self, directory: Path, fields: Fields) -> WhooshSearcher:
        """Open the index for reading."""
        with as_os_error("whoosh"):
            opened = FileStorage(str(directory)).open_index().searcher()
            return WhooshSearcher(opened, fields, _Matchers)

    def is_rewritten(self, file_name: str) -> bool:  # noqa: ARG002
        """Tell that no file is: each commit writes a table of contents of its own."""
        return False

    def is_lock(self, file_name: str) -> bool:
        """Tell whoosh's lock file."""
        return file_name.endswith("_WRITELOCK")


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

    none, some, listed, phrase, ending = (
        matching.NullMatcher,
        Listed.alike,
        Listed,
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
    analyzer = analysis.RegexTokenizer(r"\S+")
    schema.add(WORDS, ID(analyzer=analyzer))
    for name in fields.searched:
        for backwards in (False, True):
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
