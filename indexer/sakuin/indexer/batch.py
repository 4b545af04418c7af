"""One batch = one generation: claim → load → clone → apply → check → publish → ack.

Messages are settled only after the generation that holds their documents is current, and only
where their lease is still ours; doing a batch twice gives the same index (promises I2, Q3-Q5).
"""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sakuin.indexer.build import Built, ChunkFailed, Copy, Observer, build
from sakuin.indexer.changes import push_changes, write_changes
from sakuin.indexer.errors import GenerationBroken
from sakuin.indexer.gather import Claimed, Limits, gather
from sakuin.indexer.poison import Fault, find_faults
from sakuin.queue import (
    LeaseLost,
    RetryPolicy,
    ack,
    bury_part,
    fail,
    keep_lease,
    release,
    replay,
    shrink,
)

RETRY = RetryPolicy(max_attempts=5)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch did. `lost` messages had been taken over by another worker."""

    generation: int
    messages: int
    documents: int
    changed: int
    failed: int
    lost: int


def run_batch(copy: Copy, limits: Limits, on_step: Observer = lambda _: None) -> Batch | None:
    """Do one batch; None when no message was ready.

    Whatever stops it (database away, disk full, Outrun, an interrupt) puts the messages back
    without counting the attempt, as far as the database can be reached, and is raised.
    """
    claimed = gather(copy.database, copy.index.queue, limits)
    if not claimed:
        return None
    messages = [one.message for one in claimed]
    with keep_lease(copy.database, messages, limits.lease_seconds):
        try:
            on_step("claimed")
            alive = _bury_killers(copy, claimed)
            if not alive:
                return Batch(copy.generations.current(), 0, 0, 0, failed=len(claimed), lost=0)
            built, faults = _build(copy, alive, limits, on_step)
        except BaseException:
            with contextlib.suppress(Exception):  # the error that stopped us says more
                release(copy.database, messages)
            raise
        lost = _settle(copy, alive, built.done, faults)
    on_step("acked")
    return Batch(
        generation=built.generation,
        messages=len(messages),
        documents=len(built.done),
        changed=built.changed,
        failed=len(faults),
        lost=len(lost),
    )


def _build(
    copy: Copy, claimed: Sequence[Claimed], limits: Limits, on_step: Observer
) -> tuple[Built, dict[str, Fault]]:
    """Build with all documents that can be indexed; return what is wrong with the others."""
    ids = list(dict.fromkeys(one for each in claimed for one in each.next_ids))[: limits.documents]
    faults: dict[str, Fault] = {}
    while True:
        good = [one for one in ids if one not in faults]
        try:
            return build(copy, good, most_bytes=limits.text_bytes, on_step=on_step), faults
        except (ChunkFailed, GenerationBroken) as error:
            found = find_faults(copy, error.ids if isinstance(error, ChunkFailed) else good)
            if not found:
                raise (error.__cause__ or error) from None
            faults |= found


def _settle(
    copy: Copy, claimed: Iterable[Claimed], done: frozenset[str], faults: dict[str, Fault]
) -> frozenset[int]:
    """Settle every message by what became of its documents; return the ids of lost messages."""
    finished, unfinished, lost = [], [], set()
    for one in claimed:
        rest = tuple(each for each in one.ids if each not in done)
        if not rest:
            finished.append(one.message)
        elif len(rest) < len(one.ids) and not shrink(
            copy.database, one.message, write_changes(rest)
        ):
            lost.add(one.message.id)
        elif any(each in faults for each in rest):
            lost |= _fail(copy, Claimed(one.message, rest), faults)
        else:
            unfinished.append(one.message)
    lost |= ack(copy.database, finished)
    lost |= release(copy.database, unfinished)
    return frozenset(lost)


def _fail(copy: Copy, one: Claimed, faults: dict[str, Fault]) -> frozenset[int]:
    """Try the rest of a message again later; at the last attempt bury each faulty id alone."""
    if one.message.attempts >= RETRY.max_attempts:
        try:
            for each in [each for each in one.ids if each in faults]:
                one = _bury_id(copy, one, each, faults[each])
        except LeaseLost:
            return frozenset({one.message.id})
        return release(copy.database, [one.message]) if one.ids else frozenset()
    first = next(faults[each] for each in one.ids if each in faults)
    return fail(
        copy.database,
        [one.message],
        reason=first.reason,
        traceback=first.traceback,
        policy=RETRY,
    )


def _bury_killers(copy: Copy, claimed: Sequence[Claimed]) -> list[Claimed]:
    """Bury each id that must be what kills; return the messages that have none.

    Its neighbours begin anew in a message of their own: the attempts were the killer's.
    """
    alive = []
    for one in claimed:
        killer = one.killer
        if killer is None:
            alive.append(one)
            continue
        _begin_anew(copy, [each for each in one.ids if each != killer])
        reason = f"the indexer died {one.attempts - 1} times while working on it"
        with contextlib.suppress(LeaseLost):
            _bury_id(copy, Claimed(one.message, (killer,)), killer, Fault(reason, ""))
    return alive


def _begin_anew(copy: Copy, ids: Sequence[str]) -> None:
    replay(
        copy.database,
        lambda connection: push_changes(connection, copy.index, ids),
        committed=lambda *_: False,  # twice does no harm
    )


def _bury_id(copy: Copy, one: Claimed, document_id: str, fault: Fault) -> Claimed:
    """Move one id of a message to the dead list; return the message with the others."""
    rest = tuple(each for each in one.ids if each != document_id)
    bury_part(
        copy.database,
        one.message,
        part_data=write_changes([document_id]),
        rest_data=write_changes(rest) if rest else None,
        reason=fault.reason,
        traceback=fault.traceback or None,
    )
    return Claimed(one.message, rest)
