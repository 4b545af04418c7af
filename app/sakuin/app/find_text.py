"""Which files a list of paths means, and whether each of them can be read as text at all.

Everything that can be known before the first paragraph is read is found out here, so that a
load does not stop half-way for it.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sakuin.app.paragraph import check_source
from sakuin.app.refused import Refused

STANDARD_INPUT = "-"
_SUFFIXES = (".txt", ".md")
GZIP_MARK, XZ_MARK = b"\x1f\x8b", b"\xfd7zXZ\0"
_COMPRESSED = {".gz": GZIP_MARK, ".xz": XZ_MARK}
_NO_TEXT = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a ZIP archive or an office document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3\0": "an SQLite database",
}


class UnreadableText(Exception):
    """A path that no text can be read from: `path` names it, `reason` says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file to read, and the name of the source its paragraphs belong to.

    `path` None is standard input; `size` (bytes on disk) is None where it cannot be known.
    """

    path: Path | None
    source: str
    size: int | None

    @property
    def name(self) -> str:
        """The file as reports name it."""
        return "standard input" if self.path is None else _shown(self.path)


def find_texts(paths: Sequence[str], source: str | None = None) -> tuple[TextFile, ...]:
    """Return the files that paths mean, folders resolved, in reading order.

    A folder means its .txt and .md, also compressed (.gz, .xz), at any depth, sorted, without
    hidden ones. A file's source is its path as given, normalised: "./notes//a.md" is "notes/a.md",
    and so is the a.md of the folder "notes/"; an absolute path stays one. With `source` that name
    is used for all. UnreadableText names the first path that cannot be read, or that comes twice.
    """
    files = [file for path in paths for file in _files_of(path, source)]
    if source is None:
        _refuse_doubles(files)
    for file in files:
        _check_source(file)
        if file.path is not None and file.size is not None:
            _check_beginning(file.path)
    return tuple(files)


def _files_of(path: str, source: str | None) -> Iterable[TextFile]:
    if path == STANDARD_INPUT:
        return [TextFile(None, source or "stdin", None)]
    given = Path(path)
    try:
        return _folder(given, source) if given.is_dir() else [_text_file(given, source)]
    except OSError as error:
        where = Path(error.filename) if isinstance(error.filename, str) else given
        raise UnreadableText(_shown(where), error.strerror or str(error)) from error
    except ValueError:
        raise UnreadableText(ascii(path), "no file can have this name") from None


def _folder(folder: Path, source: str | None) -> list[TextFile]:
    def fail(error: OSError) -> None:
        raise error

    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent, name) for name in names if _is_text_name(name)]
    if not found:
        reason = "holds no .txt and no .md (nor any of them .gz or .xz)"
        raise UnreadableText(_shown(folder), reason)
    return [_text_file(path, source) for path in sorted(found)]


def _is_text_name(name: str) -> bool:
    stem = name.lower()
    for suffix in _COMPRESSED:
        stem = stem.removesuffix(suffix)
    return stem.endswith(_SUFFIXES) and not name.startswith(".")


def _text_file(path: Path, source: str | None) -> TextFile:
    status = path.stat()
    size = status.st_size if stat.S_ISREG(status.st_mode) else None
    return TextFile(path, source or os.path.normpath(path), size)


def _check_source(file: TextFile) -> None:
    try:
        os.fsencode(file.source).decode()
        check_source(file.source)
    except UnicodeError:
        reason = "its path is not UTF-8, so it cannot name a source: rename it, or give --source"
        raise UnreadableText(file.name, reason) from None
    except Refused as error:
        reason = f"its path cannot be the name of a source, which {error.reason}: give --source"
        raise UnreadableText(file.name, reason) from None


def _check_beginning(path: Path) -> None:
    try:
        with path.open("rb") as file:
            beginning = file.read(16)
    except OSError as error:
        raise UnreadableText(_shown(path), error.strerror or str(error)) from error
    mark = _COMPRESSED.get(path.suffix.lower())
    if mark and not beginning.startswith(mark):
        kind = path.suffix.lower()[1:]
        raise UnreadableText(_shown(path), f"is not a {kind} file: rename it, or compress it again")
    for other, kind in _NO_TEXT.items():
        if beginning.startswith(other):
            raise UnreadableText(_shown(path), f"is {kind}, not text: turn it into text first")


def _refuse_doubles(files: Iterable[TextFile]) -> None:
    seen: dict[str, TextFile] = {}
    for file in files:
        other = seen.setdefault(file.source, file)
        if other is not file:
            raise UnreadableText(
                file.name,
                f"comes twice, as source {file.source!r}: name it once, or load it by itself with "
                "--source",
            )


def _shown(path: Path) -> str:
    """Return a path that can be printed, even one that is no text."""
    return str(path).encode("utf-8", "backslashreplace").decode()
