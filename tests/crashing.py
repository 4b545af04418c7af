"""Running `crash_worker.py` and reading what it tells, with a deadline."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Engine as Database

from crash_worker import Job

DEADLINE_SECONDS = 60.0
_PROGRAM = Path(__file__).with_name("crash_worker.py")


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that ended, with its exit code (minus the signal), or stopped, with the signal."""

    index: str
    pid: int
    end: int


class Crashing:
    """The running processes of some jobs."""

    def __init__(self, process: "subprocess.Popen[str]", jobs: int) -> None:
        self._process, self._jobs = process, jobs

    def wait(self, count: int | None = None) -> Mapping[str, Ended]:
        """Return the next `count` that ended or stopped, all unless told otherwise, by index."""
        ended: dict[str, Ended] = {}
        assert self._process.stdout
        while len(ended) < (count or self._jobs):
            line = self._process.stdout.readline()
            assert line, f"crash_worker.py ended after telling of {ended}"
            one = Ended(**json.loads(line))
            ended[one.index] = one
        return ended


@contextmanager
def crashing(database: Database, root: Path, *jobs: Job) -> Iterator[Crashing]:
    """Start the jobs; none of them outlives the block. What they log goes to `<root>/log`."""
    plan = {
        "url": database.url.render_as_string(hide_password=False),
        "root": str(root),
        "jobs": [asdict(job) for job in jobs],
    }
    with (root / "log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, str(_PROGRAM), json.dumps(plan)],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            process_group=0,
        )
    alarm = threading.Timer(DEADLINE_SECONDS, process.kill)
    alarm.start()
    try:
        yield Crashing(process, len(jobs))
    finally:
        alarm.cancel()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        print((root / "log").read_text())  # shown when the test fails
