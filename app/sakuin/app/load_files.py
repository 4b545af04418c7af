"""Loading text files: read → save → follow until searchable, with progress and a report."""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from sakuin.app.assemble import Parts
from sakuin.app.find_text import STANDARD_INPUT
from sakuin.app.follow import follow, look
from sakuin.app.load import load_source
from sakuin.app.loaded import Loaded
from sakuin.app.progress import counting
from sakuin.app.read_text import BrokenText, RefusedText, Split, TextReader
from sakuin.app.save import NewParagraph
from sakuin.app.timing import Table

_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Reading:
    """What to load, and how: see `sakuin load --help`."""

    paths: tuple[str, ...]
    source: str | None
    split: Split
    encoding: str | None
    refuse_bad: bool


@dataclass(slots=True)
class LoadReport:
    """What a load did. `refused` keeps the first thousand; `notes` are remarks for people.

    `next_step` is empty where there is none: nothing was saved, and nothing waits.

    `is_searchable`: everything saved can be found now. `is_broken`: a file could not be read to
    its end.
    """

    loaded: Loaded = field(default_factory=Loaded)
    blank_lines: int = 0
    refused: list[RefusedText] = field(default_factory=list)
    refused_count: int = 0
    notes: list[str] = field(default_factory=list)
    is_broken: bool = False
    stored_nothing: bool = False
    is_searchable: bool = False
    next_step: str = ""
    seconds: float = 0.0
    table: Table = field(default_factory=Table)

    @property
    def skipped(self) -> int:
        """How many lines were left as they are: blank, or saved already just so."""
        return self.blank_lines + self.loaded.unchanged

    @property
    def is_all_refused(self) -> bool:
        """Tell whether there was something to store, and none of it could be."""
        return self.refused_count > 0 and not self.loaded.saved and not self.loaded.unchanged

    def refuse(self, each: RefusedText) -> None:
        """Count a paragraph that cannot be stored."""
        self.refused_count += 1
        if len(self.refused) < _MOST_KEPT:
            self.refused.append(each)


def load_files(
    parts: Parts, reading: Reading, *, append: bool, wait: bool, patience_seconds: float = 0.0
) -> LoadReport:
    """Load every source of the paths; rows of 1,000 a transaction, each with its message.

    Raises UnreadableText, UnknownEncoding or Refused before anything is stored. With
    `refuse_bad` everything is read once before anything is stored, and a bad line stops it.
    `wait` follows a running worker; one that is starting up gets `patience_seconds` to appear.
    """
    report, start = LoadReport(), time.perf_counter()
    with _standard_input(reading) as rewindable:
        if reading.refuse_bad and _find_bad(_reader(reading, rewindable), report):
            report.stored_nothing = True
            return report
        if rewindable is not None:
            rewindable.seek(0)
        with report.table.measure("saved"):
            _save_all(parts, _reader(reading, rewindable), report, append=append)
    if wait:
        with report.table.measure("searchable") as row:
            report.is_searchable = _wait(parts, patience_seconds)
        # Searchable counts from the beginning: saving is a part of the way.
        row.real = time.perf_counter() - start
        if not report.is_searchable:
            report.table.rows.pop()
    report.seconds = time.perf_counter() - start
    report.next_step = _next_step(parts, report)
    return report


def _reader(reading: Reading, standard_input: BinaryIO | None) -> TextReader:
    return TextReader(
        reading.paths,
        source=reading.source,
        split=reading.split,
        encoding=reading.encoding,
        standard_input=standard_input,
    )


@contextmanager
def _standard_input(reading: Reading) -> Iterator[BinaryIO | None]:
    """Lend standard input as a file that can be read twice, when it has to be."""
    if not (reading.refuse_bad and STANDARD_INPUT in reading.paths):
        yield None
        return
    with tempfile.TemporaryFile() as copied:
        shutil.copyfileobj(sys.stdin.buffer, copied)
        copied.seek(0)
        yield copied


def _find_bad(reader: TextReader, report: LoadReport) -> bool:
    try:
        for each in reader:
            if isinstance(each, RefusedText):
                report.refuse(each)
    except BrokenText as error:
        report.refuse(RefusedText(error.path, 0, error.reason))
    return report.refused_count > 0


def _save_all(parts: Parts, reader: TextReader, report: LoadReport, *, append: bool) -> None:
    with counting("Saving", unit="bytes", total=reader.bytes_total) as tell:

        def saved(done: Loaded) -> None:
            report.loaded += done
            tell(reader.bytes_read)

        for source in reader.sources:
            good = _Good(reader.read(source), report)
            load_source(
                parts.database,
                source,
                good,
                append=append,
                is_complete=lambda good=good: good.is_whole,  # type: ignore[misc]
                on_saved=saved,
            )
    report.blank_lines = reader.blank_lines
    report.notes += [
        f"{taken.file}: taken for {taken.encoding}; if that is wrong name the --encoding"
        for taken in reader.taken_for
        if not taken.is_sure
    ]


class _Good:
    """The paragraphs of a source that can be stored; the others go into the report.

    Once anything was refused it is not whole: what seems to be missing may be what was refused
    (a wrong --encoding refuses everything), so no row is deleted for it.
    """

    def __init__(self, each: Iterator[NewParagraph | RefusedText], report: LoadReport) -> None:
        self._each, self._report = each, report
        self.is_whole = True

    def __iter__(self) -> Iterator[NewParagraph]:
        try:
            for one in self._each:
                if isinstance(one, RefusedText):
                    self.is_whole = False
                    self._report.refuse(one)
                else:
                    yield one
        except BrokenText as error:
            self.is_whole, self._report.is_broken = False, True
            self._report.refuse(RefusedText(error.path, 0, error.reason))


def _wait(parts: Parts, patience_seconds: float) -> bool:
    first = look(parts).waiting
    with counting("Indexing", unit="messages", total=first) as tell:
        return follow(
            parts,
            lambda waiting: tell(max(0, first - waiting)),
            patience_seconds=patience_seconds,
        )


def _next_step(parts: Parts, report: LoadReport) -> str:
    standing = look(parts)
    if not report.loaded.saved and not standing.waiting:
        return ""
    if report.is_searchable:
        return "sakuin search WORDS, or sakuin serve for the page"
    if standing.is_paused:
        return f"sakuin queue resume {parts.index.queue} lets a worker make it searchable"
    if standing.has_indexer:
        return "sakuin status shows when the worker has made it searchable"
    return "sakuin worker makes it searchable (or sakuin serve --with-worker)"
