"""Jobs that the tests of whole plans run: each writes a line to the file that it is told."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from sakuin.queue.jobs import Jobs, Run

jobs = Jobs()


@dataclass(frozen=True, slots=True)
class Line:
    """What to write, and the file that has to be there before the job ends, if any."""

    output: str
    word: str
    gate: str | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """Where to write that a message was delivered."""

    output: str


@jobs.job("mark")
def mark(to: Mark, run: Run) -> None:
    """Write the message's id and the worker that had it delivered."""
    with Path(to.output).open("ab", buffering=0) as output:
        output.write(f"C {run.message_id} {os.getppid()}\n".encode())
    time.sleep(0.001)  # work: a moment in which it may be killed


@jobs.job("line")
def write_line(line: Line, run: Run) -> None:
    """Write that it begins, wait for the gate, write that it ends."""
    with Path(line.output).open("ab", buffering=0) as output:
        output.write(f"begin-{line.word} {os.getppid()} {os.getpid()}\n".encode())
        while line.gate and not Path(line.gate).exists():
            time.sleep(0.01)  # a long job
        output.write(f"end-{line.word} {os.getppid()} {os.getpid()}\n".encode())
