"""The process that runs handlers, one job at a time, as its worker tells it over a pipe.

It ends with its worker, whatever it is doing: the kernel sends SIGIO, which ends a process by
default, to the group of processes when the worker's end of the life pipe is closed.
"""

import faulthandler
import fcntl
import logging
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from sqlalchemy import Engine

from sakuin.queue.bury import MOST_REASON, MOST_TRACEBACK
from sakuin.queue.connect import open_engine
from sakuin.queue.errors import GiveUp, PayloadError
from sakuin.queue.jobs.job import check_result
from sakuin.queue.jobs.kind import BadTarget, Kind, Rules
from sakuin.queue.jobs.kinds import Jobs, load_jobs
from sakuin.queue.jobs.run import Order, Run

NO_ARGUMENTS = b"{}"
"""What an empty message says: plain SQL and batches need not know JSON for a kind without any."""


class Setup(NamedTuple):
    """What a child is told first. It ends by itself after `max_jobs`, or over `max_bytes`."""

    target: str
    database_url: str
    max_jobs: int | None
    max_bytes: int | None
    log_level: int = logging.WARNING


class Ready(NamedTuple):
    """The child's first answer: the kinds that it can run."""

    rules: Mapping[str, Rules]


class Broken(NamedTuple):
    """The child's first answer if there are no jobs to run."""

    reason: str


class Done(NamedTuple):
    """The handler returned. `is_last`: this child runs no more."""

    result: bytes | None
    seconds: float
    is_last: bool


class Failed(NamedTuple):
    """The handler raised. `is_refused`: it gave up, or its arguments did not fit: no other try."""

    reason: str
    traceback: str | None
    seconds: float
    is_last: bool
    is_refused: bool = False
    is_unfinished: bool = False


class Stopped(BaseException):
    """Raised in a handler that is told to stop now: its time is up, or the worker's."""


class _Child:
    def __init__(self, setup: Setup, jobs: Jobs) -> None:
        self._setup, self._jobs = setup, jobs
        self._id = os.getpid()
        self._engine: Engine | None = None
        self._is_working = False
        self._is_stopping = False
        self._count = 0

    def listen(self) -> None:
        """SIGUSR1 asks a handler to come to an end, SIGTERM interrupts it."""
        signal.signal(signal.SIGUSR1, self._ask)
        signal.signal(signal.SIGTERM, self._interrupt)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._is_stopping = True

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if not self._is_working:
            os._exit(0)
        raise Stopped("told to stop")

    def _open_engine(self) -> Engine:
        if self._engine is None:
            self._engine = open_engine(self._setup.database_url)
        return self._engine

    def work(self, order: Order) -> Done | Failed:
        """Run one job."""
        kind = self._jobs.get(order.kind)
        began = time.perf_counter()
        try:
            args = kind.args.decode(order.data or NO_ARGUMENTS)
        except PayloadError as error:
            return Failed(str(error), None, 0.0, self._is_last(), is_refused=True)
        run = Run(order, self._open_engine, lambda: self._is_stopping)
        try:
            self._is_working = True
            given = self._call(kind, args, run)
            result = None if kind.result is None else check_result(kind.result.encode(given))
            run.flush()
            self._is_working = False
        except BaseException as error:  # noqa: BLE001  sys.exit() in a handler is a failure too
            self._is_working = False
            text = _said(error)
            seconds = time.perf_counter() - began
            is_last = isinstance(error, Stopped) or self._is_last()
            refused = isinstance(error, GiveUp)
            return Failed(text, _trace(error), seconds, is_last, refused, run.was_told)
        return Done(result, time.perf_counter() - began, self._is_last())

    def _call(self, kind: Kind, args: Any, run: Run) -> Any:
        """Run the handler. A copy of us that it forked ends where the handler ends: one answers."""
        try:
            given = kind.call(args, run)
        except BaseException as error:
            if os.getpid() != self._id:
                is_well = isinstance(error, SystemExit) and not error.code
                os._exit(0 if is_well else 1)
            raise
        if os.getpid() != self._id:
            os._exit(0)
        return given

    def _is_last(self) -> bool:
        self._count += 1
        if self._setup.max_jobs is not None and self._count >= self._setup.max_jobs:
            return True
        return self._setup.max_bytes is not None and _rss_bytes() > self._setup.max_bytes


def main(channel_number: int, life_number: int) -> None:
    """Be a child: descriptors of the pipe for orders and answers, and of the life pipe."""
    _end_with_parent(life_number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the worker, which tells us
    faulthandler.enable()
    os.set_inheritable(channel_number, False)
    channel = Connection(channel_number)
    setup = channel.recv()
    logging.basicConfig(level=setup.log_level, format="%(asctime)s %(message)s")
    try:
        jobs = load_jobs(setup.target)
    except BadTarget as error:
        channel.send(Broken(str(error)))
        return
    child = _Child(setup, jobs)
    child.listen()
    channel.send(Ready(jobs.rules))
    while True:
        try:
            order = channel.recv()
        except EOFError:
            return
        answer = child.work(order)
        channel.send(answer)
        sys.stdout.flush()
        if answer.is_last:
            return


def _end_with_parent(life_number: int) -> None:
    os.set_inheritable(life_number, False)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(life_number, fcntl.F_SETOWN, -os.getpgrp())
    flags = fcntl.fcntl(life_number, fcntl.F_GETFL)
    fcntl.fcntl(life_number, fcntl.F_SETFL, flags | os.O_ASYNC)
    if select.select([life_number], [], [], 0)[0]:
        os._exit(1)  # it was closed before we listened


def _said(error: BaseException) -> str:
    """Return the error in words, no more than is kept. Its own code may fail at that."""
    try:
        text = str(error)
    except Exception as other:  # noqa: BLE001  whatever it is, the error is to be told
        text = f"(its text cannot be made: {type(other).__name__})"
    return f"{type(error).__name__}: {text}"[:MOST_REASON]


def _trace(error: BaseException) -> str:
    """Return the end of the traceback, without this module's own frame."""
    trace = error.__traceback__
    inner = trace and trace.tb_next
    whole = "".join(traceback.format_exception(type(error), error, inner or trace))
    return whole[-MOST_TRACEBACK:]


def _rss_bytes() -> int:
    """Return how much memory this process holds; where only the most is known (macOS), that."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * os.sysconf("SC_PAGE_SIZE")
