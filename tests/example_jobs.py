"""Jobs for the tests: `example_jobs:jobs` is imported by the processes that run them."""

import itertools
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sakuin.queue import Limit, RetryPolicy
from sakuin.queue.jobs import Jobs, Run

jobs = Jobs()
SOON = RetryPolicy(max_attempts=3, first_seconds=0.0, jitter=0.0, max_crashes=3)
ONCE = RetryPolicy(max_attempts=1)


@dataclass(frozen=True)
class Mail:
    to: str
    copies: int = 1


@dataclass(frozen=True)
class Sent:
    letters: list[str]


@dataclass(frozen=True)
class Step:
    """A file that a handler writes to, so that tests see what it does, and for how long."""

    path: str
    seconds: float = 0.0


def note(step: Step, line: object) -> None:
    """Write a line that survives a SIGKILL of this process."""
    with Path(step.path).open("a", encoding="utf-8") as lines:
        lines.write(f"{line}\n")


@jobs.job("mail", queue="mail", priority=3, unique_key=lambda args: args.to, policy=SOON)
def send(args: Mail, run: Run) -> Sent:
    return Sent([f"{run.attempts}. to {args.to}"] * args.copies)


@jobs.job("nothing", policy=SOON)
def do_nothing() -> None:
    """What a job costs besides its work."""


@jobs.job("note", policy=SOON)
def write_note(step: Step, run: Run) -> None:
    note(step, f"{run.message_id} {run.attempts} {run.errors}")


@jobs.job("limited", policy=SOON, limit=lambda step: Limit(Path(step.path).name, to=2))
def write_limited(step: Step, run: Run) -> None:
    """Notes when it begins and when it ends."""
    note(step, f"+{run.message_id}")
    time.sleep(step.seconds)  # the work
    note(step, f"-{run.message_id}")


@jobs.job("print", policy=SOON)
def print_much() -> str:
    print("printed by a handler")
    os.write(1, b"written to descriptor 1 by a handler\n")
    logging.getLogger("handler").warning("logged by a handler")
    return "done"


@jobs.job("raise", policy=SOON)
def fail(step: Step) -> None:
    note(step, "raised")
    raise ValueError("this cannot be done")


@jobs.job("exit", policy=SOON)
def exit_politely() -> None:
    sys.exit("no more")


@jobs.job("segfault", policy=SOON)
def segfault(step: Step) -> None:
    note(step, "crashed")
    os.kill(os.getpid(), signal.SIGSEGV)


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("it has no words")


@jobs.job("mute", policy=SOON)
def raise_mute() -> None:
    """Raises what cannot be put in words."""
    raise Mute


@jobs.job("scream", policy=SOON)
def raise_much() -> None:
    """Raises more than anybody reads."""
    raise ValueError("a" * 1_000_000)


@jobs.job("scribble", policy=ONCE)
def write_anywhere() -> None:
    """Writes to every descriptor, as a program does that closed one twice."""
    for descriptor in range(3, 100):
        with suppress(OSError):
            os.write(descriptor, b"\0\0\0\5hello")


@jobs.job("fork", policy=SOON)
def fork() -> int:
    """Returns twice: here, and in a copy of this process, which has ended by then."""
    copy = os.fork()
    if copy:
        _, status = os.waitpid(copy, 0)
        return status
    return 5


@jobs.job("fork-exit", policy=SOON)
def fork_and_exit() -> int:
    copy = os.fork()
    if copy:
        _, status = os.waitpid(copy, 0)
        return status
    sys.exit(0)


@jobs.job("deserter", policy=ONCE, seconds=0.3)
def leave_the_group(step: Step) -> None:
    """Leaves its group of processes for that of the worker's."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.setpgid(0, os.getpgid(os.getppid()))
    _begin(step)
    time.sleep(60)  # until it is stopped


@jobs.job("stubborn", policy=ONCE, seconds=0.3)
def ignore_signals(step: Step) -> None:
    """Ignores SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _begin(step)
    time.sleep(60)  # until it is stopped
    note(step, "ended")


@jobs.job("c-loop", policy=ONCE, seconds=0.3)
def loop_in_c(step: Step) -> None:
    """Loops in C with the interpreter's lock held: no other Python code of the process runs."""
    _begin(step)
    sum(itertools.repeat(1))
    note(step, "ended")


@jobs.job("tidy", policy=ONCE, seconds=0.3)
def tidy_up(step: Step) -> None:
    _begin(step)
    try:
        time.sleep(60)  # until it is stopped
    finally:
        note(step, "tidied")


@jobs.job("stay", policy=SOON)
def stay(step: Step) -> None:
    """Never looks whether the worker stops."""
    _begin(step)
    try:
        time.sleep(60)  # until it is stopped
    finally:
        note(step, "interrupted")


@jobs.job("pid", policy=SOON)
def note_pid(step: Step) -> None:
    note(step, os.getpid())


@jobs.job("with-child", policy=SOON)
def start_a_process(step: Step) -> None:
    """Waits for a process of its own, as a handler that calls a program does."""
    _begin(step)
    with subprocess.Popen(["/bin/sleep", "60"]) as sleeping:
        note(step, sleeping.pid)


@jobs.job("wait", policy=SOON)
def wait(step: Step, run: Run) -> int:
    """Works on for some seconds, unless it is asked to end."""
    _begin(step)
    end = time.monotonic() + step.seconds
    while time.monotonic() < end:
        if run.is_stopping:
            note(step, "asked")
            raise InterruptedError("the worker stops")
        time.sleep(0.01)  # the work
    note(step, "ended")
    return run.attempts


@jobs.job("report", policy=SOON)
def report(step: Step, run: Run) -> int | None:
    for number in range(1000):
        run.progress(number, 1000, f"step {number}")
    run.progress(1000, 1000, "all done")
    note(step, run.job_id)
    return run.job_id


def _begin(step: Step) -> None:
    note(step, f"began {os.getpid()}")
