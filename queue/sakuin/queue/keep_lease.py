"""Keeps claimed messages leased while they are worked on, from a thread of its own."""

import threading
import time
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
        self._messages = {message.id: message for message in messages}
        self._lease_seconds = lease_seconds
        self._held_until = time.monotonic() + lease_seconds
        self._lost_ids: frozenset[int] = frozenset()
        self._error: BaseException | None = None
        self._turn = threading.Lock()
        self._left = threading.Event()
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

    def forget(self, messages: Message | Iterable[Message]) -> None:
        """Extend these no longer: call it before settling them while the others go on."""
        gone = [messages] if isinstance(messages, Message) else messages
        with self._turn:
            for message in gone:
                self._messages.pop(message.id, None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left.set()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def _beat(self) -> None:
        try:
            while not self._left.wait(self._lease_seconds / BEATS_A_LEASE):
                with self._turn:
                    self._extend()
        except BaseException as error:  # noqa: BLE001 - raised where the block is left
            self._error = error

    def _extend(self) -> None:
        asked_at = time.monotonic()
        try:
            lost = extend(self._engine, self._messages.values(), self._lease_seconds)
        except (DatabaseAway, DatabaseBusy, OutcomeUnknown):
            return  # `lost` becomes true by itself unless a later beat gets through in time
        self._held_until = asked_at + self._lease_seconds
        self._lost_ids |= lost
        for message_id in lost:
            del self._messages[message_id]
