"""Searches of a whoosh index; whoosh's own searcher is handed in."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import islice
from typing import Any, cast

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hit, Hits, Order, WordCount, require_order
from sakuin.indexer.exact_values import id_number
from sakuin.indexer.expand import End, expand
from sakuin.indexer.facet import Counts, Facet, require_facets
from sakuin.indexer.library_trouble import as_os_error
from sakuin.indexer.near_documents import NearDocuments
from sakuin.indexer.plan import plan
from sakuin.indexer.query import Everything, Query
from sakuin.indexer.whoosh_facets import Tally
from sakuin.indexer.whoosh_segment import Segment
from sakuin.indexer.whoosh_words import added
from sakuin.indexer.whoosh_writer import from_stored, key_of, keyword_field, token_field

_AT_ONCE = 500
_MOST_LABELS = 10_000


class WhooshSearcher:
    """The contract of `sakuin.indexer.engine.Searcher` over whoosh's own searcher.

    Its threads take turns: whoosh's files have one position each. `matchers` is what a segment's
    answer is made of.
    """

    def __init__(self, searcher: Any, fields: Fields, matchers: Any) -> None:
        self._searcher, self._fields, self._matchers = searcher, fields, matchers
        self._labels: dict[tuple[str, str], str] = {}
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
        """How many documents the index holds."""
        return cast(int, self._open_searcher().doc_count())

    def search(
        self, query: Query, *, order: Order, offset: int, limit: int, after: str | None = None
    ) -> Hits:
        """Return one page of hits and the exact total."""
        require_order(self._fields, order, after)
        keyed: list[tuple[Any, int]] = [m for _, found in self._matches(query) for m in found]
        total = len(keyed)
        self._open_searcher()
        with self._turn, as_os_error("whoosh"):
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

    def count(self, query: Query, facets: Sequence[Facet]) -> tuple[Counts, ...]:
        """Count the documents found by the values of these filters."""
        require_facets(self._fields, facets)
        tally = Tally(self._fields, facets)
        for segment, found in self._matches(query):
            self._in_turns(tally.add(segment, {at for _, at in found}))
        return tally.counts(self._label)

    def _label(self, name: str, value: str) -> str:
        """Return a keyword as the document with the smallest id has it; looked up once."""
        label = self._labels.get((name, value))
        if label is None:
            reader = self._open_searcher().reader()
            with self._turn, as_os_error("whoosh"):
                key = key_of(reader, self._fields, Order.ID)
                found = reader.postings(keyword_field(self._fields, name), value).all_ids()
                kept = self._document(min(found, key=key)).values
            label = str(kept[name])
            if len(self._labels) >= _MOST_LABELS:
                self._labels.clear()
            self._labels[name, value] = label
        return label

    def words(
        self, start: str, *, among: Query | None = None, most: int = 10
    ) -> tuple[WordCount, ...]:
        """Return the words of the documents found that begin so, the most frequent first."""
        counts: Counter[bytes] = Counter()
        for segment, found in self._matches(Everything() if among is None else among):
            self._in_turns(segment.count_words(start, {at for _, at in found}, counts))
        first = nsmallest(most, ((-count, word) for word, count in counts.items()))
        return tuple(WordCount(word.decode(), -count) for count, word in first)

    def _matches(self, query: Query) -> list[tuple[Segment, list[tuple[float, int]]]]:
        """Return of each segment (minus the score, document number) of every match."""
        planned = plan(query, self._fields, NearDocuments(self._fields, self._counted))
        parts = self._open_searcher().leaf_searchers()
        segments = [Segment(part, at, self._fields, self._matchers) for part, at in parts]
        endings = expand(planned, lambda end, most: self._words(segments, end, most))
        for segment in segments:
            for steps in segment.read(planned):
                self._in_turns(steps)
        self._open_searcher()
        with self._turn, as_os_error("whoosh"):
            return [(each, list(each.matches(planned, endings))) for each in segments]

    def _counted(self, query: Query) -> tuple[int, Iterator[Document]]:
        """Return how many documents match, and give them one by one."""
        places = [at for _, found in self._matches(query) for _, at in found]
        return len(places), self._each(places)

    def _each(self, places: Sequence[int]) -> Iterator[Document]:
        for place in places:
            self._open_searcher()
            with self._turn, as_os_error("whoosh"):
                document = self._document(place)
            yield document

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
        """Return the documents with these ids."""
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
        """Return the digest of each of these ids."""
        return {one: document.digest for one, document in self.documents(ids).items()}

    def frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """Return how many documents hold each token, the most of any field."""
        reader = self._open_searcher().reader()
        names = [token_field(self._fields, name) for name in self._fields.searched]
        with self._turn, as_os_error("whoosh"):
            return {
                token: max(reader.doc_frequency(name, token) for name in names) for token in tokens
            }

    def close(self) -> None:
        """Free files and memory."""
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
