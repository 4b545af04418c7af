"""The pages, as a reader without JavaScript meets them."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from web import Web, serving


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'test.db'}") as started:
        yield started


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def addresses(html: str, rel: str) -> list[str]:
    parser = Links()
    parser.feed(html)
    return [
        str(attributes["href"])
        for tag, attributes in parser.found
        if tag == "a" and rel in str(attributes.get("rel", "")).split()
    ]


def marks(html: str) -> int:
    return html.count("<mark>")


def test_a_paragraph_is_added_followed_and_found(web: Web) -> None:
    """The form answers at once with a receipt whose page goes waiting → searchable."""
    assert 'name="body"' in web.get("/add").text
    response = web.client.post("/add", data={"body": "人間は\r\n考える", "source": "form"})
    assert response.status_code == 303
    receipt = response.headers["location"]
    waiting = web.get(receipt)
    assert 'http-equiv="refresh"' in waiting.text
    web.drain()
    done = web.get(receipt)
    assert 'http-equiv="refresh"' not in done.text
    found = web.get("/search", q="人間 考える")
    assert marks(found.text) == 2
    stored = web.get("/api/v1/paragraphs/1").json()
    assert (stored["body"], stored["source"]) == ("人間は\n考える", "form")


def test_a_refused_form_comes_back_with_what_was_typed(web: Web) -> None:
    response = web.client.post("/add", data={"body": "a\0b", "source": "珍しい名"})
    assert response.status_code == 422
    assert "珍しい名" in response.text
    assert web.client.post("/add", data={}).status_code == 422
    assert web.client.post("/add", content=b"body=%ff").status_code in (303, 422)


def test_a_paragraph_is_edited_and_deleted(web: Web) -> None:
    web.add("人間")
    assert "人間" in web.get("/paragraphs/1").text
    edited = web.client.post("/paragraphs/1", data={"body": "機械"})
    assert edited.status_code == 303
    assert web.client.post("/paragraphs/1", data={"body": ""}).status_code == 422
    deleted = web.client.post("/paragraphs/1/delete")
    assert web.get(deleted.headers["location"]).status_code == 200
    for path in ("/paragraphs/1", "/paragraphs/x", "/paragraphs/" + "9" * 50, "/receipts/x"):
        assert web.get(path).status_code == 404, path
    assert web.client.post("/paragraphs/1/delete").status_code == 404


def test_pages_are_walked_by_their_links(web: Web) -> None:
    """S4: Next leads through every result once; the links stay in one generation."""
    for number in range(35):
        web.add(f"段落 {number}")
    web.drain()
    html, seen = web.get("/search", q="段落").text, []
    while True:
        seen += [part.split("<")[0] for part in html.split("/paragraphs/")[1:]]
        following = addresses(html, "next")
        if not following:
            break
        web.add("段落 もっと")
        web.drain()
        assert "g=1" in urlsplit(following[0]).query
        html = web.client.get(following[0]).text
    numbers = {entry.split('"')[0] for entry in seen}
    assert numbers == {str(number) for number in range(1, 36)}


@pytest.mark.parametrize("page", ["0", "-1", "x", "1" + "0" * 30, "１", "1.5", "", "99"])
def test_a_bad_page_number_is_page_1_with_a_notice(web: Web, page: str) -> None:
    web.add("人間")
    web.drain()
    response = web.get("/search", q="人間", page=page, per_page="1000000000", g="x", order="y")
    assert response.status_code == 200
    assert response.text.count('class="notice') >= 1


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/search/%E4%BA%BA%E9%96%93", "人間"),
        ("/search/a+b", "a b"),
        ("/search/C%2B%2B", "C++"),
        ("/search/and%252For", "and/or"),
        ("/search/and/or", "and/or"),
        ("/search/%22%3E%3Cscript%3E", '"><script>'),
    ],
)
def test_words_in_the_path_are_searched(web: Web, path: str, query: str) -> None:
    html = web.client.get(path).text
    inputs = Links()
    inputs.feed(html)
    values = [a.get("value") for tag, a in inputs.found if tag == "input" and a.get("name") == "q"]
    assert values == [query]
    assert "<script>" not in html


def test_search_word_redirects(web: Web) -> None:
    response = web.get("/search", search_word="人間 &")
    assert response.status_code == 301
    assert response.headers["location"] == "/search?q=%E4%BA%BA%E9%96%93+%26"


def test_the_page_says_that_no_indexer_runs(web: Web) -> None:
    """S6: generation, waiting changes, and what to start."""
    web.add("人間")
    html = web.get("/search", q="人間").text
    assert "sakuin worker" in html
    web.drain()
    assert "sakuin worker" not in web.get("/search", q="人間").text


def test_both_languages(web: Web) -> None:
    def lang(accept: str) -> str:
        return str(
            web.client.get("/", headers={"accept-language": accept}).headers["content-language"]
        )

    assert (lang("ja"), lang("en-GB,en;q=0.9")) == ("ja", "en")
    assert "検索" in web.client.get("/", headers={"accept-language": "en"}).text


def test_a_root_path_is_in_every_address(tmp_path: Path) -> None:
    flags: dict[str, Any] = {"root_path": "/books"}
    with serving(tmp_path, f"sqlite:///{tmp_path / 'r.db'}", **flags) as web:
        web.add("人間")
        web.drain()
        parser = Links()
        parser.feed(web.get("/search", q="人間").text)
        targets = [
            str(value)
            for _, attributes in parser.found
            for name, value in attributes.items()
            if name in ("href", "src", "action") and not str(value).startswith("#")
        ]
        assert targets
        assert all(target.startswith("/books/") for target in targets), targets


def test_an_error_page_is_a_page(web: Web) -> None:
    response = web.get("/nowhere")
    assert response.status_code == 404
    assert response.headers["content-type"].startswith("text/html")


def test_a_read_only_site_refuses_every_change_and_shows_no_form(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'test.db'}"
    with serving(tmp_path, url) as open_site:
        open_site.add("人間")
    with serving(tmp_path, url, read_only=True) as web:
        web.drain()
        for method, path in (
            ("POST", "/add"),
            ("POST", "/paragraphs/1"),
            ("POST", "/paragraphs/1/delete"),
            ("POST", "/api/v1/paragraphs"),
            ("POST", "/api/v1/paragraphs/bulk"),
            ("PUT", "/api/v1/paragraphs/1"),
            ("DELETE", "/api/v1/paragraphs/1"),
        ):
            assert web.client.request(method, path).status_code == 403, path
        for path in ("/search?q=人間", "/paragraphs/1"):
            html = web.client.get(path).text
            assert "人間" in html
            assert "/add" not in html
            assert 'method="post"' not in html
