"""Reading text files as paragraphs, for `sakuin load`. Streams; saves nothing.

reader = TextReader(["novel.txt", "folder", "-"])
for source in reader.sources:
    for each in reader.read(source): ...      NewParagraph | RefusedText
"""

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from sakuin.app.decode_text import Lines
from sakuin.app.encoding import check_encoding
from sakuin.app.find_text import TextFile, UnreadableText, find_texts
from sakuin.app.open_text import BrokenText, read_chunks
from sakuin.app.paragraph import MOST_BODY_BYTES
from sakuin.app.save import NewParagraph
from sakuin.app.split_text import Split, split_blocks

__all__ = ["BrokenText", "RefusedText", "Split", "TakenFor", "TextReader", "UnreadableText"]

# A body that just fits takes fewer bytes than this in whatever encoding.
_LONGEST_LINE = 8 * MOST_BODY_BYTES


@dataclass(frozen=True, slots=True)
class RefusedText:
    """A paragraph that cannot be stored: the file, the line (from 1), and a sentence why."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class TakenFor:
    """The encoding a file was read in; not sure: another one was nearly as likely."""

    file: str
    encoding: str
    is_sure: bool


class TextReader:
    """The paragraphs of files, folders and standard input (`-`), source by source.

    A paragraph's position counts the paragraphs of its source from 1, refused ones included, so
    that mending one moves no other. What can be known about the paths is checked when the
    reader is made: UnreadableText, or UnknownEncoding.

    `bytes_read` of `bytes_total` tell how far the reading is, in bytes on disk (total None:
    unknown); `blank_lines` counts what was skipped; `taken_for` says in which encoding each
    finished file was read. All of them count from the making of the reader on.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        source: str | None = None,
        split: Split = Split.LINE,
        encoding: str | None = None,
        standard_input: BinaryIO | None = None,
    ) -> None:
        if encoding is not None:
            check_encoding(encoding)
        files = find_texts(paths, source)
        self._files: dict[str, list[TextFile]] = {}
        for file in files:
            self._files.setdefault(file.source, []).append(file)
        self.sources = tuple(self._files)
        sizes = [file.size for file in files]
        self.bytes_total = None if None in sizes else sum(size or 0 for size in sizes)
        self.bytes_read = self.blank_lines = 0
        self.taken_for: list[TakenFor] = []
        self._split = split
        self._encoding = encoding
        self._standard_input = standard_input

    def __iter__(self) -> Iterator[NewParagraph | RefusedText]:
        """Yield the paragraphs of every source."""
        for source in self.sources:
            yield from self.read(source)

    def read(self, source: str) -> Iterator[NewParagraph | RefusedText]:
        """Yield the paragraphs of one source, in order, and what had to be refused.

        BrokenText when a file cannot be read to its end: everything yielded before is right,
        but the source is not complete, so nothing may be taken to be missing from it.
        """
        texts = itertools.chain.from_iterable(map(self._paragraphs, self._files[source]))
        for position, text in enumerate(texts, start=1):
            yield text if isinstance(text, RefusedText) else NewParagraph(source, position, text)

    def _paragraphs(self, file: TextFile) -> Iterator[str | RefusedText]:
        chunks = read_chunks(file, self._standard_input or sys.stdin.buffer, self._count)
        lines = Lines(chunks, _LONGEST_LINE, self._encoding)
        for block in split_blocks(lines, self._split, self._count_blank):
            if block.reason is None:
                yield block.body
            else:
                yield RefusedText(file.name, block.line, f"the text {block.reason}")
        self.taken_for.append(TakenFor(file.name, lines.guess.encoding, lines.guess.is_sure))

    def _count(self, count: int) -> None:
        self.bytes_read += count

    def _count_blank(self) -> None:
        self.blank_lines += 1
