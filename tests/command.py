"""The `sakuin` command as a real process in a folder of its own."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from command_forks import OWN_START, Forks

PROGRAM = (sys.executable, "-m", "sakuin.app")
_DEADLINE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Command:
    """Runs commands with these variables; the folder is also the working directory."""

    folder: Path
    variables: dict[str, str]

    def run(self, *arguments: str, code: int = 0, text: str | None = None) -> str:
        """Run to the end, demand the exit code, and return standard output."""
        done = self.finish(*arguments, text=text)
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stderr}"
        return done.stdout

    def finish(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run to the end and return everything."""
        if any(name.startswith(OWN_START) for name in self.variables):
            done = subprocess.run(
                [*PROGRAM, *arguments],
                cwd=self.folder,
                env=self._environment(),
                input=text,
                capture_output=True,
                text=True,
                timeout=_DEADLINE_SECONDS,
                check=False,
            )
        else:
            done = self._fork(arguments, text)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def _fork(self, arguments: Sequence[str], text: str | None) -> subprocess.CompletedProcess[str]:
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write((text or "").encode())
            given.seek(0)
            streams = [given.fileno(), out.fileno(), err.fileno()]
            with _forks().start(arguments, self.folder, self._environment(), streams) as ended:
                ended.settimeout(_DEADLINE_SECONDS)
                code = int(ended.recv(16))
            out.seek(0)
            err.seek(0)
            said = (out.read().decode(), err.read().decode())
            return subprocess.CompletedProcess([*arguments], code, *said)

    def json(self, *arguments: str) -> Any:
        """Run with --json and return what it printed."""
        return json.loads(self.run(*arguments, "--json"))

    @contextmanager
    def start(self, *arguments: str) -> Iterator["Running"]:
        """Run in the background; what is left of it at the end is killed."""
        process = subprocess.Popen(
            [*PROGRAM, *arguments],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            yield Running(process)
        finally:
            process.kill()
            process.communicate()

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self.variables, "TERM": "dumb", "COLUMNS": "120"}


@cache
def _forks() -> Forks:
    return Forks()


class Running:
    """A command that runs in the background."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._seen = b""
        self._read = 0

    @property
    def pid(self) -> int:
        """The process's id."""
        return self.process.pid

    def wait_for_line(self, pattern: str) -> re.Match[str]:
        """Read its standard error until a further line matches."""
        assert self.process.stderr is not None
        descriptor = self.process.stderr.fileno()
        end = time.monotonic() + _DEADLINE_SECONDS
        while True:
            while (stop := self._seen.find(b"\n", self._read)) >= 0:
                line, self._read = self._seen[self._read : stop].decode(), stop + 1
                if found := re.search(pattern, line):
                    return found
            ready, _, _ = select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
            more = os.read(descriptor, 65536) if ready else b""
            if not more:
                raise AssertionError(f"no line like {pattern!r} in:\n{self._seen.decode()}")
            self._seen += more

    def end(self, how: signal.Signals) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(how)
        return self.process.wait(_DEADLINE_SECONDS)
