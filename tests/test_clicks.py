"""Links that count clicks lead to the document's own address, and nowhere else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from sakuin.app.asked import Asked
from sakuin.app.clicks import click_router, click_url
from sakuin.app.main import create_app
from sakuin.app.search_log import SearchLog, open_impatiently
from sakuin.app.settings import read_settings
from sakuin.queue import read
from web import Web, serving


def mount(app: FastAPI) -> None:
    """Give the application the router, unless it has it already."""
    if "/click" not in {getattr(route, "path", "") for route in app.routes}:
        app.include_router(click_router)


@contextmanager
def opened_log(url: str) -> Iterator[SearchLog]:
    """Lend a log that writes when it is told to."""
    engine = open_impatiently(url)
    yield SearchLog(engine, days=30, most=1_000)
    engine.dispose()


@pytest.fixture
def web(tmp_path: Path, database_url: str) -> Iterator[Web]:
    """An application with a log and three paragraphs."""
    with serving(tmp_path, database_url, search_log=True) as web:
        app = web.client.app
        assert isinstance(app, FastAPI)
        mount(app)
        for body in ("人間は考える", "人間と機械", "残酷な話"):
            web.add(body)
        web.drain()
        with opened_log(database_url) as app.state.search_log:
            yield web


def log_in(web: Web) -> SearchLog:
    app = web.client.app
    assert isinstance(app, FastAPI)
    log: SearchLog = app.state.search_log
    return log


def clicks(web: Web) -> list[tuple[str, str, int]]:
    """Return (query, document, clicks) as the tables say."""
    sql = (
        "SELECT s.query, c.document, c.clicks FROM sakuin_searches s "
        "JOIN sakuin_clicks c ON c.search_id = s.id ORDER BY s.query, c.document"
    )
    return [tuple(row) for row in read(web.parts.database, lambda c: c.exec_driver_sql(sql).all())]


def test_a_click_leads_on_and_counts(web: Web) -> None:
    log = log_in(web)
    log.note("paragraphs", Asked(text="人間"), 2)
    for _ in range(3):
        answer = web.client.get(click_url("", "paragraphs", "2", "人間", 2))
        assert (answer.status_code, answer.headers["location"]) == (303, "/paragraphs/2")
        assert answer.headers["cache-control"] == "no-store"
    assert log.flush()
    assert clicks(web) == [("人間", "2", 1)]  # three times within a second are one


def test_nobody_can_make_it_lead_elsewhere(web: Web) -> None:
    """The address is the collection's own, whatever else the link says; unknown ids are 404."""
    for more in ("&url=https://evil.example/", "&next=//evil.example", "&index=paragraphs"):
        answer = web.client.get(click_url("", "paragraphs", "1", "人間", 1) + more)
        assert answer.headers["location"] == "/paragraphs/1"
    for wrong in ("9", "//evil.example", "https://evil.example/", "../1", "1\0", "1 "):
        answer = web.client.get(click_url("", "paragraphs", wrong, "人間", 1))
        assert answer.status_code == 404, wrong
        assert "location" not in answer.headers
    assert web.client.get("/click?id=1&index=%2F%2Fevil.example").status_code == 422
    assert web.client.get("/click").status_code == 422
    for number in ("0", "-1", "x", "99999999999"):
        assert web.client.get(f"/click?id=1&n={number}").status_code == 422


def test_a_click_counts_only_for_a_search_that_was_logged(web: Web) -> None:
    """Nothing is made up, and nothing counted that another site or a browser's guess sent."""
    log = log_in(web)
    log.note("paragraphs", Asked(text="人間"), 2)
    for query in ("機械", "人間 ", "taro@example.com", "あ" * 5_000):
        answer = web.client.get(click_url("", "paragraphs", "1", query, 1))
        assert answer.headers["location"] == "/paragraphs/1"
    url = click_url("", "paragraphs", "1", "人間", 1)
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-origin", "Sec-Purpose": "prefetch"},
        {"Purpose": "prefetch"},
    ):
        assert web.client.get(url, headers=headers).status_code == 303
    assert log.flush()
    assert clicks(web) == []
    web.client.get(url, headers={"Sec-Fetch-Site": "same-origin"})
    assert log.flush()
    assert clicks(web) == [("人間", "1", 1)]


def test_it_leads_on_without_a_log(web: Web) -> None:
    """Links of a page that was made while the log was on."""
    app = web.client.app
    assert isinstance(app, FastAPI)
    del app.state.search_log
    answer = web.client.get(click_url("", "paragraphs", "3", "残酷", 1))
    assert (answer.status_code, answer.headers["location"]) == (303, "/paragraphs/3")


def test_it_leads_on_while_the_database_is_away(tmp_path: Path) -> None:
    """S6: the index tells the address; the click is dropped, and that is all."""
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as web:
        web.add("人間")
        web.drain()
    away = {"database_url": "mysql+pymysql://u:p@127.0.0.1:1/s", "search_log": True}
    settings = read_settings({"data_dir": tmp_path, **away}, {}, tmp_path)
    app = create_app(settings)
    mount(app)
    with (
        opened_log(settings.database_url) as log,
        TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client,
    ):
        app.state.search_log = log
        answer = client.get(click_url("", "paragraphs", "1", "人間", 1))
        assert (answer.status_code, answer.headers["location"]) == (303, "/paragraphs/1")
        assert not log.flush()
        assert log.dropped == 1


def test_below_a_root_path(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}", root_path="/books") as web:
        app = web.client.app
        assert isinstance(app, FastAPI)
        mount(app)
        web.client.post("/books/api/v1/paragraphs", json={"body": "人間"})
        web.drain()
        answer = web.client.get(click_url("/books", "paragraphs", "1", "人間", 1))
        assert (answer.status_code, answer.headers["location"]) == (303, "/books/paragraphs/1")


@pytest.mark.parametrize("mode", ["exact", "closest"])
def test_the_link_says_what_the_click_counts_for(mode: str) -> None:
    """Ids of several columns, signs of addresses and any script go through."""
    url = click_url("/books", "articles", '["a&b",17]', "C++ 東京 #1", 3, mode)
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.path) == ("", "", "/books/click")
    said = dict(parse_qsl(parts.query))
    assert said.pop("mode", "exact") == mode
    assert said == {"index": "articles", "id": '["a&b",17]', "q": "C++ 東京 #1", "n": "3"}
