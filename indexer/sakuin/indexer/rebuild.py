"""A full rebuild beside the live copy, and going back to an older generation.

Searches and batches go on meanwhile.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from sakuin.indexer.build import (
    ChunkFailed,
    Copy,
    Observer,
    publish_draft,
    require_match,
    take,
)
from sakuin.indexer.changes import push_changes
from sakuin.indexer.draft import Draft
from sakuin.indexer.errors import Outrun
from sakuin.indexer.pin import Pin
from sakuin.indexer.poison import find_faults
from sakuin.indexer.rebuild_log import RebuildLog
from sakuin.queue import read, replay

_CHUNK = 1000


def rebuild(
    copy: Copy,
    on_progress: Callable[[int], None] = lambda _: None,
    on_step: Observer = lambda _: None,
) -> int:
    """Build the index from all rows and publish it as the next generation; return its number.

    `on_progress` is told how many documents were taken up so far. What batches publish in the
    meantime is taken up before the rebuilt copy is published, however often they are first. A
    document that cannot be indexed is left out, and pushed, so that a batch buries it by name.
    """
    with (
        RebuildLog(copy.generations) as log,
        Draft(copy.generations, copy.engine, copy.index.fields, None, bulk=True) as draft,
    ):
        _take_all(copy, draft, on_progress)
        on_step("applied")
        draft.check()
        draft.seal(0)  # forces its files to the disk: the published clone links to them
        return _catch_up(copy, draft, log, on_step)


def _take_all(copy: Copy, draft: Draft, on_progress: Callable[[int], None]) -> None:
    after: str | None = None
    while True:
        ids = read(copy.database, partial(copy.index.loader.ids_after, after=after, limit=_CHUNK))
        if not ids:
            return
        _take(copy, draft, ids)
        on_progress(draft.documents)
        after = ids[-1]


def _take(copy: Copy, draft: Draft, ids: Sequence[str]) -> None:
    """Take up these documents; those at fault are left to a batch, which knows what to do."""
    try:
        take(copy, draft, ids)
    except ChunkFailed as error:
        faults = find_faults(copy, ids)
        if not faults:
            raise (error.__cause__ or error) from None
        replay(
            copy.database,
            lambda connection: push_changes(connection, copy.index, list(faults)),
            committed=lambda *_: False,  # twice does no harm
        )
        take(copy, draft, [one for one in ids if one not in faults])


def _catch_up(copy: Copy, rebuilt: Draft, log: RebuildLog, on_step: Observer) -> int:
    """Clone the rebuilt copy, take up what changed since, publish.

    When a batch was first, go on from the copy that came too late: so each round costs only what
    changed during the last one, and a stream of batches cannot keep a rebuild from ending.
    """
    base, changed = rebuilt, dict[str, None]()
    with contextlib.ExitStack() as held:
        while True:
            parent = copy.generations.current()
            changed |= dict.fromkeys(log.take())
            with contextlib.ExitStack() as fresh:
                draft = fresh.enter_context(
                    Draft(
                        copy.generations, copy.engine, copy.index.fields, base.segments, bulk=False
                    )
                )
                for chunk in _chunks(list(changed)):
                    _take(copy, draft, chunk)
                try:
                    return publish_draft(copy, draft, parent, on_step)
                except Outrun:
                    if draft.directory.exists():  # not at a number that is too low
                        held.close()
                        held.enter_context(fresh.pop_all())
                        base, changed = draft, {}


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _CHUNK):
        yield ids[start : start + _CHUNK]


def republish(copy: Copy, number: int, on_step: Observer = lambda _: None) -> int:
    """Publish a clone of an older generation as the newest; return its number.

    The rows are not asked: changes since that generation are shown again only when their rows
    change, or after a rebuild. GenerationGone when it has been swept.
    """
    with Pin(copy.generations, number):
        require_match(copy, number)
        while True:
            source = copy.generations.segments(number)
            with Draft(
                copy.generations, copy.engine, copy.index.fields, source, bulk=False
            ) as draft:
                try:
                    return publish_draft(copy, draft, copy.generations.current(), on_step)
                except Outrun:
                    continue
