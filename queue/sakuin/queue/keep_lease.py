"""Keeps claimed messages leased while they are worked on, from a thread of its own."""

import math
import threading
import time
from collections import Counter
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from sqlalchemy import Engine

from sakuin.queue.errors import DatabaseAway, DatabaseBusy, OutcomeUnknown
from sakuin.queue.limits import check_seconds
from sakuin.queue.message import Message
from sakuin.queue.settle import extend

BEATS_A_LEASE = 3


def keep_lease(engine: Engine, messages: Iterable[Message], lease_seconds: float) -> "Lease":
    """Extend the messages' lease every third of it while the `with` block runs.

    What is given back tells whether they are still ours (`lost`, `lost_ids`). It settles nothing:
    who acks later learns the same from the row counts. An unexpected error of the thread is
    raised when the block is left.
    """
    check_seconds("lease_seconds", lease_seconds, positive=True)
    return Lease(engine, messages, lease_seconds)


class Lease:
    """Messages that are kept leased while the `with` block runs."""

    def __init__(self, engine: Engine, messages: Iterable[Message], lease_seconds: float) -> None:
        self._engine = engine
        self._messages = {_lease_of(message): message for message in messages}
        self._lease_seconds = lease_seconds
        self._held_until = self._next_at = math.inf
        self._wait_no_longer()
        self._lost_ids: frozenset[int] = frozenset()
        self._error: BaseException | None = None
        self._turn = threading.Lock()
        self._is_left = False
        self._changed = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="keep-lease", daemon=True)

    @property
    def lost(self) -> bool:
        """Whether any message is ours no more, or could not be extended for a whole lease."""
        is_over = bool(self._messages) and time.monotonic() > self._held_until
        return is_over or bool(self._lost_ids) or self._error is not None

    @property
    def lost_ids(self) -> frozenset[int]:
        """The messages that the database said are ours no more."""
        return self._lost_ids

    def add(self, messages: Message | Iterable[Message]) -> None:
        """Extend these too from now on: they were claimed just now."""
        more = [messages] if isinstance(messages, Message) else messages
        with self._turn:
            if not self._messages:
                self._held_until = math.inf
            self._messages.update((_lease_of(message), message) for message in more)
            self._wait_no_longer()
        self._changed.set()

    def forget(self, messages: Message | Iterable[Message]) -> None:
        """Extend these no longer: call it before settling them while the others go on."""
        gone = [messages] if isinstance(messages, Message) else messages
        with self._turn:
            for message in gone:
                self._messages.pop(_lease_of(message), None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_left = True
        self._changed.set()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def _beat(self) -> None:
        try:
            while not self._is_left:
                wait = self._next_at - time.monotonic()
                if wait > 0:
                    self._changed.wait(wait)
                    self._changed.clear()
                    continue
                with self._turn:
                    self._extend()
        except BaseException as error:  # noqa: BLE001 - raised where the block is left
            self._error = error

    def _extend(self) -> None:
        asked_at = time.monotonic()
        self._next_at = asked_at + self._lease_seconds / BEATS_A_LEASE
        groups: dict[tuple[float, int], list[Message]] = {}
        seen: Counter[int] = Counter()  # two leases of one message are extended apart
        for message in self._messages.values():
            groups.setdefault((self._seconds(message), seen[message.id]), []).append(message)
            seen[message.id] += 1
        try:
            for (seconds, _), messages in groups.items():
                lost = extend(self._engine, messages, seconds)
                self._lost_ids |= lost
                for message in messages:
                    if message.id in lost:
                        del self._messages[_lease_of(message)]
        except (DatabaseAway, DatabaseBusy, OutcomeUnknown):
            # `lost` becomes true by itself unless a later beat gets through in time
            self._next_at = asked_at + self._shortest() / BEATS_A_LEASE
            return
        self._held_until = math.inf
        self._wait_no_longer(asked_at)

    def _wait_no_longer(self, since: float | None = None) -> None:
        """See to it that no lease runs out, of those that were begun at this time (or now)."""
        begun = time.monotonic() if since is None else since
        shortest = self._shortest()
        self._held_until = min(self._held_until, begun + shortest)
        self._next_at = min(self._next_at, begun + shortest / BEATS_A_LEASE)

    def _shortest(self) -> float:
        seconds = (self._seconds(message) for message in self._messages.values())
        return min(seconds, default=self._lease_seconds)

    def _seconds(self, message: Message) -> float:
        """How long the lease is: what the caller says, or shorter where a limit says so."""
        if message.limit_key is None or not message.lease_seconds:
            return self._lease_seconds
        return min(self._lease_seconds, message.lease_seconds)


def _lease_of(message: Message) -> tuple[int, bytes]:
    """What is kept: the same message may be claimed again, under another token."""
    return message.id, message.token
