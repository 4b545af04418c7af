"""The children of a worker: which are free, what ended and how, who is stopped or replaced."""

import logging
import os
import selectors
import time
from collections.abc import Mapping
from typing import Literal, NamedTuple

from sakuin.queue.jobs.child import Broken, Done, Failed, Ready, Setup
from sakuin.queue.jobs.kind import BadTarget, Rules
from sakuin.queue.jobs.runner import Child
from sakuin.queue.message import Message

_LOG = logging.getLogger("sakuin.jobs")
DYING_SECONDS = 0.01
"""How often a child is looked at that has closed its pipe, and is about to end."""

START_SECONDS = 120.0
"""A child that is not ready after so long is killed: its imports hang."""

FIRST_PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.2, 30.0

How = Literal["done", "failed", "refused", "late", "crashed", "stopped", "lost"]


class Ended(NamedTuple):
    """What became of one message."""

    message: Message
    how: How
    result: bytes | None = None
    reason: str = ""
    traceback: str | None = None
    seconds: float = 0.0


class Crew:
    """As many children as there are slots. One thread uses it; any thread may `wake` that one."""

    def __init__(self, setup: Setup, size: int) -> None:
        self.rules: Mapping[str, Rules] = {}
        self.children: list[Child] = []
        self._setup, self._size = setup, size
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._pause, self._start_after = FIRST_PAUSE_SECONDS, 0.0
        self._is_closing = False

    def start(self) -> None:
        """Start the children and wait for the first. Raises BadTarget if it has no jobs to run."""
        self._fill()
        first = self.children[0]
        answer = first.hear() if first.channel.poll(START_SECONDS) else None
        if isinstance(answer, Ready):
            self.rules = answer.rules
            return
        ending = self._remove(first)
        if isinstance(answer, Broken):
            raise BadTarget(answer.reason)
        raise BadTarget(f"jobs {self._setup.target!r}: importing them does not end well ({ending})")

    @property
    def ready(self) -> list[Child]:
        """The children that run a job or could."""
        return [one for one in self.children if one.is_ready and not one.is_leaving]

    @property
    def free(self) -> list[Child]:
        """The children that wait for a job."""
        return [one for one in self.ready if one.message is None]

    @property
    def working(self) -> list[Child]:
        """The children that run a job, those that are being stopped too."""
        return [one for one in self.children if one.message is not None]

    def wake(self) -> None:
        """Let `wait` return early."""
        try:
            os.write(self._wake_write, b"\0")
        except BlockingIOError:
            return  # it is awake already

    def wait(self, timeout: float) -> list[Ended]:
        """Wait until something happens, and return what ended; keep time limits meanwhile."""
        moments = [moment for one in self.children if (moment := one.next_moment()) is not None]
        timeout = min(timeout, max(0.0, min(moments, default=1e9) - time.monotonic()))
        if any(one.is_silent for one in self.children):
            timeout = min(timeout, DYING_SECONDS)
        ended: list[Ended] = []
        for key, _ in self._selector.select(timeout):
            if key.data is None:
                os.read(self._wake_read, 4096)
            else:
                ended += self._hear(key.data)
        self._keep_time()
        for child in [one for one in self.children if one.has_ended]:
            while not child.is_silent:
                ended += self._hear(child)  # what it said before its death
            ended += self._bury(child)
        if not self._is_closing:
            self._fill()
        return ended

    def close(self) -> None:
        """Kill what is left of the children."""
        for child in list(self.children):
            child.kill()
            self._remove(child)
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def dismiss(self) -> None:
        """Start no more children; those that are free end now."""
        self._is_closing = True
        for child in self.children:
            if child.message is None:
                child.stop("stop")

    def _hear(self, child: Child) -> list[Ended]:
        answer = child.hear()
        if isinstance(answer, Ready):
            self.rules = answer.rules
            self._pause = FIRST_PAUSE_SECONDS
            return []
        if isinstance(answer, Done | Failed):
            message, child.message = child.message, None
            assert message is not None
            child.is_leaving = child.is_leaving or answer.is_last
            return [_ended(message, child, answer)]
        if isinstance(answer, Broken):
            _LOG.error("no job can be run: %s", answer.reason)
            return []
        child.end_soon()
        self._selector.unregister(child.channel)
        return []

    def _bury(self, child: Child) -> list[Ended]:
        """Take leave of a child that is dead."""
        message, child.message = child.message, None
        ending = self._remove(child)
        if not child.is_ready:
            self._start_after = time.monotonic() + self._pause
            self._pause = min(self._pause * 2, MOST_PAUSE_SECONDS)
        if message is None:
            if not child.is_leaving:
                _LOG.warning("an idle child has died (%s); it is replaced", ending)
            return []
        seconds = time.monotonic() - child.began_at
        return [_died(message, child, ending, seconds)]

    def _remove(self, child: Child) -> str:
        if not child.is_silent:
            self._selector.unregister(child.channel)
        self.children.remove(child)
        return child.close()

    def _keep_time(self) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.stop_at is not None and now >= child.stop_at and child.message:
                child.stop("limit")
            if not child.is_ready and now - child.started_at > START_SECONDS:
                child.kill()
            child.press()

    def _fill(self) -> None:
        while len(self.children) < self._size and time.monotonic() >= self._start_after:
            child = Child(self._setup)
            self.children.append(child)
            self._selector.register(child.channel, selectors.EVENT_READ, child)


def _ended(message: Message, child: Child, answer: Done | Failed) -> Ended:
    """Say what an answer means for the message."""
    if child.why == "lost":
        return Ended(message, "lost")
    if isinstance(answer, Done):
        return Ended(message, "done", answer.result, seconds=answer.seconds)
    what = (None, answer.reason, answer.traceback, answer.seconds)
    if child.why == "stop" or answer.is_unfinished:
        return Ended(message, "stopped", *what)
    if child.why == "limit":
        reason = _too_long(child)
        return Ended(message, "late", None, reason, answer.traceback, answer.seconds)
    return Ended(message, "refused" if answer.is_refused else "failed", *what)


def _died(message: Message, child: Child, ending: str, seconds: float) -> Ended:
    """Say what the death of a child means for the message it worked on."""
    match child.why:
        case "lost":
            return Ended(message, "lost")
        case "stop":
            return Ended(message, "stopped", seconds=seconds)
        case "limit":
            return Ended(message, "late", None, _too_long(child), None, seconds)
        case None:
            reason = f"the process that ran it died ({ending})"
            return Ended(message, "crashed", None, reason, None, seconds)


def _too_long(child: Child) -> str:
    assert child.limit_seconds is not None
    return f"took longer than its limit of {child.limit_seconds:g} s"
