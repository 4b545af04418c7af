"""Claims messages for a worker, in threads of its own: as many as it has room for, in order.

The list of queues is an order: what comes first is emptied first, whatever the priorities in the
others. An idle worker asks less and less often, down to about twice a second. Where there is more
than can be taken at once, a second claim is under way while the first waits for the disk: with one
message a claim that gives half as many again.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine

from sakuin.queue.claim import claim
from sakuin.queue.dialect import execute
from sakuin.queue.jobs.acks import MOST_PAUSE_SECONDS
from sakuin.queue.jobs.job_life import receive_jobs_on
from sakuin.queue.jobs.trouble import Trouble
from sakuin.queue.limits import QUEUE_NAME
from sakuin.queue.message import Message
from sakuin.queue.pause import paused_queues
from sakuin.queue.queue_names import matching, queue_names
from sakuin.queue.replay import read
from sakuin.queue.retry import RetryPolicy

_LOG = logging.getLogger("sakuin.jobs")
NAMES_SECONDS = 0.5
"""So old the names may be that a pattern is compared with, while there is work."""

IDLE_SECONDS = 0.5
GROWTH = 1.3
JITTER = 0.25

POLICY = RetryPolicy(max_attempts=65_535)
"""What is to be given up is decided by the policy of its kind, after the claim."""

_UNDONE = (
    "SELECT 1 FROM sakuin_messages {by_claim_key} WHERE queue = ? AND (locked_until <= {now}"
    " OR token IS NOT NULL OR attempts > 0 OR locked_until >= '9999-01-01') LIMIT 1"
)
"""Ready, leased, in back-off or blocked; what is only scheduled for later does not count."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a worker claims: patterns of queues in order; those `apart` only where named."""

    queues: Sequence[str]
    apart: Sequence[str]
    batch: int
    lease_seconds: float
    poll_seconds: float

    def among(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the queues to claim from, in order, given those that hold a message.

        A name that plain SQL wrote and nobody can push to is left out.
        """
        names = [name for name in names if QUEUE_NAME.fullmatch(name)]
        shared = [name for name in names if not name.startswith(tuple(self.apart))]
        found: dict[str, None] = {}
        for pattern in self.queues:
            is_named = pattern.startswith(tuple(self.apart))
            found.update(dict.fromkeys(matching(names if is_named else shared, [pattern])))
        return tuple(name for name in found if name in set(names))


class Fetch:
    """Claims from a thread; what was claimed goes to `deliver`, in that thread."""

    def __init__(
        self,
        engine: Engine,
        wanted: Wanted,
        holder: Callable[[], bytes | None],
        deliver: Callable[[Sequence[Message]], None],
        claimers: int = 1,
    ) -> None:
        self._engine, self._wanted, self._holder = engine, wanted, holder
        self._deliver = deliver
        self._trouble = Trouble("claim")
        self._names: tuple[str, ...] = ()
        self._names_until = 0.0
        self._odd: set[str] = set()
        self._slots, self._capacity, self._held = 0, 0, 0
        self._has_ended = self._is_busy = False
        self._polls = 0
        self._empty_polls = 0
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._run, args=(number == 0,), name="fetch", daemon=True)
            for number in range(claimers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def empty_polls(self) -> int:
        """How many polls in a row have found nothing."""
        return self._empty_polls

    @property
    def polls(self) -> int:
        """How often the queues were asked in all."""
        return self._polls

    def make_room(self, slots: int, capacity: int) -> None:
        """Say how many jobs can run at once, and how many may be held at all."""
        with self._changed:
            if (slots, capacity) != (self._slots, self._capacity):
                self._slots, self._capacity = slots, capacity
                self._changed.notify_all()

    def give_up(self, count: int) -> None:
        """Say that so many of those delivered are held no more."""
        with self._changed:
            self._held -= count
            self._changed.notify_all()

    def stop(self) -> None:
        """Claim nothing more; what is being claimed is still delivered."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def close(self, patience_seconds: float) -> None:
        """Claim nothing more, and wait for what is being claimed."""
        self.stop()
        end = time.monotonic() + patience_seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def is_drained(self) -> bool:
        """Tell whether the queues hold nothing that is to be worked on now or soon.

        Paused ones are left out, and so is what is scheduled for later.
        """

        def work(connection: Connection) -> bool:
            names = self._wanted.among(queue_names(connection))
            open_names = set(names).difference(paused_queues(connection))
            return not any(execute(connection, _UNDONE, name).all() for name in open_names)

        return read(self._engine, work)

    def _run(self, is_first: bool) -> None:
        """Claim until the end; only the first thread asks where nothing is known to be."""
        pause = self._wanted.poll_seconds
        while room := self._wait_for_room(is_first):
            count = 0
            try:
                count = self._claim(room)
            except Exception as error:  # noqa: BLE001  whatever it is, claiming goes on later
                self._trouble.is_there(error)
                pause = min(pause * 2, MOST_PAUSE_SECONDS)
            else:
                self._trouble.is_over()
                self._polls += 1
                self._empty_polls = 0 if count else self._empty_polls + is_first
                shortest = self._wanted.poll_seconds
                pause = shortest if count else max(shortest, min(pause * GROWTH, IDLE_SECONDS))
            self._claimed(room, count)
            if is_first and not count:
                self._sleep(pause)

    def _claimed(self, room: int, count: int) -> None:
        with self._changed:
            self._held -= room
            self._is_busy = count == room
            if not count:
                self._names_until = 0.0
            self._changed.notify_all()

    def _claim(self, room: int) -> int:
        """Claim from the queues in order until there is no more room; return how many."""
        count = 0
        for queue in self._queues():
            messages = claim(
                self._engine,
                queue,
                limit=room - count,
                lease_seconds=self._wanted.lease_seconds,
                policy=POLICY,
                holder=self._holder(),
                also=receive_jobs_on,
            )
            with self._changed:
                self._held += len(messages)
            if messages:
                self._deliver(messages)
            count += len(messages)
            if count >= room:
                break
        return count

    def _queues(self) -> tuple[str, ...]:
        if len(self._wanted.queues) == 1 and not self._wanted.queues[0].endswith("*"):
            return tuple(self._wanted.queues)
        now = time.monotonic()
        if now >= self._names_until:
            names = read(self._engine, queue_names)
            self._names = self._wanted.among(names)
            self._tell_odd(name for name in names if not QUEUE_NAME.fullmatch(name))
            self._names_until = now + NAMES_SECONDS
        return self._names

    def _tell_odd(self, names: Iterable[str]) -> None:
        """Say once of each name that no worker takes messages from such a queue."""
        for name in set(names) - self._odd:
            _LOG.warning(
                "queue %r is left alone: a name has 1 to 100 of the characters A-Z a-z 0-9 _ - : +;"
                " give its messages another (UPDATE sakuin_messages SET queue = …)",
                name[:120],
            )
            self._odd.add(name)

    def _wait_for_room(self, is_first: bool) -> int:
        """Return how many to claim, which count as held meanwhile; 0 at the end.

        Either a slot is idle, or half of what may be held is gone: not one by one.
        """
        with self._changed:
            while not self._has_ended:
                room = self._capacity - self._held
                is_worth = self._held < self._slots or 2 * room >= self._capacity
                if room > 0 and is_worth and (is_first or self._is_busy):
                    room = min(room, self._wanted.batch)
                    self._held += room
                    return room
                self._changed.wait()
            return 0

    def _sleep(self, seconds: float) -> None:
        # Workers that were started together would ask together: chance spreads them.
        factor = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  spreads the polls, hides nothing
        end = time.monotonic() + seconds * factor
        with self._changed:
            while not self._has_ended and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)
