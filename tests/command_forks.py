"""Runs `sakuin` commands in processes that are forked from one which has imported it already.

Each command is a process of its own, with its own folder, variables and streams, and runs `main` to
its exit code: all but the second that an interpreter needs to import everything.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

OWN_START = ("PYTHON", "LC_", "LANG", "SAKUIN_MODELS", "NO_COLOR", "FORCE_COLOR")
"""Variables that Python, or a module as it is imported, reads once: they need an own start."""

MESSAGE_BYTES = 1 << 20


class Forks:
    """The process that forks, started when it is first asked for."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel = ours
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()]
            )
        atexit.register(self.close)

    def start(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str], fds: list[int]
    ) -> socket.socket:
        """Start a command with these three streams; its exit code comes by the socket returned."""
        ours, theirs = socket.socketpair()
        order = json.dumps([list(arguments), str(folder), dict(variables)]).encode()
        with theirs:
            socket.send_fds(self._channel, [order], [*fds, theirs.fileno()])
        return ours

    def close(self) -> None:
        """End the process that forks."""
        self._channel.close()
        self._process.wait()


def main() -> None:
    """Fork for every order, until the other end of the channel is closed."""
    import sakuin.app.cli  # noqa: F401 - this is what the commands need not import

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    channel = socket.socket(fileno=int(sys.argv[1]))
    while True:
        order, fds, _, _ = socket.recv_fds(channel, MESSAGE_BYTES, 4)
        if not order:
            return
        if os.fork() == 0:
            channel.close()
            tell(json.loads(order), fds)
        for descriptor in fds:
            os.close(descriptor)


def tell(order: Any, fds: list[int]) -> None:
    """Run the order in a child of ours, and tell its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        run(order, fds)
    for descriptor in fds[:3]:
        os.close(descriptor)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):  # nobody listens any more
        os.write(fds[3], str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def run(order: Any, fds: list[int]) -> None:
    """Be the command: as `python -m sakuin.app`, with these streams."""
    arguments, folder, variables = order
    for number in range(3):
        os.dup2(fds[number], number)
    for descriptor in fds:
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["sakuin", *arguments]
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(0, "r", encoding="utf-8", errors="surrogateescape"),
        os.fdopen(1, "w", encoding="utf-8"),
        os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1),
    )
    from sakuin.app.entry import main as command

    command()


if __name__ == "__main__":
    main()
