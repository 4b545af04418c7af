"""Links that count clicks lead to the document's own address, and nowhere else."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from sakuin.app.asked import Asked
from sakuin.app.clicks import click_url
from sakuin.app.main import create_app
from sakuin.app.search_log import SearchLog, open_impatiently
from sakuin.app.settings import read_settings
from sakuin.queue import read
from web import Web, serving


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
    with (
        opened_log(settings.database_url) as log,
        TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client,
    ):
        app.state.search_log = log
        answer = client.get(click_url("", "paragraphs", "1", "人間", 1))
        assert (answer.status_code, answer.headers["location"]) == (303, "/paragraphs/1")
        assert not log.flush()
        assert log.dropped == 1
        assert "sakuin_search_log_dropped_total 1\n" in client.get("/metrics").text


def test_below_a_root_path(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}", root_path="/books") as web:
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


def links(page: str) -> list[str]:
    """Return where the titles of a page's results lead."""
    return [
        unescape(url) for url in re.findall(r'href="([^"]*(?:/click|/paragraphs/)[^"]*)"', page)
    ]


def test_the_page_counts_what_it_is_asked_and_what_is_opened(web: Web) -> None:
    """From a search to its row: the second page is no new search, its clicks count all the same."""
    log = log_in(web)
    for page in ("1", "2"):
        found = links(web.get("/search", q="人間", per_page="1", page=page).text)
        assert found
        assert all(url.startswith("/click?") for url in found)
        web.client.get(found[0])
    (close,) = {url for url in links(web.get("/search", q="残酷な人形の話").text) if "id=3" in url}
    web.client.get(close)
    assert web.get("/api/v1/search", q="機械").status_code == 200
    assert log.flush()
    sql = "SELECT query, mode, asked, total, clicks FROM sakuin_searches ORDER BY asked, query"
    rows = read(web.parts.database, lambda c: c.exec_driver_sql(sql).all())
    assert {tuple(row) for row in rows} == {
        ("人間", "exact", 1, 2, 2),
        ("機械", "exact", 1, 1, 0),
        ("残酷な人形の話", "exact", 1, 0, 1),  # found nothing, and what is close was opened
    }
    positions = "SELECT positions FROM sakuin_clicks ORDER BY positions"
    assert read(web.parts.database, lambda c: c.exec_driver_sql(positions).scalars().all()) == [
        1,
        1,
        2,
    ]


def test_links_are_plain_where_nothing_is_kept(web: Web) -> None:
    """Of a search that the log does not keep, and where it is off."""
    for asked in ({"q": "人間", "filter": "id:1"}, {"q": "人間 OR taro@example.com"}):
        found = links(web.get("/search", **asked).text)
        assert found
        assert all(url.startswith("/paragraphs/") for url in found), asked
    app = web.client.app
    assert isinstance(app, FastAPI)
    app.state.search_log = None
    found = links(web.get("/search", q="人間").text)
    assert found
    assert all(url.startswith("/paragraphs/") for url in found)
    assert "search_log" not in web.get("/metrics").text
