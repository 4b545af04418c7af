"""Keeps the messages of a worker leased, in one thread, while they come and go."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from sqlalchemy import Engine

from sakuin.queue.errors import DatabaseAway, DatabaseBusy, OutcomeUnknown
from sakuin.queue.message import Message
from sakuin.queue.settle import extend

_LOG = logging.getLogger("sakuin.jobs")
BEATS_A_LEASE = 3
RETRY_SECONDS = 1.0

Lease = tuple[int, bytes]
"""The id of a message and the token: after an outage one worker can hold it under a newer one."""


class Leases:
    """Messages that are kept leased, each for as long as its own lease says.

    Unlike `keep_lease` it never gives up: while the database is away it goes on trying, and what
    nobody took meanwhile is ours again. What the database says is ours no more is told once, by
    `take_lost`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._held: dict[int, Message] = {}
        self._due: dict[int, float] = {}
        self._lost: set[Lease] = set()
        self._has_ended = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="leases", daemon=True)

    def add(self, messages: Iterable[Message]) -> None:
        """Keep these too; they were claimed, or extended, just now.

        An older lease of such a message, which is kept still, is lost by that.
        """
        with self._changed:
            now = time.monotonic()
            for message in messages:
                older = self._held.get(message.id, message)
                if older.token != message.token:
                    self._lost.add((older.id, older.token))
                self._held[message.id] = message
                self._due[message.id] = now + message.lease_seconds / BEATS_A_LEASE
            self._changed.notify()

    def forget(self, messages: Iterable[Message]) -> None:
        """Keep these no longer: they are about to be settled."""
        with self._changed:
            for message in messages:
                if self._is_held(message):
                    del self._held[message.id], self._due[message.id]
                self._lost.discard((message.id, message.token))

    def take_lost(self) -> frozenset[Lease]:
        """Return what was lost since the last call, and is not forgotten."""
        with self._changed:
            lost = frozenset(self._lost)
            self._lost.clear()
            return lost

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._changed:
            self._has_ended = True
            self._changed.notify()
        self._thread.join(RETRY_SECONDS)  # a database that hangs does not keep us

    def _run(self) -> None:
        while due := self._wait():
            by_length: defaultdict[float, list[Message]] = defaultdict(list)
            for message in due:
                by_length[message.lease_seconds].append(message)
            for seconds, messages in by_length.items():
                self._extend(messages, seconds)

    def _wait(self) -> list[Message]:
        """Return what is to be extended now; nothing at the end."""
        with self._changed:
            while not self._has_ended:
                now = time.monotonic()
                first = min(self._due.values(), default=now + RETRY_SECONDS)
                if first <= now:
                    soon = now + RETRY_SECONDS / 4  # together with what is due anyway
                    return [self._held[key] for key, due in self._due.items() if due <= soon]
                self._changed.wait(first - now)
            return []

    def _extend(self, messages: list[Message], lease_seconds: float) -> None:
        try:
            lost = extend(self._engine, messages, lease_seconds)
        except (DatabaseAway, DatabaseBusy, OutcomeUnknown):
            return self._put_off(messages)
        except Exception:  # noqa: BLE001  whatever it is, the leases must go on being kept
            _LOG.exception("leases cannot be kept; trying on")
            return self._put_off(messages)
        with self._changed:
            now = time.monotonic()
            for message in messages:
                if not self._is_held(message):
                    continue  # settled meanwhile, which made it look lost
                if message.id in lost:
                    del self._held[message.id], self._due[message.id]
                    self._lost.add((message.id, message.token))
                else:
                    self._due[message.id] = now + lease_seconds / BEATS_A_LEASE
        return None

    def _is_held(self, message: Message) -> bool:
        held = self._held.get(message.id)
        return held is not None and held.token == message.token

    def _put_off(self, messages: list[Message]) -> None:
        with self._changed:
            later = time.monotonic() + RETRY_SECONDS
            self._due.update({one.id: later for one in messages if one.id in self._due})
