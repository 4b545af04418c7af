"""The bytes of a text file, decompressed, and how much of the file has been taken."""

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import BinaryIO, Protocol

from sakuin.app.find_text import GZIP_MARK, XZ_MARK, TextFile, UnreadableText

CHUNK_BYTES = 1 << 18
_BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error)


class BrokenText(UnreadableText):
    """A file that could be read only in part: truncated, damaged, or a failing disk."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Counted(io.RawIOBase):
    """A raw file that tells how many bytes it has given."""

    def __init__(self, raw: BinaryIO, count: Callable[[int], None]) -> None:
        super().__init__()
        self._raw, self._count = raw, count

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer; return how many bytes."""
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._count(len(data))
        return len(data)


def read_chunks(
    file: TextFile, standard_input: BinaryIO, count: Callable[[int], None]
) -> Iterator[bytes]:
    """Yield a file's bytes in large chunks; gzip and xz are recognised by how they begin.

    `count` is told of the bytes taken from the file itself. BrokenText when the end cannot be
    reached: nothing of an unfinished chunk is given.
    """
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(file.path.open("rb")) if file.path else standard_input
            buffered = io.BufferedReader(_Counted(raw, count), CHUNK_BYTES)
            text = _decompressed(buffered)
            while chunk := text.read(CHUNK_BYTES):
                yield chunk
        except _BROKEN as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BrokenText(file.name, f"cannot be read to its end: {reason}") from error


def _decompressed(buffered: "io.BufferedReader[_Counted]") -> _Readable:
    beginning = buffered.peek(6)
    if beginning.startswith(GZIP_MARK):
        return gzip.GzipFile(fileobj=buffered)
    if beginning.startswith(XZ_MARK):
        return lzma.LZMAFile(buffered)
    return buffered
