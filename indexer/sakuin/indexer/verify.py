"""Whether the index equals its database (promise I7), and what makes it so again.

Rows and documents are walked in chunks; what differs is looked at once more, in the newest
generation, so that a change that is only under way is no fault.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, runtime_checkable

from sqlalchemy import Connection

from sakuin.indexer.build import ChunkFailed, Copy, load
from sakuin.indexer.changes import BEHIND_SAVES, push_changes, read_changes
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.query import Everything
from sakuin.indexer.reader import Reader
from sakuin.queue import PayloadError, queue_counts, read, replay
from sakuin.queue.dialect import execute

SHOWN_IDS = 20
_CHUNK = 1000
_CONFIRM_AT = 20_000
_TRIES = 10


@runtime_checkable
class KnowsStrays(Protocol):
    """A loader whose table may hold rows that have no id, and so are never asked for."""

    def strays(self, connection: Connection, limit: int) -> tuple[int, list[str]]:
        """Return how many there are, and the first keys as people may read them."""
        ...


@dataclass(slots=True)
class Difference:
    """One kind of difference: how many documents, and the first ids."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, ids: Sequence[str]) -> None:
        """Count these too."""
        self.count += len(ids)
        self.first += ids[: SHOWN_IDS - len(self.first)]


@dataclass(slots=True)
class Report:
    """What a comparison found.

    `missing` rows are not in the index, `extra` documents have no row, `changed` ones differ,
    `unreadable` rows cannot be documents, or have a key that is no id. `under_way` counts
    differences that a waiting message names, or that batches were changing all the time; they
    are no faults.
    """

    generation: int
    rows: int = 0
    documents: int = 0
    missing: Difference = field(default_factory=Difference)
    extra: Difference = field(default_factory=Difference)
    changed: Difference = field(default_factory=Difference)
    unreadable: Difference = field(default_factory=Difference)
    under_way: int = 0
    waiting: int = 0
    dead: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether there is no difference that no waiting message would mend."""
        return not any(
            each.count for each in (self.missing, self.extra, self.changed, self.unreadable)
        )


def verify(
    copy: Copy,
    *,
    on_progress: Callable[[int], None] = lambda _: None,
    on_different: Callable[[Sequence[str]], None] = lambda _: None,
) -> Report:
    """Compare every row with the index, by id and digest; change nothing.

    `on_progress` is told how many were compared so far, `on_different` the ids of faults, up to
    some thousands at a time. Raises the reader's errors and the database's.
    """
    reader = Reader(copy.engine, copy.index.fields, copy.generations)
    try:
        comparing = _Comparing(copy, reader, on_progress, on_different)
        comparing.walk()
        return comparing.report
    finally:
        reader.close()


def repair(copy: Copy, *, on_progress: Callable[[int], None] = lambda _: None) -> Report:
    """Push the ids of exactly what differs; a worker then brings the index in line."""

    def push(ids: Sequence[str]) -> None:
        replay(
            copy.database,
            lambda connection: push_changes(connection, copy.index, ids, priority=BEHIND_SAVES),
            committed=lambda *_: False,  # twice does no harm
        )

    return verify(copy, on_progress=on_progress, on_different=push)


@dataclass(slots=True)
class _Comparing:
    """One comparison while it goes on."""

    copy: Copy
    reader: Reader
    on_progress: Callable[[int], None]
    on_different: Callable[[Sequence[str]], None]
    report: Report = field(default_factory=lambda: Report(0))
    suspects: list[str] = field(default_factory=list)

    def walk(self) -> None:
        """Compare rows with documents, and documents with rows where there must be more of them."""
        with self.reader.open() as opened:
            searcher = opened.searcher if opened else None
            self.report.generation = opened.number if opened else 0
            self.report.documents = searcher.document_count if searcher else 0
            known = self._walk_rows(searcher)
            if searcher and known != searcher.document_count:
                self._walk_documents(searcher)
        self._confirm()
        loader = self.copy.index.loader
        if isinstance(loader, KnowsStrays):
            count, first = read(self.copy.database, partial(loader.strays, limit=SHOWN_IDS))
            self.report.unreadable.add(first)
            self.report.unreadable.count += count - len(first)
        counts = read(self.copy.database, lambda c: queue_counts(c, self.copy.index.queue))
        self.report.waiting = counts.ready + counts.leased + counts.scheduled
        self.report.dead = counts.dead

    def _walk_rows(self, searcher: Searcher | None) -> int:
        """Look at every row; return how many documents of the index have one."""
        loader, known, after = self.copy.index.loader, 0, None
        while ids := read(self.copy.database, partial(loader.ids_after, after=after, limit=_CHUNK)):
            rows, unreadable = digests_of_rows(self.copy, ids)
            held = searcher.digests(ids) if searcher else {}
            known += len(held)
            if lost := [one for one in ids if one not in rows and one not in unreadable]:
                self.report.unreadable.add(self._never_found(lost, after))
            self._suspect(
                [one for one in ids if one in unreadable or rows.get(one) != held.get(one)]
            )
            self.report.rows += len(rows)
            self.on_progress(self.report.rows)
            after = ids[-1]
        return known

    def _never_found(self, lost: Sequence[str], after: str | None) -> list[str]:
        """Return the ids that a walk names again though no row has them; others were deleted."""
        loader = self.copy.index.loader
        ids = read(self.copy.database, partial(loader.ids_after, after=after, limit=_CHUNK))
        again = [one for one in lost if one in set(ids)]
        rows, unreadable = digests_of_rows(self.copy, again) if again else ({}, set())
        return [one for one in again if one not in rows and one not in unreadable]

    def _walk_documents(self, searcher: Searcher) -> None:
        after = None
        while hits := searcher.search(
            Everything(), order=Order.ID, offset=0, limit=_CHUNK, after=after
        ).hits:
            ids = [hit.document.id for hit in hits]
            rows, unreadable = digests_of_rows(self.copy, ids)
            self._suspect([one for one in ids if one not in rows and one not in unreadable])
            after = ids[-1]

    def _suspect(self, ids: Sequence[str]) -> None:
        self.suspects += ids
        if len(self.suspects) >= _CONFIRM_AT:
            self._confirm()

    def _confirm(self) -> None:
        """Look at the suspects again, so that what is a fault is so at one moment.

        The row is read while a generation is open, then which ids wait; when that generation is
        still the current one, a difference that nobody waits for is a fault: had its change been
        worked off meanwhile, there would be a newer generation.
        """
        left, self.suspects = list(dict.fromkeys(self.suspects)), []
        for _ in range(_TRIES):
            if not left:
                return
            number = self.copy.generations.current()  # of another source, where none is lent
            with self.reader.open() as opened:
                look = _Look(self.copy, opened.searcher if opened else None)
                left = look.at(left)
                waiting = read(self.copy.database, partial(self._waiting, wanted=set(left)))
                number = opened.number if opened else number
            if self.copy.generations.current() == number:
                self._report(look, [one for one in left if one not in waiting])
                left = [one for one in left if one in waiting]
                break
        self.report.under_way += len(left)

    def _report(self, look: "_Look", faults: Sequence[str]) -> None:
        for difference, ids in (
            (self.report.missing, look.missing),
            (self.report.extra, look.extra),
            (self.report.changed, look.changed),
            (self.report.unreadable, look.unreadable),
        ):
            difference.add([one for one in faults if one in ids])
        if faults:
            self.on_different(faults)

    def _waiting(self, connection: Connection, *, wanted: set[str]) -> set[str]:
        """Return which of these ids the messages of the index name that are not settled."""
        found, last = set[str](), 0
        while wanted:
            rows = (
                execute(
                    connection,
                    "SELECT id, data FROM sakuin_messages {by_id}"
                    " WHERE queue = ? AND id > ? ORDER BY id LIMIT 1000",
                    self.copy.index.queue,
                    last,
                )
                .mappings()
                .all()
            )
            if not rows:
                break
            for row in rows:
                with contextlib.suppress(PayloadError):  # a batch buries it
                    found |= wanted.intersection(read_changes(bytes(row["data"])))
            last = rows[-1]["id"]
        return found


class _Look:
    """Compares some rows with their documents in one generation, and sorts what differs."""

    def __init__(self, copy: Copy, searcher: Searcher | None) -> None:
        self._copy, self._searcher = copy, searcher
        self.missing, self.extra, self.changed = set[str](), set[str](), set[str]()
        self.unreadable = set[str]()

    def at(self, ids: Sequence[str]) -> list[str]:
        """Return those that differ."""
        for start in range(0, len(ids), _CHUNK):
            self._compare(ids[start : start + _CHUNK])
        different = self.missing | self.extra | self.changed | self.unreadable
        return [one for one in ids if one in different]

    def _compare(self, ids: Sequence[str]) -> None:
        rows, unreadable = digests_of_rows(self._copy, ids)
        held = self._searcher.digests(ids) if self._searcher else {}
        self.unreadable |= unreadable
        for one in ids:
            row, document = rows.get(one), held.get(one)
            if one in unreadable or row == document:
                continue
            kind = self.missing if document is None else self.extra if row is None else self.changed
            kind.add(one)


def digests_of_rows(copy: Copy, ids: Sequence[str]) -> tuple[dict[str, int], set[str]]:
    """Return the digests of these rows as documents, and the ids of those that can be none."""
    try:
        documents, _ = load(copy, ids)
    except ChunkFailed:
        if len(ids) == 1:
            return {}, set(ids)
        middle = len(ids) // 2
        (rows, bad), (more, worse) = (
            digests_of_rows(copy, part) for part in (ids[:middle], ids[middle:])
        )
        return rows | more, bad | worse
    return {document.id: document.digest for document in documents}, set()
