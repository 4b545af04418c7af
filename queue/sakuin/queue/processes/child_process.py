"""Starts one child of a supervisor, hears what it tells, and ends it with all that it started."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from sakuin.queue.processes.plan import Plan, Role


class ChildProcess:
    """A running child: a process in a session of its own, so that Ctrl-C reaches us alone.

    It holds the reading end of a pipe of ours, and ends when that closes, however we die.
    """

    def __init__(self, plan: Plan, role: Role, supervisor_id: bytes) -> None:
        self.role = role
        self.ids: list[bytes] = []
        self.named_at = 0.0
        self.is_ready = False
        self.refused: str | None = None
        self.started_at = time.monotonic()
        self._heard = b""
        self._told, telling = os.pipe()
        os.set_blocking(self._told, False)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "sakuin.queue.processes.child"],
                stdin=subprocess.PIPE,
                pass_fds=(telling,),
                start_new_session=True,
                bufsize=0,
            )
        except OSError:
            os.close(self._told)
            raise
        finally:
            os.close(telling)
        assert self._process.stdin
        with suppress(BrokenPipeError):  # it is dead already: `has_ended` will say so
            self._process.stdin.write(_given(plan, role, supervisor_id, telling))

    @property
    def pid(self) -> int:
        """The number of the child's process."""
        return self._process.pid

    @property
    def lived_seconds(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self.started_at

    def hear(self) -> None:
        """Take up what the child has told: its ids, that it is ready, or why it is not."""
        with suppress(BlockingIOError):
            while data := os.read(self._told, 65536):
                self._heard += data
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            told = json.loads(line)
            if "id" in told:
                self.ids.append(bytes.fromhex(told["id"]))
                self.named_at = time.monotonic()
            self.is_ready = self.is_ready or "ready" in told
            self.refused = told.get("refused", self.refused)

    def terminate(self) -> None:
        """Ask it to end in order."""
        if not self.has_ended():
            self._process.terminate()

    def kill(self) -> None:
        """End it, and what it started, now; even a stopped one."""
        if not self.has_ended():
            self._kill_group()

    def has_ended(self) -> bool:
        """Tell whether it is dead; what it started has then been killed too."""
        if self._process.returncode is not None:
            return True
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        with suppress(ChildProcessError):  # somebody else in this process has waited for it
            if os.waitid(os.P_PID, self._process.pid, how) is None:
                return False
            self._kill_group()  # before its number is free for others
        self._process.wait()
        self.hear()
        return True

    def how(self) -> str:
        """Say how it ended."""
        code = self._process.returncode
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with {code}"

    def close(self) -> None:
        """Free the pipes of one that has ended."""
        os.close(self._told)
        if self._process.stdin:
            self._process.stdin.close()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _given(plan: Plan, role: Role, supervisor_id: bytes, telling: int) -> bytes:
    given = {
        "database_url": plan.database_url,
        "role": role.name,
        "target": role.target,
        "options": dict(role.options),
        "supervisor_id": supervisor_id.hex(),
        "dead_after_seconds": plan.dead_after_seconds,
        "told": telling,
        "path": sys.path,
        "log_level": logging.getLogger().getEffectiveLevel(),
    }
    return json.dumps(given).encode() + b"\n"
