"""One shift of a worker: who gets which message, what is settled how, what has to be stopped."""

import logging
import time
from collections import Counter, deque
from collections.abc import Sequence
from threading import Lock

from sakuin.queue.jobs.acks import Acks, Settlement
from sakuin.queue.jobs.crew import Crew, Ended
from sakuin.queue.jobs.fetch import Fetch
from sakuin.queue.jobs.kind import JOB_POLICY, Rules
from sakuin.queue.jobs.leases import Leases
from sakuin.queue.jobs.measures import MeasureBuffer
from sakuin.queue.message import Message
from sakuin.queue.retry import RetryPolicy

_LOG = logging.getLogger("sakuin.jobs")
TICK_SECONDS = 0.1
AHEAD_SECONDS = 0.05
"""So much work is claimed ahead of the children, by how long jobs take: of long ones none."""

HOARD_SECONDS = 1.0
"""What was claimed ahead and could not begin in this time is given back, for others to take."""

CLAIM_SECONDS = 2.0
"""How long a worker that stops waits for a claim that is under way, after its jobs."""

WEIGHT = 0.1
DRAINED_POLLS = 1


class Shift:
    """What a worker does between its start and its end. All but `deliver` is for one thread."""

    def __init__(self, crew: Crew, leases: Leases, measures: MeasureBuffer, batch: int) -> None:
        self.ended: Counter[str] = Counter()
        self._crew, self._leases, self._measures, self._batch = crew, leases, measures, batch
        self._ahead: deque[tuple[float, Message]] = deque()
        self._turn = Lock()
        self._mean_seconds = 1.0

    @property
    def ahead(self) -> int:
        """How many messages are claimed and not begun."""
        return len(self._ahead)

    def deliver(self, messages: Sequence[Message]) -> None:
        """Take what was claimed, from the thread that claims."""
        self._leases.add(messages)
        now = time.monotonic()
        with self._turn:
            self._ahead.extend((now, message) for message in messages)
        self._crew.wake()

    def turn(self, acks: Acks, fetch: Fetch) -> None:
        """Wait for what happens next, and do what follows from it."""
        now = time.monotonic()
        slots = len(self._crew.ready)
        quick = sum(now - one.began_at < HOARD_SECONDS / 2 for one in self._crew.ready)
        ahead = min(self._batch, int(quick * AHEAD_SECONDS / self._mean_seconds))
        fetch.make_room(slots, slots + ahead)
        for ended in self._crew.wait(TICK_SECONDS):
            self._settle(ended, acks, fetch)
        self._stop_lost(fetch)
        self._assign(acks, fetch)
        self._share(acks, fetch)

    def end(self, acks: Acks, fetch: Fetch, stop_seconds: float) -> None:
        """Claim nothing more; let the jobs end, then stop them; give back what is left."""
        fetch.stop()
        self._crew.dismiss()
        for child in self._crew.working:
            child.ask_to_end()
        deadline = time.monotonic() + stop_seconds
        while self._crew.working:
            if time.monotonic() >= deadline:
                for child in self._crew.working:
                    child.stop("stop")
            for ended in self._crew.wait(TICK_SECONDS):
                self._settle(ended, acks, fetch)
            self._stop_lost(fetch)
        fetch.close(CLAIM_SECONDS)  # what it was claiming comes too
        self._release(self._take_ahead(), acks, fetch)

    def is_idle(self, acks: Acks, fetch: Fetch) -> bool:
        """Tell whether nothing is held, and a poll since has found nothing."""
        is_busy = self._ahead or self._crew.working or acks.unsettled
        return not is_busy and fetch.empty_polls > DRAINED_POLLS

    def _assign(self, acks: Acks, fetch: Fetch) -> None:
        """Hand messages to free children; what cannot be run is settled without one."""
        free = self._crew.free
        while free and self._ahead:
            with self._turn:
                _, message = self._ahead.popleft()
            unfit = self._unfit(message)
            if unfit is not None:
                self._settle(unfit, acks, fetch)
                continue
            assert message.kind is not None
            free.pop().begin(message, self._crew.rules[message.kind].seconds)

    def _unfit(self, message: Message) -> Ended | None:
        """Return how a message ends that is not to be run at all."""
        if message.kind is None:
            reason = "it has no kind, so that no job is known to be meant: push it with one"
            return Ended(message, "refused", None, reason)
        rules = self._crew.rules.get(message.kind)
        if rules is None:
            known = ", ".join(sorted(self._crew.rules))
            reason = f"no kind of job is registered as {message.kind!r}; known: {known}"
            return Ended(message, "refused", None, reason)
        before = message.attempts - 1
        if rules.policy.is_killer(before, message.errors):
            reason = f"the process that ran it died {before - message.errors} times"
            return Ended(message, "crashed", None, reason)
        if rules.policy.is_spent(before, message.errors):
            return Ended(message, "crashed", None, f"it was delivered {before} times")
        return None

    def _settle(self, ended: Ended, acks: Acks, fetch: Fetch) -> None:
        message = ended.message
        self.ended[ended.how] += 1
        fetch.give_up(1)
        rules = self._crew.rules.get(message.kind or "")
        if ended.how == "lost":
            self._leases.forget([message])
            return
        if rules is not None and ended.how != "stopped":
            self._measures.add(
                str(message.kind),
                ended.seconds,
                message.waited_seconds,
                is_failed=ended.how != "done",
            )
        _tell(ended, rules)
        if ended.how == "done":
            self._mean_seconds += WEIGHT * (ended.seconds - self._mean_seconds)
            self._mean_seconds = max(self._mean_seconds, 1e-6)
        acks.put(_settlement(ended, None if rules is None else rules.policy))

    def _stop_lost(self, fetch: Fetch) -> None:
        """Another has the message: stop the child that works on it, and forget what waits."""
        lost = self._leases.take_lost()
        if not lost:
            return
        for child in self._crew.working:
            message = child.message
            if message is not None and (message.id, message.token) in lost:
                _LOG.warning("the lease of message %s was lost: its job is stopped", message.id)
                child.stop("lost")
        with self._turn:
            kept = [one for one in self._ahead if (one[1].id, one[1].token) not in lost]
            gone = len(self._ahead) - len(kept)
            self._ahead = deque(kept)
        fetch.give_up(gone)

    def _share(self, acks: Acks, fetch: Fetch) -> None:
        """Give back what has waited too long behind long jobs."""
        if self._ahead and time.monotonic() - self._ahead[0][0] > HOARD_SECONDS:
            self._release(self._take_ahead(), acks, fetch)

    def _take_ahead(self) -> list[Message]:
        with self._turn:
            taken = [message for _, message in self._ahead]
            self._ahead.clear()
            return taken

    def _release(self, messages: Sequence[Message], acks: Acks, fetch: Fetch) -> None:
        for message in messages:
            acks.put(Settlement(message, "release"))
        fetch.give_up(len(messages))


def _tell(ended: Ended, rules: Rules | None) -> None:
    """Log what went wrong, in a line."""
    if ended.how not in ("failed", "refused", "late", "crashed"):
        return
    message = ended.message
    errors = message.errors + (ended.how != "crashed")
    policy = JOB_POLICY if rules is None else rules.policy
    is_dead = ended.how == "refused" or policy.is_spent(message.attempts, errors)
    _LOG.warning(
        "%s %d of queue %s, delivery %d%s: %s",
        message.kind,
        message.id,
        message.queue,
        message.attempts,
        ", is given up" if is_dead else "",
        ended.reason.partition("\n")[0][:500],
    )


def _settlement(ended: Ended, policy: RetryPolicy | None) -> Settlement:
    message, reason = ended.message, ended.reason
    match ended.how:
        case "done":
            return Settlement(message, "ack", ended.result)
        case "failed" | "late":
            return Settlement(message, "fail", None, reason, ended.traceback, policy)
        case "crashed":
            return Settlement(message, "crash", None, reason, None, policy)
        case "stopped":
            return Settlement(message, "release")
        case _:
            return Settlement(message, "bury", None, reason, ended.traceback)
