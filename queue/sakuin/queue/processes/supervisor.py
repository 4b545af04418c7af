"""Runs the processes of a plan, and again what dies; gives back at once what a dead one held."""

import logging
import threading
import time

from sakuin.queue.connect import open_engine
from sakuin.queue.errors import QueueError
from sakuin.queue.processes.child_process import ChildProcess
from sakuin.queue.processes.heartbeat import Heartbeat
from sakuin.queue.processes.plan import Plan, Role
from sakuin.queue.processes.watch_children import WatchChildren

_LOG = logging.getLogger("sakuin.processes")
_LOOK_SECONDS = 0.1
HEALTHY_SECONDS = 10.0
"""Who lived so long is started again at once; others after a pause that doubles each time."""

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 30.0
LONGEST_READY_PAUSE_SECONDS = 1.0
"""For who was ready, and then killed: waiting would not help, and what is pushed waits for it."""

START_SECONDS = 120.0
"""A child that does not come so far as to register hangs."""

_KILL_SECONDS = 10.0


class RoleRefused(QueueError):
    """A role is set up wrongly: its processes cannot start; the message says what to change."""


def supervise(plan: Plan, stop: threading.Event, at_once: threading.Event | None = None) -> None:
    """Run the plan until `stop` is set, then end every child, and return.

    Children that die, or live and do not beat, are replaced, and what they held is ready again at
    once. The database may be away at any time. Ending gives the children `plan.stop_seconds`, or
    until `at_once` is set. Raises RoleRefused for a role that is set up wrongly from the start (one
    that has worked is retried, so that a mistake stops nothing else), and DatabaseRefused.
    """
    engine = open_engine(plan.database_url)
    try:
        with (
            Heartbeat(engine, "supervisor", dead_after_seconds=plan.dead_after_seconds) as heart,
            WatchChildren(engine, plan.dead_after_seconds) as watch,
        ):
            crew = _Crew(plan, heart, watch)
            try:
                while not stop.is_set():
                    crew.look()
                    stop.wait(_LOOK_SECONDS)
            finally:
                crew.end(at_once or threading.Event())
    finally:
        engine.dispose()


class _Slot:
    """The place of one child: it is there, or it is to be started at `start_at`."""

    def __init__(self, role: Role, number: int) -> None:
        self.role = role
        self.name = f"{role.name} {number}"
        self.child: ChildProcess | None = None
        self.has_worked = False
        self.start_at = self.pause_seconds = 0.0

    def rest(self, lived_seconds: float, *, was_ready: bool) -> None:
        """Set when to start again, after a life that long."""
        if lived_seconds >= HEALTHY_SECONDS:
            self.pause_seconds = 0.0
        most = LONGEST_READY_PAUSE_SECONDS if was_ready else LONGEST_PAUSE_SECONDS
        self.pause_seconds = min(self.pause_seconds, most)
        self.start_at = time.monotonic() + self.pause_seconds
        self.pause_seconds = max(FIRST_PAUSE_SECONDS, 2 * self.pause_seconds)


class _Crew:
    def __init__(self, plan: Plan, heart: Heartbeat, watch: WatchChildren) -> None:
        self._plan, self._heart, self._watch = plan, heart, watch
        self._slots = [
            _Slot(role, number + 1) for role in plan.roles for number in range(role.processes)
        ]
        self._restarts = 0
        heart.detail = lambda: {"processes": len(self._slots), "restarts": self._restarts}

    def look(self) -> None:
        """Start who is missing, bury who is dead, kill who is silent."""
        for slot in self._slots:
            if slot.child is None:
                if time.monotonic() >= slot.start_at:
                    self._start(slot)
                continue
            slot.child.hear()
            if slot.child.has_ended():
                self._bury(slot, slot.child)
            elif self._is_silent(slot.child):
                _LOG.warning("%s (%d) hangs: it is killed", slot.name, slot.child.pid)
                slot.child.kill()
        living = (slot.child for slot in self._slots if slot.child is not None)
        self._watch.watch({one.ids[-1]: one.named_at for one in living if one.ids})

    def end(self, at_once: threading.Event) -> None:
        """End every child: in order, or when the time is over, or at once."""
        children = {slot.name: slot.child for slot in self._slots if slot.child is not None}
        for child in children.values():
            child.terminate()
        _wait(children, self._plan.stop_seconds, at_once)
        for name, child in children.items():
            if not child.has_ended():
                _LOG.warning("%s (%d) is not done: it is killed", name, child.pid)
                child.kill()
        _wait(children, _KILL_SECONDS, threading.Event())
        for child in children.values():
            self._watch.give_back(child.ids)
            child.close()

    def _start(self, slot: _Slot) -> None:
        try:
            slot.child = ChildProcess(self._plan, slot.role, self._heart.id)
        except OSError as error:
            _LOG.warning("cannot start %s: %s", slot.name, error)
            slot.rest(0.0, was_ready=False)
        else:
            _LOG.info("%s started (%d)", slot.name, slot.child.pid)

    def _bury(self, slot: _Slot, child: ChildProcess) -> None:
        slot.child = None
        self._watch.give_back(child.ids)
        child.close()
        slot.has_worked = slot.has_worked or child.lived_seconds >= HEALTHY_SECONDS
        if child.refused and not slot.has_worked:
            raise RoleRefused(child.refused)
        slot.rest(child.lived_seconds, was_ready=child.is_ready and not child.refused)
        self._restarts += 1
        _LOG.warning(
            "%s (%d) %s; it is started again in %.1f s",
            slot.name,
            child.pid,
            child.refused or child.how(),
            max(0.0, slot.start_at - time.monotonic()),
        )

    def _is_silent(self, child: ChildProcess) -> bool:
        if not child.ids:
            return child.lived_seconds > START_SECONDS
        return child.ids[-1] in self._watch.silent


def _wait(children: dict[str, ChildProcess], seconds: float, enough: threading.Event) -> None:
    deadline = time.monotonic() + seconds
    while not all([child.has_ended() for child in children.values()]):  # noqa: C419 - look at each
        if time.monotonic() > deadline or enough.wait(_LOOK_SECONDS / 2):
            return
