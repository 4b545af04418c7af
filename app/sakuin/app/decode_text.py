"""Bytes → lines of text, streaming: the encoding is settled on the way. Opens no file.

A line ends with LF, CRLF or CR and with nothing else: a form feed or U+2028 is text.
"""

import codecs
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sakuin.app.encoding import SAMPLE_BYTES, Guess, decode, guess_encoding, named_encoding

_TELLING = re.compile(rb"[\x80-\xff]|\x1b[$(]")
_UNITS = {
    "utf-16-le": codecs.utf_16_le_decode,
    "utf-16-be": codecs.utf_16_be_decode,
    "utf-32-le": codecs.utf_32_le_decode,
    "utf-32-be": codecs.utf_32_be_decode,
}


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no text in its encoding, or too long to be kept; `reason` is a phrase."""

    reason: str


class Lines:
    """The lines of a text, decoded, without their ends.

    With `encoding` the text is read as that (UnknownEncoding for a name that is none). Without,
    `guess` says what it was taken for: settled by the first line that is not plain ASCII.
    Of a line of more than `longest` bytes nothing is kept. Every chunk but the last must hold
    SAMPLE_BYTES or more.
    """

    def __init__(self, chunks: Iterable[bytes], longest: int, encoding: str | None = None) -> None:
        self.guess = Guess("utf-8")
        self._chunks = iter(chunks)
        self._longest = longest
        self._named = encoding

    def __iter__(self) -> Iterator[str | BadLine]:
        """Yield every line, good or bad, in order; once."""
        for line in _split(self._prepared(), self._longest):
            if len(line) > self._longest:
                yield BadLine(f"takes more than {self._longest:,} bytes: split it")
                continue
            in_units = self.guess.encoding in _UNITS
            try:
                yield decode(line, "utf-8" if in_units else self.guess.encoding)
            except UnicodeDecodeError as error:
                what = "" if in_units else f": byte 0x{line[error.start]:02X} at {error.start}"
                yield BadLine(f"is not {self.guess.encoding}{what}")

    def _prepared(self) -> Iterator[bytes]:
        """Settle the encoding; yield bytes in which lines end as in ASCII."""
        first = next(self._chunks, b"")
        if self._named is not None:
            self.guess = named_encoding(self._named, first)
        else:
            self.guess = guess_encoding(first, whole=len(first) < SAMPLE_BYTES)
        chunks = itertools.chain([first[self.guess.mark_bytes :]], self._chunks)
        if self.guess.encoding in _UNITS:
            return _as_utf_8(chunks, self.guess.encoding)
        if self._named is not None or self.guess.mark_bytes:
            return chunks
        return self._until_told(chunks)

    def _until_told(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Pass on plain ASCII, the same in all encodings, until there is something to tell."""
        for chunk in chunks:
            told = None if chunk.isascii() and b"\x1b" not in chunk else _TELLING.search(chunk)
            if told is None:
                yield chunk
                continue
            if len(chunk) - told.start() < SAMPLE_BYTES:
                chunk += next(chunks, b"")
            line = 1 + max(chunk.rfind(end, 0, told.start()) for end in (b"\n", b"\r"))
            whole = len(chunk) - line < SAMPLE_BYTES
            self.guess = guess_encoding(chunk[line:], whole=whole, is_start=False)
            yield chunk
            yield from chunks


def _split(chunks: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """Yield each line; of one that is too long, the first `longest` + 1 bytes."""
    rest, is_skipping = b"", False
    for chunk in chunks:
        lines = (rest + chunk).splitlines(keepends=True)
        # A CR at the very end may be half of a CRLF.
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if is_skipping and lines:
            del lines[0]
            is_skipping = False
        for line in lines:
            yield line.rstrip(b"\r\n")
        if len(rest) > longest + 1 and not is_skipping:
            yield rest[: longest + 1]
            is_skipping = True
        if is_skipping:
            rest = b"\r" if rest.endswith(b"\r") else b""
    if rest and not is_skipping:
        yield rest.rstrip(b"\r")


def _as_utf_8(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Recode; what is no text becomes bytes that are no UTF-8, so that its line is found bad."""
    decoder = _UNITS[encoding]
    rest = b""
    for chunk in itertools.chain(chunks, [b""]):
        data = memoryview(rest + chunk)
        used = 0
        while True:
            try:
                text, length = decoder(data[used:], "surrogatepass", not chunk)
                break
            except UnicodeDecodeError as error:
                good, _ = decoder(data[used : used + error.start], "surrogatepass", True)
                yield good.encode("utf-8", "surrogatepass") + b"\xff"
                used += error.end
        rest = bytes(data[used + length :])
        yield text.encode("utf-8", "surrogatepass")
