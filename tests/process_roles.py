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
from sakuin.queue.processes import Dispatcher, Duty
from sakuin.queue.processes.chores import prune_dead_chore
from sakuin.queue.requeue import requeue_held

LEASE_SECONDS = 600.0


def say(duty: Duty, word: str, number: int) -> None:
    """Add a line that survives a SIGKILL of this process."""
    with Path(duty.options["output"]).open("ab", buffering=0) as output:
        output.write(f"{word} {number} {os.getpid()}\n".encode())


def said(output: Path, word: str) -> list[int]:
    """Return the numbers of the lines with this word, over all processes."""
    return [number for number, _pid in said_by(output, word)]


def said_by(output: Path, word: str) -> list[tuple[int, int]]:
    """Return the numbers of the lines with this word, each with the process that wrote it."""
    lines = output.read_text().splitlines() if output.exists() else []
    said = (line.split() for line in lines if line.startswith(f"{word} "))
    return [(int(number), int(pid)) for _word, number, pid in said]


def is_running(pid: int) -> bool:
    """Tell whether there is such a process, and not only its remains."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def work(duty: Duty) -> Callable[[], None]:
    """Claim and ack, until told to stop, through a database that goes away."""
    limit = duty.options.get("limit", 1)

    def run() -> None:
        say(duty, "began", os.getpid())
        while not duty.stop.is_set():
            batch = _claim(duty, limit)
            for one in batch:
                say(duty, "C", one.id)
                _hold(duty, one)
            if batch:
                time.sleep(duty.options.get("work_seconds", 0.0))
                _ack(duty, batch)
            else:
                duty.stop.wait(0.02)

    return run


def _claim(duty: Duty, limit: int) -> tuple[Message, ...]:
    """Claim; what was claimed without our knowing, as the connection broke, is given back."""
    is_unknown = False
    while not duty.stop.is_set():
        try:
            if is_unknown:
                requeue_held(duty.engine, duty.heart.id)
            return claim(
                duty.engine, "q", limit=limit, lease_seconds=LEASE_SECONDS, holder=duty.heart.id
            )
        except OutcomeUnknown:
            is_unknown = True
        except (DatabaseAway, DatabaseBusy):
            duty.stop.wait(0.05)
    return ()


def _ack(duty: Duty, batch: tuple[Message, ...]) -> None:
    while True:
        try:
            lost = ack(duty.engine, batch)
        except (DatabaseAway, DatabaseBusy, OutcomeUnknown):
            if duty.stop.wait(0.05):
                return
        else:
            break
    for one in batch:
        say(duty, "L" if one.id in lost else "S", one.id)


def _hold(duty: Duty, message: Message) -> None:
    """A message that is a path is a job that lasts until that file is there."""
    while message.data.startswith(b"/") and not Path(message.data.decode()).exists():
        if duty.stop.is_set():
            return
        time.sleep(0.01)  # a long job


def tidy(duty: Duty) -> Callable[[], None]:
    """Dispatch, with the one chore that these tests are about."""
    dispatcher = Dispatcher(duty.engine, [prune_dead_chore(0.2)])
    duty.heart.detail, duty.heart.is_well = dispatcher.detail, dispatcher.is_well
    say(duty, "began", os.getpid())
    return lambda: dispatcher.run(duty.stop)


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
