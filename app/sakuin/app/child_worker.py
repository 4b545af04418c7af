"""A worker as a child process of a serving command; when it dies it is started again."""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sakuin.app.settings import Settings, as_environment

_LOG = logging.getLogger("sakuin.serve")
_END_SECONDS = 15.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 30.0
_HEALTHY_SECONDS = 10.0
"""Who lived so long has earned the short pause again."""


@contextmanager
def child_worker(settings: Settings) -> Iterator[None]:
    """Run `sakuin worker` with these settings while the block runs.

    Killed, or fallen over a document, it is started again after a pause that grows. It ends by
    itself when this process dies, however it dies: its input is a pipe of ours.
    """
    ending = threading.Event()
    child = _start(settings)
    watching = threading.Thread(target=_watch, args=(settings, child, ending), daemon=True)
    watching.start()
    try:
        yield
    finally:
        ending.set()
        watching.join()


def _watch(settings: Settings, child: subprocess.Popen[bytes], ending: threading.Event) -> None:
    pause_seconds = _FIRST_PAUSE_SECONDS
    while True:
        started_at = time.monotonic()
        while child.poll() is None and not ending.wait(0.1):
            pass
        if ending.is_set():
            _end(child)
            return
        if time.monotonic() - started_at > _HEALTHY_SECONDS:
            pause_seconds = _FIRST_PAUSE_SECONDS
        _LOG.warning(
            "the worker ended with %s; starting it again in %g s", child.returncode, pause_seconds
        )
        _end(child)
        if ending.wait(pause_seconds):
            return
        pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)
        child = _start(settings)


def _start(settings: Settings) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sakuin.app", "worker", "--quiet", "--stop-with-parent"]
    return subprocess.Popen(  # noqa: S603  our own interpreter and arguments
        command,
        stdin=subprocess.PIPE,
        env={**os.environ, **as_environment(settings)},
        start_new_session=True,  # Ctrl-C reaches us alone; we then end it in order
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if child.stdin:
        child.stdin.close()
