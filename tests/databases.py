"""Fresh databases for tests: a file of its own, or a schema of its own on one server."""

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, make_url

from sakuin.app.private_mariadb import PrivateServer, private_mariadb
from sakuin.queue import Message, claim, open_engine, push, read, replay
from sakuin.queue.dialect import dialect_of, execute

KINDS = ("sqlite", "mariadb")
SERVER_VARIABLE = "SAKUIN_TEST_DATABASE_URL"
DEADLINE_SECONDS = 30


@dataclass(slots=True)
class Servers:
    """The servers of one test session, started when first asked for, stopped at the end."""

    given_url: str | None
    must_run: bool
    _stack: ExitStack = field(default_factory=ExitStack)
    _started: PrivateServer | None = None

    def url(self) -> str:
        """The address of the server for ordinary tests; skips where there can be none."""
        return self.given_url or self.private().url

    def private(self) -> PrivateServer:
        """The session's private server; skips where no server program is installed."""
        if self._started is None:
            self.need_program()
            self._started = self._stack.enter_context(private_mariadb())
        return self._started

    def need_program(self) -> None:
        """Skip, or in CI fail, where no server program is installed."""
        places = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin"))
        if shutil.which("mariadbd", path=places) is not None:
            return
        reason = "MariaDB not tested: no mariadbd here; apt-get install mariadb-server"
        if self.must_run:
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)

    def close(self) -> None:
        """Stop what was started."""
        self._stack.close()


@contextmanager
def fresh_schema(server_url: str) -> Iterator[str]:
    """Give the address of a new empty schema on the server, and drop it afterwards."""
    name = f"sakuin_test_{secrets.token_hex(6)}"
    admin = open_engine(server_url)
    try:
        replay(admin, lambda connection: connection.exec_driver_sql(f"CREATE DATABASE {name}"))
        url = make_url(server_url).set(database=name)
        yield url.render_as_string(hide_password=False)
        replay(admin, lambda connection: connection.exec_driver_sql(f"DROP DATABASE {name}"))
    finally:
        admin.dispose()


@contextmanager
def fresh_database(kind: str, folder: Path, servers: Servers) -> Iterator[str]:
    """Give the address of an empty database of this kind."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'test.db'}"
        return
    with fresh_schema(servers.url()) as url:
        yield url


def push_all(engine: Engine, queue: str, *datas: bytes) -> list[int]:
    """Push each of the datas in a transaction of its own, in order, and return the ids."""
    ids = []
    for data in datas:
        with engine.begin() as connection:
            ids.append(push(connection, queue, data))
    return ids


def claim_one(engine: Engine, queue: str = "q") -> Message:
    """Claim exactly one message."""
    (message,) = claim(engine, queue, limit=1, lease_seconds=60)
    return message


def claimed(engine: Engine, queue: str = "q", limit: int = 1000) -> list[bytes]:
    """Claim all that is ready and return the datas in their order."""
    return [one.data for one in claim(engine, queue, limit=limit, lease_seconds=60)]


def expire(engine: Engine, *ids: int, seconds: float = -1.0) -> None:
    """Travel in time: what these messages wait for happens `seconds` from now (ago)."""
    replay(
        engine,
        lambda connection: execute(
            connection,
            "UPDATE sakuin_messages SET locked_until = {later} WHERE id IN ({ids})",
            dialect_of(connection).shift(seconds),
            ids=ids,
        ),
    )


def until(is_so: Callable[[], object]) -> None:
    """Poll until it is so, or fail."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)  # between two looks, not instead of one


def row(engine: Engine, message_id: int) -> dict[str, Any] | None:
    """Return the message's row as the database holds it."""
    sql = "SELECT * FROM sakuin_messages WHERE id = ?"
    found = read(engine, lambda connection: execute(connection, sql, message_id).mappings().all())
    return dict(found[0]) if found else None
