"""Words of one segment of a whoosh index that begin alike, and where they stand.

Its word list is read in order: what two documents hold at most needs no look at the postings.
The caller sees to it that one thread at a time reads: whoosh's files have one position each.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sakuin.indexer.plan_leaves import Gaps


class Words:
    """The word list of a segment during one search; `reader` is whoosh's SegmentReader."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._read: dict[tuple[str, str], list[tuple[bytes, tuple[int, ...]]]] = {}
        self._fitting: dict[tuple[str, Gaps], set[int]] = {}

    def living(self, field: str, start: str) -> Iterator[bytes]:
        """Yield the words that begin so, without those that only deleted documents hold."""
        for word, info in self._beginning(field, start):
            if self._is_alive(info.min_id()) or self._numbers(field, word, info):
                yield word

    def read(self, field: str, start: str) -> Iterator[None]:
        """Read the documents of all words that begin so, for `documents`: one word a step."""
        read = self._read[field, start] = []
        for each in self.having(field, start):
            read.append(each)
            yield

    def having(self, field: str, start: str) -> Iterator[tuple[bytes, tuple[int, ...]]]:
        """Yield the words that begin so, each with the living documents that have it."""
        for word, info in self._beginning(field, start):
            yield word, self._numbers(field, word, info)

    def read_fitting(self, field: str, start: str, some: Sequence[Gaps]) -> Iterator[None]:
        """Read the documents of all words with gaps that begin so, for `fitting`."""
        found = [self._fitting.setdefault((field, gaps), set()) for gaps in some]
        if field not in self._reader.indexed_field_names():
            return
        first = start.encode()
        for name, word in self._reader.terms_from(field, first):
            if name != field or not word.startswith(first):
                return
            text = word.decode()
            fitting = [each for gaps, each in zip(some, found, strict=True) if gaps.fits(text)]
            if fitting:
                numbers = self._numbers(field, word, self._reader.term_info(field, word))
                for each in fitting:
                    each.update(numbers)
            yield

    def documents(self, field: str, start: str) -> list[int]:
        """Return the documents with a word that begins so; `read` has read it, or more of it."""
        found: set[int] = set()
        first = start.encode()
        for (other, covering), read in self._read.items():
            if other == field and start.startswith(covering):
                for at in range(bisect_left(read, (first,)), len(read)):
                    word, numbers = read[at]
                    if not word.startswith(first):
                        break
                    found.update(numbers)
        return sorted(found)

    def fitting(self, field: str, gaps: Gaps) -> list[int]:
        """Return the documents with a word that has these gaps; `read_fitting` has read them."""
        return sorted(self._fitting[field, gaps])

    def places(self, field: str, words: Iterable[bytes]) -> dict[int, list[bytes]]:
        """Return, by document, the encoded positions at which any of these words stand."""
        found: dict[int, list[bytes]] = defaultdict(list)
        for word in words:
            if (field, word) in self._reader:
                postings = self._reader.postings(field, word)
                while postings.is_active():
                    found[postings.id()].append(postings.value())
                    postings.next()
        return found

    def _beginning(self, field: str, start: str) -> Iterator[tuple[bytes, Any]]:
        if field in self._reader.indexed_field_names():
            yield from self._reader.iter_prefix(field, start)

    def _numbers(self, field: str, word: bytes, info: Any) -> tuple[int, ...]:
        if info.doc_frequency() <= 2:  # 3 times faster than the postings
            return tuple(filter(self._is_alive, {info.min_id(), info.max_id()}))
        return tuple(self._reader.postings(field, word).all_ids())

    def _is_alive(self, number: int) -> bool:
        return not self._reader.is_deleted(number)


def added(words: Iterable[bytes], found: set[bytes], most: int) -> Iterator[None]:
    """Add one word a step, until there are as many as asked for."""
    for word in words:
        if len(found) >= most:
            return
        found.add(word)
        yield
