"""One daemon, several indexes: one that is in trouble holds up no other; new ones are noticed."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from databases import until
from sakuin.app import worker as worker_module
from sakuin.app.assemble import Installation
from sakuin.app.attach import attach, plan
from sakuin.app.index_workers import IndexWorkers
from sakuin.app.plan_attach import Wanted
from sakuin.indexer.errors import IndexerError
from sakuin.queue import replay
from web import Web, serving


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as opened:
        yield opened


def installed(web: Web) -> Installation:
    found: Installation = web.client.app.state.installation  # type: ignore[attr-defined]
    return found


def run(web: Web, sql: str) -> None:
    replay(web.parts.database, lambda c: c.exec_driver_sql(sql))


def make(web: Web, *names: str) -> None:
    for name in names:
        run(web, f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, body TEXT)")
        attach(web.parts.database, plan(web.parts.database, Wanted(name, ("body",))))
        run(web, f"INSERT INTO {name} (body) VALUES ('夜')")


def found(web: Web, index: str) -> int:
    response = web.get("/api/v1/search", q="夜", index=index)
    return int(response.json()["total"]) if response.status_code == 200 else 0


def test_a_table_that_is_gone_holds_up_no_other_drain(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its error is raised when all others are drained."""
    monkeypatch.setattr(worker_module, "PATIENCE_SECONDS", 0.3)
    web.add("夜")
    make(web, "apples", "berries", "cherries")
    run(web, "ALTER TABLE apples RENAME TO elsewhere")
    with pytest.raises(IndexerError, match="apples"):
        IndexWorkers(installed(web)).drain()
    assert [found(web, name) for name in ("paragraphs", "berries", "cherries")] == [1, 1, 1]


def test_a_daemon_notices_what_is_attached_and_detached(web: Web) -> None:
    """And a table that is gone stops nothing but its own index."""
    make(web, "apples")
    workers = IndexWorkers(installed(web))
    daemon = threading.Thread(target=workers.run)
    before = set(threading.enumerate())
    daemon.start()
    try:
        until(lambda: found(web, "apples") == 1)
        run(web, "ALTER TABLE apples RENAME TO elsewhere")
        make(web, "berries")
        until(lambda: found(web, "berries") == 1)
        web.add("夜")
        until(lambda: found(web, "paragraphs") == 1)
    finally:
        workers.stop.set()
        daemon.join(30)
    assert not daemon.is_alive()
    assert not [one.name for one in threading.enumerate() if one not in before and not one.daemon]
