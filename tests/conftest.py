"""Fixtures for every test: a clean environment, fresh databases, and the stress switch."""

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine

from databases import KINDS, SERVER_VARIABLE, Servers, fresh_database
from sakuin.queue import create_schema, open_engine

_GIVEN_URL = os.environ.get(SERVER_VARIABLE)
_IS_STRESS = os.environ.get("SAKUIN_STRESS") == "1"
_SEED = os.environ.get("SAKUIN_SEED")


@dataclass(frozen=True, slots=True)
class Stress:
    """How long the long proofs run: whole with SAKUIN_STRESS=1, otherwise a seeded tenth."""

    is_whole: bool
    seed: int

    def count(self, whole: int) -> int:
        """Return `whole`, or a tenth of it and at least one."""
        return whole if self.is_whole else max(1, whole // 10)

    def random(self) -> random.Random:
        """Return a generator with the printed seed."""
        return random.Random(self.seed)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer reaches a test."""
    for name in list(os.environ):
        if name.startswith("SAKUIN_"):
            monkeypatch.delenv(name)


def pytest_configure() -> None:
    """A busy machine fails no random trial: how long its texts take to make says nothing."""
    settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("busy")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI what was skipped was not tested: that is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def stress() -> Stress:
    """The stress switch. SAKUIN_SEED=n replays a failed run (the seed is printed)."""
    seed = int(_SEED) if _SEED else random.SystemRandom().randrange(2**32)
    print(f"replay with SAKUIN_SEED={seed}" + " SAKUIN_STRESS=1" * _IS_STRESS)
    return Stress(is_whole=_IS_STRESS, seed=seed)


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The MariaDB server of the session."""
    servers = Servers(given_url=_GIVEN_URL, must_run=bool(os.environ.get("CI")))
    yield servers
    servers.close()


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    """The kinds of database, one after another."""
    kind: str = request.param
    return kind


@pytest.fixture
def database_url(database_kind: str, tmp_path: Path, servers: Servers) -> Iterator[str]:
    """The address of an empty database of its own."""
    with fresh_database(database_kind, tmp_path, servers) as url:
        yield url


@pytest.fixture
def mariadb_url(tmp_path: Path, servers: Servers) -> Iterator[str]:
    """The address of an empty MariaDB/MySQL database of its own."""
    with fresh_database("mariadb", tmp_path, servers) as url:
        yield url


@pytest.fixture
def open_database() -> Iterator[Callable[[str], Engine]]:
    """Open engines that are disposed of when the test ends."""
    engines: list[Engine] = []

    def open_one(url: str) -> Engine:
        engines.append(open_engine(url))
        return engines[-1]

    yield open_one
    for engine in engines:
        engine.dispose()


@pytest.fixture
def engine(database_url: str, open_database: Callable[[str], Engine]) -> Engine:
    """An engine on an empty database with the queue's tables."""
    engine = open_database(database_url)
    create_schema(engine)
    return engine
