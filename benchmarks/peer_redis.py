"""A Redis server of our own, which flushes every change, and a word with it."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
START_SECONDS = 10.0
_STOP_SECONDS = 10.0


@contextmanager
def private_redis() -> Iterator[int]:
    """Run a server on a free port of 127.0.0.1 while the block runs; gives the port.

    Raises FileNotFoundError where there is none, TimeoutError if it does not answer.
    """
    program = shutil.which("redis-server")
    if program is None:
        raise FileNotFoundError("redis-server is not installed: apt-get install redis-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="sakuin-redis-") as folder:
        process = subprocess.Popen(
            [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", folder, *DURABLE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait(process, port)
            yield port
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with RedisNumbers(port) as redis:
                redis.ask("DBSIZE")
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise TimeoutError(f"redis-server does not answer on port {port}") from None
            time.sleep(0.02)  # between two looks
        else:
            return


class RedisNumbers:
    """A connection for commands that answer with a number each."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> "RedisNumbers":
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.close()
        self._socket.close()

    def ask(self, *commands: str) -> list[int]:
        """Send all at once, and return the numbers."""
        self._socket.sendall("".join(f"{one}\r\n" for one in commands).encode())
        lines = [self._answers.readline() for _ in commands]
        for command, line in zip(commands, lines, strict=True):
            if not line.startswith(b":"):
                raise OSError(f"{command}: redis answers {line!r}")
        return [int(line[1:]) for line in lines]
