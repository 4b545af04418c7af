"""A worker as a child process of a command that serves or demonstrates."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sakuin.app.settings import Settings, as_environment

_END_SECONDS = 15.0


@contextmanager
def child_worker(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """Run `sakuin worker` with these settings while the block runs.

    It also ends by itself when this process dies, however it dies: its input is a pipe of ours.
    """
    command = [sys.executable, "-m", "sakuin.app", "worker", "--quiet", "--stop-with-parent"]
    process = subprocess.Popen(  # noqa: S603  our own interpreter and arguments
        command,
        stdin=subprocess.PIPE,
        env={**os.environ, **as_environment(settings)},
        start_new_session=True,  # Ctrl-C reaches us alone; we then end it in order
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin:
            process.stdin.close()
