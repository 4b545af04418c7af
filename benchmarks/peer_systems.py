"""The systems of the comparison, with the same few acts: put jobs in, work, count what is left.

What is asked of the server while the clock runs is cheap: whether anything is left.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy import Engine, text

from peer_redis import RedisNumbers
from queue_sustained import empty
from sakuin.queue import push_many, replay

HERE = Path(__file__).parent
DATABASE = "peer_dj_queue"


class System(Protocol):
    """A queue with workers, as the comparison sees it."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    def put(self, count: int) -> None:
        """Leave nothing of former runs, and put so many jobs in."""

    def command(self, workers: int) -> list[str]:
        """Return the command that works with so many processes until SIGTERM."""

    def left(self) -> int:
        """Count the jobs that are not done."""

    def is_done(self) -> bool:
        """Tell whether none is left."""

    def check(self, count: int) -> None:
        """Raise SystemExit unless so many ended well, as far as the system can tell."""


@dataclass(frozen=True, slots=True)
class Ours:
    """Sakuin's worker, with at most `batch` messages a claim."""

    engine: Engine
    batch: int

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"ours, {self.batch} a claim"

    def put(self, count: int) -> None:
        """Push messages that have a kind."""
        empty(self.engine)
        datas = (b"{}" for _ in range(count))
        replay(self.engine, lambda on: push_many(on, "default", datas, kind="nothing"))

    def command(self, workers: int) -> list[str]:
        """Return the command of one worker with so many children."""
        url = self.engine.url.render_as_string(hide_password=False)
        return [sys.executable, "peer_sakuin.py", url, str(workers), str(self.batch)]

    def left(self) -> int:
        """Count the messages: an ack deletes one."""
        return _number(self.engine, "SELECT COUNT(*) FROM sakuin_messages")

    def is_done(self) -> bool:
        """Tell whether the table is empty."""
        return _number(self.engine, "SELECT EXISTS (SELECT 1 FROM sakuin_messages)") == 0

    def check(self, count: int) -> None:
        """See that none went to the dead list (what is done is deleted, and not counted)."""
        _expect(self.name, 0, _number(self.engine, "SELECT COUNT(*) FROM sakuin_dead"), count)


@dataclass(frozen=True, slots=True)
class CeleryOnRedis:
    """Celery's prefork worker."""

    python: str
    version: str
    port: int

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"celery {self.version} on redis"

    @property
    def _broker(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def put(self, count: int) -> None:
        """Send each by itself: Celery has no other way."""
        _run([self.python, "peer_celery.py", self._broker, str(count)])

    def command(self, workers: int) -> list[str]:
        """Return the command of one worker with so many children."""
        start = [self.python, "-m", "celery", "-A", "peer_celery", "-b", self._broker]
        return [*start, "worker", "-P", "prefork", "-c", str(workers)]

    def left(self) -> int:
        """Count what waits in the list, and what was taken and is not acked."""
        with RedisNumbers(self.port) as redis:
            return sum(redis.ask("LLEN celery", "HLEN unacked"))

    def is_done(self) -> bool:
        """Tell it from two looks: a message is for a moment in neither place."""
        return self.left() == 0 and self.left() == 0

    def check(self, count: int) -> None:
        """Nothing can be asked: results are ignored. The worker's log is looked at instead."""


@dataclass(frozen=True, slots=True)
class DjQueue:
    """dj-queue's supervisor and workers, on the MariaDB server that ours is on."""

    python: str
    version: str
    engine: Engine
    settings: Path

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"dj-queue {self.version} on MariaDB"

    def prepare(self) -> None:
        """Make the database, and its tables by Django's migrations."""
        url = self.engine.url
        content = {
            "ENGINE": "django.db.backends.mysql",
            "NAME": DATABASE,
            "HOST": url.host,
            "PORT": url.port,
            "USER": url.username,
            "PASSWORD": url.password,
        }
        self.settings.touch(mode=0o600)
        self.settings.write_text(json.dumps(content), encoding="utf-8")
        with self.engine.begin() as on:
            on.execute(text(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4"))
        _run([*self._program(), "migrate", "1"])

    def put(self, count: int) -> None:
        """Enqueue in calls of a thousand."""
        with self.engine.begin() as on:
            on.execute(text("SET FOREIGN_KEY_CHECKS = 0"))
            for table in ("jobs", "ready_executions", "claimed_executions", "failed_executions"):
                on.execute(text(f"TRUNCATE TABLE {DATABASE}.dj_queue_{table}"))
            on.execute(text("SET FOREIGN_KEY_CHECKS = 1"))
        _run([*self._program(), "put", str(count)])

    def command(self, workers: int) -> list[str]:
        """Return the command of a supervisor with so many processes of three threads."""
        return [*self._program(), "work", str(workers)]

    def left(self) -> int:
        """Count what is ready, and what is claimed and not done."""
        ready, claimed = (f"{DATABASE}.dj_queue_{one}_executions" for one in ("ready", "claimed"))
        sql = f"SELECT (SELECT COUNT(*) FROM {ready}) + (SELECT COUNT(*) FROM {claimed})"
        return _number(self.engine, sql)

    def is_done(self) -> bool:
        """Tell whether nothing is ready or claimed."""
        ready, claimed = (f"{DATABASE}.dj_queue_{one}_executions" for one in ("ready", "claimed"))
        sql = f"SELECT EXISTS (SELECT 1 FROM {ready}) OR EXISTS (SELECT 1 FROM {claimed})"
        return _number(self.engine, sql) == 0

    def check(self, count: int) -> None:
        """See that all are finished, and none has failed."""
        jobs, failed = (f"{DATABASE}.dj_queue_{one}" for one in ("jobs", "failed_executions"))
        sql = f"SELECT COUNT(*) FROM {jobs} WHERE finished_at IS NOT NULL"
        _expect(self.name, count, _number(self.engine, sql), count)
        _expect(self.name, 0, _number(self.engine, f"SELECT COUNT(*) FROM {failed}"), count)

    def _program(self) -> list[str]:
        return [self.python, "peer_dj_queue.py", str(self.settings)]


def version_of(python: str | None, package: str) -> str | None:
    """Return the version that an interpreter has of a package; None if either is missing."""
    if python is None:
        return None
    program = f"import importlib.metadata as m; print(m.version({package!r}))"
    try:
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[1]} failed:\n{done.stderr[-2_000:]}")


def _number(engine: Engine, sql: str) -> int:
    with engine.connect() as on:
        return int(on.execute(text(sql)).scalar_one())


def _expect(name: str, wanted: int, found: int, count: int) -> None:
    if found != wanted:
        raise SystemExit(f"{name}: of {count} jobs, {found} where {wanted} were expected")
