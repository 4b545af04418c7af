"""Claiming the messages of one batch (promise Q4's care for poison included)."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine as Database

from sakuin.indexer.changes import read_changes
from sakuin.queue import LeaseLost, Message, PayloadError, RetryPolicy, bury, claim, release

ALONE_FROM_ATTEMPT = 3
ONE_BY_ONE_FROM_ATTEMPT = 5
KILLER_FROM_ATTEMPT = 10
CLAIMING = RetryPolicy(max_attempts=1000, alone_after=ALONE_FROM_ATTEMPT - 1, suspects_together=256)
"""Only ids die of too many deliveries here, never a whole message: see `Claimed.killer`.

After a crash every message of the batch is suspect. One by one, 20,000 of them would hold up
all later saves for an hour; in groups that shrink with each loss, what kills is soon alone.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one batch takes, and for how long it may hold it.

    A batch ends at `documents` ids, after `text_bytes` of text, or when the queue is empty and
    `gather_seconds` have passed since its first message. Leases of `lease_seconds` are extended
    while the batch works.
    """

    documents: int = 20_000
    text_bytes: int = 64 << 20
    gather_seconds: float = 0.05
    lease_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Claimed:
    """A message of an index that we hold, and the ids it names."""

    message: Message
    ids: tuple[str, ...]

    @property
    def attempts(self) -> int:
        """How often it was delivered without an end, with this time; errors are ends."""
        return self.message.attempts - self.message.errors

    @property
    def is_suspect(self) -> bool:
        """Whether its lease was lost twice: perhaps it kills who works on it."""
        return self.attempts >= ALONE_FROM_ATTEMPT

    @property
    def next_ids(self) -> tuple[str, ...]:
        """The ids to work on now: all, or the fewer the more often the message was lost."""
        attempts, count = self.attempts, len(self.ids)
        if attempts < ALONE_FROM_ATTEMPT:
            return self.ids
        if attempts >= ONE_BY_ONE_FROM_ATTEMPT:
            return self.ids[:1]
        return self.ids[: -(-count // 8 ** (attempts - ALONE_FROM_ATTEMPT + 1))]

    @property
    def killer(self) -> str | None:
        """The id that must be what kills: it was tried alone again and again."""
        is_certain = bool(self.ids) and self.attempts >= KILLER_FROM_ATTEMPT
        return self.ids[0] if is_certain else None


def gather(database: Database, queue: str, limits: Limits) -> list[Claimed]:
    """Claim the messages of one batch, oldest first; [] when none is ready.

    A message that cannot be read goes to the dead list. Suspects are returned without others:
    one of many ids alone, those of one id together. What else was claimed is put back to where
    it was.
    """
    gathered: list[Claimed] = []
    wanted = limits.documents
    until: float | None = None
    while wanted > 0:
        # A message names up to 1,000 ids: claim few first, more once they prove to be small.
        most = max(1, min(1000, wanted if gathered and len(gathered[-1].ids) == 1 else 20))
        messages = claim(
            database, queue, limit=most, lease_seconds=limits.lease_seconds, policy=CLAIMING
        )
        fresh = _read(database, messages)
        gathered += fresh
        wanted -= sum(len(one.ids) for one in fresh)
        if _has_enough_suspects(gathered):
            break
        if len(messages) < most:
            until = until or (time.monotonic() + limits.gather_seconds if gathered else 0.0)
            if time.monotonic() >= until:
                break
            time.sleep(min(0.01, limits.gather_seconds))  # between looks for further messages
    return _suspects_apart(database, gathered)


def _read(database: Database, messages: Sequence[Message]) -> list[Claimed]:
    readable = []
    for message in messages:
        try:
            readable.append(Claimed(message, read_changes(message.data)))
        except PayloadError as error:
            with contextlib.suppress(LeaseLost):  # whoever has it now finds the same
                bury(database, message, reason=str(error))
    return readable


def _has_enough_suspects(gathered: Sequence[Claimed]) -> bool:
    if not gathered or not gathered[0].is_suspect:
        return False
    return len(_company(gathered)) < len(gathered) or len(gathered) >= _most(gathered[0])


def _suspects_apart(database: Database, gathered: list[Claimed]) -> list[Claimed]:
    chosen = _company([one for one in gathered if one.is_suspect])
    if not chosen:
        return gathered
    others = [one.message for one in gathered if one not in chosen]
    if others:
        release(database, others)
    return chosen


def _company(suspects: Sequence[Claimed]) -> list[Claimed]:
    """Return the first, and others that were lost as often where each names one id."""
    if not suspects or len(suspects[0].ids) > 1:
        return list(suspects[:1])
    attempts = suspects[0].attempts
    alike = [one for one in suspects if (len(one.ids), one.attempts) == (1, attempts)]
    return alike[: _most(suspects[0])]


def _most(suspect: Claimed) -> int:
    return CLAIMING.company(suspect.attempts - 1) or 1
