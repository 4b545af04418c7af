"""A copy of an index while it is being built: clone → apply → check → seal (promise I2).

Works in `.tmp-<token>` beside the generations, on which nobody else looks, and disappears
without a trace unless it is published.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from sakuin.indexer.clone import clone_segments
from sakuin.indexer.document import Document, Fields
from sakuin.indexer.durable import require_space, sync_directory, sync_file, write_durably
from sakuin.indexer.engine import Engine, Order, Searcher
from sakuin.indexer.errors import DiskFull, GenerationBroken, QueryTooLarge
from sakuin.indexer.fold import fold
from sakuin.indexer.generations import PIN, SEGMENTS, Generations
from sakuin.indexer.manifest import Manifest
from sakuin.indexer.query import Everything, prefix

_SPARE_BYTES = 32 << 20
_CHECKED_IDS = 64
_CHECKED_TEXT = 24


class Draft:
    """One unpublished generation. A context manager: leaving it removes whatever was not published.

    `source` is the segments directory to start from, None for an empty index. After `seal`,
    `directory` may be renamed by `publish`. DiskFull is raised before anything is written.
    """

    def __init__(
        self,
        generations: Generations,
        engine: Engine,
        fields: Fields,
        source: Path | None,
        *,
        bulk: bool,
    ) -> None:
        generations.prepare()
        require_space(generations.directory, _SPARE_BYTES)
        self._index = generations.index
        self._engine, self._fields = engine, fields
        self._parent_segments = source
        self._changed: dict[str, int | None] = {}
        self._sample: Document | None = None
        self.documents = 0
        self.directory = generations.new_temporary()
        self._lock = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.ExitStack() as undo:
            undo.callback(self._remove)
            fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            self._parent = self._start(source, undo)
            self._writer = undo.enter_context(engine.open_writer(self.segments, fields, bulk=bulk))
            self._undo = undo.pop_all()

    @property
    def segments(self) -> Path:
        """The engine's directory within the copy."""
        return self.directory / SEGMENTS

    def _start(self, source: Path | None, undo: contextlib.ExitStack) -> Searcher | None:
        if source is None:
            self.segments.mkdir()
            self._engine.create(self.segments, self._fields)
            return None
        clone_segments(self._engine, source, self.segments)
        parent = self._engine.open_searcher(source, self._fields)
        undo.callback(parent.close)
        self.documents = parent.document_count
        return parent

    def apply(self, documents: Sequence[Document], missing: Iterable[str]) -> int:
        """Take up documents, and forget the ids that are missing; return how many differ.

        A document that the source already holds with the same digest is left alone. No id may
        be given twice to one copy.
        """
        missing = list(missing)
        ids = [document.id for document in documents] + missing
        known = self._parent.digests(ids) if self._parent and self._parent.document_count else {}
        fresh = [one for one in documents if known.get(one.id) != one.digest]
        gone = [one for one in missing if one in known]
        self._writer.delete(gone)
        self._writer.upsert(fresh)
        self._changed |= {one.id: one.digest for one in fresh} | dict.fromkeys(gone)
        self._sample = fresh[0] if fresh else self._sample
        self.documents += sum(one.id not in known for one in fresh) - len(gone)
        return len(fresh) + len(gone)

    def check(self) -> None:
        """Commit, open the copy anew, and compare it with what it should hold.

        Raises GenerationBroken, naming what differs.
        """
        self._writer.commit()
        searcher = self._engine.open_searcher(self.segments, self._fields)
        try:
            self._check_counts(searcher)
            self._check_sample(searcher)
        finally:
            searcher.close()

    def _check_counts(self, searcher: Searcher) -> None:
        found = searcher.search(Everything(), order=Order.ID, offset=0, limit=0).total
        if not found == searcher.document_count == self.documents:
            fault = f"the copy holds {found} documents instead of {self.documents}"
            raise GenerationBroken(self._index, fault)
        some = list(self._changed)[-_CHECKED_IDS:]
        digests = searcher.digests(some)
        for one in some:
            if digests.get(one) != self._changed[one]:
                raise GenerationBroken(self._index, f"the copy has a wrong document {one!r}")

    def _check_sample(self, searcher: Searcher) -> None:
        if self._sample is None:
            return
        for name in self._fields.searched:
            # Folded whole: the end of a cut text can fold to something else.
            folded = fold(self._sample.text[name], self._fields.folding)
            text = folded[:_CHECKED_TEXT].strip()
            if text and not _finds(searcher, text):
                raise GenerationBroken(self._index, f"a search for {text!r} misses its document")

    def seal(self, parent: int) -> None:
        """Write manifest and pin, and force every new file to the disk."""
        files = sorted(self.segments.iterdir())
        size = sum(path.stat().st_size for path in files)
        manifest = Manifest.describe(
            self._engine, self._fields, documents=self.documents, parent=parent, size=size
        )
        manifest.write(self.directory)
        write_durably(self.directory / PIN, b"")
        for path in files:
            # A file that is still linked to an older generation was forced to the disk there.
            if path.is_file() and path.stat().st_nlink == 1:
                sync_file(path)
        sync_directory(self.segments)
        sync_directory(self.directory)

    def _remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)
        os.close(self._lock)

    def __enter__(self) -> Self:
        """Return the copy itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close everything; remove the directory unless it has been published (renamed).

        Raises DiskFull in place of an error of the operating system that left no room: engines
        do not tell that from other trouble.
        """
        try:
            if isinstance(error, OSError):
                require_space(self.directory, _SPARE_BYTES)
        except DiskFull:
            with contextlib.suppress(OSError):  # of an engine that cannot end what it began
                self._undo.close()
            raise
        self._undo.close()


def _finds(searcher: Searcher, text: str) -> bool:
    """Tell whether a document begins so; too many words that do are as good as one."""
    try:
        return searcher.search(prefix(text), order=Order.ID, offset=0, limit=0).total > 0
    except QueryTooLarge:
        return True
