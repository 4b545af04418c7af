"""Roles that the tests give to real child processes. Each writes lines to its file.

C id = claimed, S id = settled, L id = was lost, and "id" or another word for what else it tells.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sakuin.queue import DatabaseAway, DatabaseBusy, Message, OutcomeUnknown, ack, claim
from sakuin.queue.processes import Duty

LEASE_SECONDS = 600.0
_AWAY = (DatabaseAway, DatabaseBusy, OutcomeUnknown)


def say(duty: Duty, word: str, number: int) -> None:
    """Add a line that survives a SIGKILL of this process."""
    with Path(duty.options["output"]).open("ab", buffering=0) as output:
        output.write(f"{word} {number}\n".encode())


def said(output: Path, word: str) -> list[int]:
    """Return the numbers of the lines with this word, over all processes."""
    lines = output.read_text().splitlines() if output.exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith(f"{word} ")]


def work(duty: Duty) -> Callable[[], None]:
    """Claim and ack, until told to stop, through a database that goes away."""

    def run() -> None:
        say(duty, "began", os.getpid())
        while not duty.stop.is_set():
            try:
                has_worked = _work_once(duty)
            except _AWAY:
                has_worked = False
            if not has_worked:
                duty.stop.wait(0.02)

    return run


def _work_once(duty: Duty) -> bool:
    limit = duty.options.get("limit", 1)
    batch = claim(duty.engine, "q", limit=limit, lease_seconds=LEASE_SECONDS, holder=duty.heart.id)
    for one in batch:
        say(duty, "C", one.id)
        _hold(duty, one)
    lost = ack(duty.engine, batch)
    for one in batch:
        say(duty, "L" if one.id in lost else "S", one.id)
    return bool(batch)


def _hold(duty: Duty, message: Message) -> None:
    """A message that is a path is a job that lasts until that file is there."""
    while message.data.startswith(b"/") and not Path(message.data.decode()).exists():
        if duty.stop.is_set():
            return
        time.sleep(0.01)  # a long job


def crash(duty: Duty) -> Callable[[], None]:
    """Die as soon as it is ready."""

    def run() -> None:
        say(duty, "began", os.getpid())
        os.kill(os.getpid(), signal.SIGKILL)

    return run


def deaf(duty: Duty) -> Callable[[], None]:
    """Work, with a process of its own, until its end, whoever says stop."""

    def run() -> None:
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        say(duty, "other", other.pid)
        say(duty, "began", os.getpid())
        other.wait()

    return run


def wrong(duty: Duty) -> Callable[[], None]:
    """Refuse the options."""
    raise ValueError(f"colour={duty.options['colour']}: use red")
