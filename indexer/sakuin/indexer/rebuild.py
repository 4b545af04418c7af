"""A full rebuild beside the live copy, and going back to an older generation.

Searches and batches go on meanwhile.
"""

from collections.abc import Callable
from functools import partial

from sakuin.indexer.build import Copy, Observer, load, publish_draft, require_match
from sakuin.indexer.draft import Draft
from sakuin.indexer.errors import Outrun
from sakuin.indexer.pin import Pin
from sakuin.indexer.rebuild_log import RebuildLog
from sakuin.queue import read

_CHUNK = 1000


def rebuild(
    copy: Copy,
    on_progress: Callable[[int], None] = lambda _: None,
    on_step: Observer = lambda _: None,
) -> int:
    """Build the index from all rows and publish it as the next generation; return its number.

    `on_progress` is told how many documents were taken up so far. What batches publish in the
    meantime is taken up before the rebuilt copy is published, however often they are first.
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
        documents, missing = load(copy, ids)
        draft.apply(documents, missing)
        on_progress(draft.documents)
        after = ids[-1]


def _catch_up(copy: Copy, rebuilt: Draft, log: RebuildLog, on_step: Observer) -> int:
    """Clone the rebuilt copy, take up what changed since, publish; again while outrun."""
    changed: list[str] = []
    while True:
        parent = copy.generations.current()
        changed = list(dict.fromkeys(changed + log.take()))
        with Draft(
            copy.generations, copy.engine, copy.index.fields, rebuilt.segments, bulk=False
        ) as draft:
            for start in range(0, len(changed), _CHUNK):
                documents, missing = load(copy, changed[start : start + _CHUNK])
                draft.apply(documents, missing)
            try:
                return publish_draft(copy, draft, parent, changed, on_step)
            except Outrun:
                continue


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
                    return publish_draft(copy, draft, copy.generations.current(), [], on_step)
                except Outrun:
                    continue
