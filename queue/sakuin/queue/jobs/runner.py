"""The worker's end of a child: starts it, hands it a job, hears from it, and really stops it."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Pipe
from typing import Literal

from sakuin.queue.jobs.child import Broken, Done, Failed, Ready, Setup
from sakuin.queue.jobs.run import Order
from sakuin.queue.message import Message

_LOG = logging.getLogger("sakuin.jobs")
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from sakuin.queue.jobs.child import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)
GRACE_SECONDS = 1.0
"""Between SIGTERM, which a handler can answer by tidying up, and SIGKILL, which none can."""

Why = Literal["limit", "lost", "stop"]
Answer = Ready | Broken | Done | Failed


class Child:
    """One process that runs handlers, one at a time. It is in a group of processes of its own.

    `message` is what it works on, `why` the reason why it was told to stop, if it was. One that
    `is_leaving` gets no more jobs; one that `is_silent` has closed its pipe.
    """

    def __init__(self, setup: Setup) -> None:
        self.channel, theirs = Pipe()
        life, self._life = os.pipe()
        pipes = (str(theirs.fileno()), str(life))
        try:
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter, no shell
                [sys.executable, "-P", "-c", _BOOT, json.dumps(sys.path), *pipes],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what handlers print must not mix with what the worker prints
                pass_fds=(theirs.fileno(), life),
                process_group=0,
            )
        finally:
            theirs.close()
            os.close(life)
        self.message: Message | None = None
        self.began_at = 0.0
        self.stop_at: float | None = None
        self.why: Why | None = None
        self.limit_seconds: float | None = None
        self.started_at = time.monotonic()
        self.is_ready = False
        self.is_leaving = False
        self.is_silent = False
        self._kill_at: float | None = None
        self._tell(setup)

    @property
    def pid(self) -> int:
        """The process id, which is that of its group too."""
        return self._process.pid

    def begin(self, message: Message, limit_seconds: float | None) -> None:
        """Hand it a job."""
        assert message.kind is not None
        self.message = message
        self.began_at = time.monotonic()
        self.limit_seconds = limit_seconds
        self.stop_at = None if limit_seconds is None else self.began_at + limit_seconds
        self._tell(
            Order(
                message.id,
                message.token,
                message.kind,
                message.data,
                message.attempts,
                message.errors,
            )
        )

    def hear(self) -> Answer | None:
        """Return the answer that is there to be read; None if it has ended, or is about to."""
        if self.has_ended and not self.channel.poll():
            return None  # somebody whom it has started holds its end of the pipe
        try:
            answer: Answer = self.channel.recv()
        except (EOFError, OSError):
            return None
        except Exception as error:  # noqa: BLE001  a handler may write anything to any descriptor
            _LOG.warning("process %s says what is no answer: it is killed: %s", self.pid, error)
            self.kill()
            return None
        self.is_ready = self.is_ready or isinstance(answer, Ready)
        return answer

    def ask_to_end(self) -> None:
        """Tell a handler that looks that it should come to an end."""
        self._signal(signal.SIGUSR1)

    def stop(self, why: Why) -> None:
        """Interrupt it; what is not gone in GRACE_SECONDS is killed by `press`."""
        if self.why is None:
            self.why = why
            self.is_leaving = True
            self._kill_at = time.monotonic() + GRACE_SECONDS
            self._signal(signal.SIGTERM)

    def end_soon(self) -> None:
        """Say that it has closed its pipe: it has GRACE_SECONDS left to end by itself."""
        self.is_silent = self.is_leaving = True
        if self._kill_at is None:
            self._kill_at = time.monotonic() + GRACE_SECONDS

    def press(self) -> None:
        """Kill it if its grace is over."""
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self._kill_at = None
            self.kill()

    def next_moment(self) -> float | None:
        """When `press`, or a look at its time limit, is due next."""
        if self.why is not None:
            return self._kill_at
        return self.stop_at if self.message else None

    def kill(self) -> None:
        """End it and whatever it has started, now."""
        self._signal(signal.SIGKILL)
        self._process.kill()  # it may have left its group

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def close(self) -> str:
        """Wait for its end, which must be near, and return how it ended, in words."""
        try:
            code = self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        self.channel.close()
        os.close(self._life)
        if code >= 0:
            return f"exit code {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"

    def _tell(self, what: Setup | Order) -> None:
        try:
            self.channel.send(what)
        except OSError:
            _LOG.debug("process %s has ended before it could be told", self.pid)

    def _signal(self, number: signal.Signals) -> None:
        """Signal the whole group. Until it is waited for, its number is nobody else's."""
        if self._process.returncode is None:
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                _LOG.debug("process %s has ended before it could be signalled", self.pid)
