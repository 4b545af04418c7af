"""The web while the database is away, hangs, or something unexpected happens."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from databases import Servers, fresh_schema
from sakuin.app.main import create_app
from sakuin.app.private_mariadb import private_mariadb
from sakuin.app.settings import read_settings
from web import Web, serving

AWAY = "mysql+pymysql://u:secret@127.0.0.1:1/s"


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    """A data folder whose index holds one paragraph."""
    with serving(tmp_path, f"sqlite:///{tmp_path / 'test.db'}") as web:
        web.add("人間")
        web.drain()
    return tmp_path


def client_of(folder: Path, url: str, **flags: object) -> TestClient:
    settings = read_settings({"data_dir": folder, "database_url": url, **flags}, {}, folder)
    return TestClient(create_app(settings), raise_server_exceptions=False)


def test_database_away_searches_go_on_and_saves_are_503(indexed: Path) -> None:
    """S6, Q6: results with a notice; a save answers 503 with Retry-After and stores nothing."""
    with client_of(indexed, AWAY) as client:
        page = client.get("/search?q=人間")
        assert page.status_code == 200
        assert "<mark>人間</mark>" in page.text
        answer = client.get("/api/v1/search?q=人間").json()
        assert (answer["total"], answer["waiting"]) == (1, None)
        for method, path in (
            ("POST", "/api/v1/paragraphs"),
            ("PUT", "/api/v1/paragraphs/1"),
            ("DELETE", "/api/v1/paragraphs/1"),
            ("GET", "/api/v1/paragraphs/1"),
            ("POST", "/add"),
            ("GET", "/paragraphs/1"),
        ):
            content = {"body": "x"} if path.startswith("/api") else None
            response = client.request(method, path, json=content, data={"body": "x"})
            assert response.status_code in (503, 422), (path, response.text)
            assert "secret" not in response.text
        stored = client.post("/api/v1/paragraphs", json={"body": "x"})
        assert stored.status_code == 503
        assert stored.headers["retry-after"]
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["database"]) == (200, "away")
        assert client.get("/metrics").status_code == 200


def test_a_hanging_database_stops_no_search(tmp_path: Path, servers: Servers) -> None:
    """S6: a server that takes connections and says nothing costs one short time-out."""
    servers.need_program()
    with (
        private_mariadb(tmp_path / "server") as server,
        fresh_schema(server.url) as url,
        serving(tmp_path, url) as web,
    ):
        web.add("人間")
        web.drain()
        savers: list[threading.Thread] = []
        os.kill(server.pid, signal.SIGSTOP)
        try:
            start = time.monotonic()
            assert web.get("/api/v1/search", q="人間").json()["total"] == 1
            for path in ("/search?q=人間", "/", "/add", "/metrics", "/readyz"):
                assert web.get(path).status_code == 200
            assert time.monotonic() - start < 10
            form = {"data": {"body": "x"}}
            savers = [
                threading.Thread(target=web.client.post, args=("/add",), kwargs=form)
                for _ in range(60)
            ]
            for saver in savers:
                saver.start()
            start = time.monotonic()
            assert web.get("/api/v1/search", q="人間").json()["total"] == 1
            assert time.monotonic() - start < 5
        finally:
            os.kill(server.pid, signal.SIGCONT)
            for saver in savers:
                saver.join()


def test_a_damaged_index_is_503_and_not_ready(indexed: Path) -> None:
    for manifest in (indexed / "index" / "paragraphs").glob("gen-*/manifest.json"):
        manifest.write_text("{")
    with client_of(indexed, f"sqlite:///{indexed / 'test.db'}") as client:
        assert client.get("/api/v1/search?q=x").status_code == 503
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert client.get("/metrics").status_code == 200


def test_the_unexpected_is_a_plain_500_with_the_guard(indexed: Path) -> None:
    settings = read_settings({"data_dir": indexed, "root_path": "/books"}, {}, indexed)
    app = create_app(settings)

    @app.get("/api/v1/boom")
    def boom() -> None:
        raise ZeroDivisionError("a secret detail")

    with TestClient(app, raise_server_exceptions=False) as client:
        response = client.get("/api/v1/boom")
    assert response.status_code == 500
    assert response.json()["request_id"]
    assert "secret" not in response.text
    assert "content-security-policy" in response.headers


def test_another_sites_origin_is_refused_whatever_it_is(indexed: Path) -> None:
    with client_of(indexed, AWAY) as client:
        for origin in ("http://[", "null", "https://elsewhere.example", "\xff"):
            headers = [(b"origin", origin.encode("latin-1"))]
            answer = client.post("/api/v1/paragraphs", json={"body": "x"}, headers=headers)
            assert answer.status_code == 403, origin


def test_a_bulk_line_with_any_key_is_told_and_the_others_are_stored(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'test.db'}") as web:
        content = b'{"\\ud800": 1}\n{"body": "ok"}\n'
        answer = web.client.post("/api/v1/paragraphs/bulk", content=content)
        assert answer.status_code == 202
        assert answer.json()["saved"] == 1
        assert [each["line"] for each in answer.json()["refused"]] == [1]


def test_many_add_to_one_source_at_once(tmp_path: Path, database_url: str) -> None:
    """No save fails because others save: 24 threads, one source."""
    with serving(tmp_path, database_url) as web:
        codes: list[int] = []

        def add(web: Web = web) -> None:
            for _ in range(5):
                answer = web.client.post("/api/v1/paragraphs", json={"body": "人間"})
                codes.append(answer.status_code)

        threads = [threading.Thread(target=add) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert codes == [202] * 120


def test_a_body_of_a_mebibyte_comes_through_the_form(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'test.db'}") as web:
        body = "界" * ((1 << 20) // 3)
        assert web.client.post("/add", data={"body": body}).status_code == 303
        assert web.get("/api/v1/paragraphs/1").json()["body"] == body
        assert web.client.post("/add", data={"body": body + "界"}).status_code == 422
