"""A child process of a supervisor: `python -m sakuin.queue.processes.child`.

Its standard input is one line of JSON, and then nothing: when it ends, the supervisor is dead,
and the child goes too. What it has to tell goes through a pipe, a line of JSON each.
"""

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from sakuin.queue.connect import open_engine
from sakuin.queue.errors import DatabaseAway, DatabaseBusy, OutcomeUnknown, QueueError
from sakuin.queue.processes.duty import Duty, NotReady, Target, load
from sakuin.queue.processes.heartbeat import Heartbeat
from sakuin.queue.processes.registry import deregister
from sakuin.queue.processes.stop_on_signals import stop_on_signals

_LOG = logging.getLogger("sakuin.processes")
REFUSED = 78
"""The exit code of a child that is set up wrongly (EX_CONFIG)."""

ORPHAN_SECONDS = 1.0
"""So long a child whose supervisor is dead may take to end in order."""


def main() -> int:
    """Do the role that standard input names; return the exit code."""
    life = os.dup(0)
    given = json.loads(_first_line(life))
    silence = os.open(os.devnull, os.O_RDONLY)
    os.dup2(silence, 0)  # whatever the work starts must not read from the pipe
    os.close(silence)
    os.set_inheritable(given["told"], False)
    sys.path[:] = given["path"]
    logging.basicConfig(level=given["log_level"], format="%(asctime)s %(message)s")
    child = _Child(given)
    threading.Thread(target=child.end_with_parent, args=(life,), name="life", daemon=True).start()
    with stop_on_signals(child.stop):
        return child.run()


class _Child:
    def __init__(self, given: Mapping[str, Any]) -> None:
        self.stop = threading.Event()
        self._given = given
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._own: tuple[Engine, Heartbeat] | None = None

    def run(self) -> int:
        """Make ready, tell so, and work; or tell what is set up wrongly."""
        with ExitStack() as stack:
            stack.callback(self._ended.set)
            try:
                self._make_ready(stack)()
            except (DatabaseAway, DatabaseBusy, OutcomeUnknown) as error:
                _LOG.warning("%s: %s", self._given["role"], error)
                return 1
            except (QueueError, NotReady) as error:
                self._tell({"refused": f"{self._given['role']}: {error}"})
                return REFUSED
        return 0

    def end_with_parent(self, life: int) -> None:
        """Wait for the supervisor's death, then stop; in order, or soon all the same."""
        while os.read(life, 4096):
            pass
        self.stop.set()
        if self._ended.wait(ORPHAN_SECONDS):
            return
        giving_back = threading.Thread(target=self._give_back, daemon=True)
        giving_back.start()
        giving_back.join(ORPHAN_SECONDS)
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)  # what the work started goes too
        os.kill(os.getpid(), signal.SIGKILL)

    def _make_ready(self, stack: ExitStack) -> Callable[[], object]:
        target: Target = load(self._given["target"])
        engine = open_engine(self._given["database_url"])
        stack.callback(engine.dispose)
        heart = Heartbeat(
            engine,
            self._given["role"],
            supervisor_id=bytes.fromhex(self._given["supervisor_id"]),
            dead_after_seconds=self._given["dead_after_seconds"],
            on_id=lambda own_id: self._tell({"id": own_id.hex()}),
        )
        self._own = (engine, heart)
        stack.enter_context(heart)
        work = _prepare(target, Duty(engine, self.stop, heart, self._given["options"]))
        self._tell({"ready": True})
        return work

    def _give_back(self) -> None:
        if self._own:
            engine, heart = self._own
            with suppress(QueueError, SQLAlchemyError):  # others do it when the beat is old
                deregister(engine, heart.id)

    def _tell(self, what: Mapping[str, object]) -> None:
        line = json.dumps(what).encode() + b"\n"
        with self._turn, suppress(BrokenPipeError):  # nobody hears it: `end_with_parent` knows
            os.write(self._given["told"], line)


def _prepare(target: Target, duty: Duty) -> Callable[[], object]:
    try:
        return target(duty)
    except (QueueError, NotReady):
        raise
    except Exception as error:
        if not isinstance(error, OSError | ValueError):
            _LOG.exception("%s is a fault of the program", type(error).__name__)
        raise NotReady(f"{type(error).__name__}: {error}") from error


def _first_line(descriptor: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(descriptor, 65536)
        if not more:
            raise SystemExit("this program is started by a supervisor, which tells it what to do")
        line += more
    return line


if __name__ == "__main__":
    sys.exit(main())
