"""Filters, dialects, walking on behind ids, and other indexes, over JSON and on the page."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from notes import drain
from sakuin.app import search_generation as generation_module
from sakuin.app import search_results as results_module
from sakuin.app.attach import attach, plan
from sakuin.app.plan_attach import Wanted
from sakuin.queue import replay
from web import Web, serving

DOCS = Path(__file__).resolve().parents[1] / "docs" / "search.md"
BODIES = ("夜の話", "夜と朝", "朝の話", "夜 <b>夜</b>", "昼")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("web")
    with serving(folder, f"sqlite:///{folder / 'q.db'}") as opened:
        for number, body in enumerate(BODIES):
            opened.add(body, source="ab"[number % 2])
        opened.drain()
        database = opened.parts.database
        replay(
            database,
            lambda c: c.exec_driver_sql(
                "CREATE TABLE articles (code TEXT PRIMARY KEY, title TEXT, body TEXT, kind INT)"
            ),
        )
        attach(
            database,
            plan(
                database,
                Wanted(
                    "articles", ("title:2", "body"), title="title", url="https://example.com/{id}",
                    filters=("kind",),
                ),
            ),
        )  # fmt: skip
        replay(
            database,
            lambda c: c.exec_driver_sql(
                "INSERT INTO articles VALUES ('a/1', '夜 <i>', '月', 3), ('b', '朝', '夜', 4)"
            ),
        )
        drain(opened.client.app.state.installation.parts("articles").copy)  # type: ignore[attr-defined]
        yield opened


def api(web: Web, **parameters: Any) -> dict[str, Any]:
    response = web.get("/api/v1/search", **parameters)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def ids(found: dict[str, Any]) -> list[Any]:
    return [item["id"] for item in found["items"]]


def test_the_answer_has_the_documented_keys(web: Web) -> None:
    """docs/search.md names every key of the answer and of an item, and no other."""
    text = DOCS.read_text(encoding="utf-8")
    table = text.split("\nAnswer 200:\n\n")[1].split("\n\n")[0]
    named = {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert set(api(web, q="夜")) == named
    (row,) = (row for row in table.splitlines() if row.startswith("| `items`"))
    items = set(re.findall(r"`(\w+)`", row)) - {"items", "text", "hit"}
    assert set(api(web, q="夜", index="articles")["items"][0]) == items
    assert set(api(web, q="夜")["items"][0]) == items | {"source", "position", "body"}


def test_a_filter_narrows_and_is_not_highlighted(web: Web) -> None:
    found = api(web, q="夜", filter="source:a 話", order="id")
    assert ids(found) == [1]
    hits = [p["text"] for p in found["items"][0]["highlights"]["body"] if p["hit"]]
    assert hits == ["夜"]
    assert ids(api(web, filter="source:b", order="id")) == [2, 4]
    refused = api(web, q="夜", filter="id:x")
    assert (refused["total"], refused["filter_diagnostics"][0]["code"]) == (0, "bad_number")
    assert refused["diagnostics"] == []


def test_a_dialect_is_of_the_query_alone(web: Web) -> None:
    assert ids(api(web, q="夜 朝", dialect="tritonn", order="id")) == [1, 2, 3, 4]
    assert ids(api(web, q="夜 ANDNOT 朝", dialect="estraier", filter="-昼", order="id")) == [1, 4]


def test_after_goes_on_in_the_order_of_ids(web: Web) -> None:
    first = api(web, q="夜", order="id", per_page=2)
    assert (ids(first), first["next_after"]) == ([1, 2], "2")
    last = api(web, q="夜", order="id", per_page=2, after=first["next_after"])
    assert (ids(last), last["next_after"], last["total"]) == ([4], None, 3)
    texts = api(web, q="夜", index="articles", order="id", per_page=1)
    assert (ids(texts), texts["next_after"]) == (["a/1"], "a/1")
    assert ids(api(web, q="夜", index="articles", order="id", after="a/1")) == ["b"]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"after": "1"}, "after"),
        ({"after": "1", "order": "id", "page": "2"}, "after"),
        ({"after": "x", "order": "id"}, "after"),
        ({"order": "nope"}, "order"),
        ({"order": "newest", "index": "articles"}, "order"),
        ({"order": "source", "index": "articles"}, "order"),
        ({"index": "nope"}, "index"),
        ({"dialect": "nope"}, "dialect"),
        ({"page": "0"}, "page"),
    ],
)
def test_what_does_not_fit_is_named(web: Web, parameters: dict[str, str], field: str) -> None:
    """§6: the API answers 422 and names the field; the page shows something all the same."""
    response = web.get("/api/v1/search", q="夜", **parameters)
    assert (response.status_code, response.json()["field"]) == (422, field)
    page = web.get("/search", q="夜", **parameters)
    assert page.status_code == (422 if field == "index" else 200)
    if field != "index":
        assert 'class="notice"' in page.text


def test_page_numbers_end_and_ids_go_on(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """S4: beyond the last page number the page and the API say how to go on; nothing is lost."""
    for module in (generation_module, results_module):
        monkeypatch.setattr(module, "MOST_OFFSET", 1)
    far = web.get("/api/v1/search", q="夜", per_page=1, page=3)
    assert (far.status_code, far.json()["field"]) == (422, "page")
    assert "after=" in far.json()["error"]
    page = web.get("/search", q="夜", per_page=1, page=3)
    assert page.status_code == 200
    assert "page=3" not in page.text
    seen, address = [], "/search?q=夜&per_page=1&order=id"
    while address:
        text = web.client.get(address).text
        seen += re.findall(r'href="/paragraphs/(\d+)"', text)
        following = re.search(r'rel="next" href="([^"]+)"', text)
        address = following[1].replace("&amp;", "&") if following else ""
    assert seen == ["1", "2", "4"]


def test_another_index_is_chosen_on_the_page(web: Web) -> None:
    text = web.get("/search", q="夜", index="articles").text
    assert re.search(r'aria-current="true"[^>]*>articles<', text)
    assert 'href="https://example.com/a%2F1"' in text
    assert text.count("夜</mark> &lt;i&gt;") == 1, "the title is shown once, and marked"
    assert "<mark>夜</mark> &lt;i&gt;</a>" in text
    other = re.search(r'<a href="([^"]+)"[^>]*>paragraphs<', text)
    assert other
    assert parse_qs(urlsplit(other[1]).query) == {"q": ["夜"]}


def test_a_filter_shows_and_can_be_removed(web: Web) -> None:
    text = web.get("/search", q="夜", filter='source:a "><script>').text
    assert "<script>" not in text.split("</head>")[1]
    assert "source:a &#34;&gt;&lt;script&gt;" in text
    assert 'name="filter"' in text


def test_what_was_not_searched_is_not_called_empty(web: Web) -> None:
    text = web.client.get("/search?q=id:x", headers={"accept-language": "ja"}).text
    assert "検索していません" in text
    assert 'class="nothing"' not in text


def test_the_home_page_answers_a_query_too(web: Web) -> None:
    assert "<mark>夜</mark>" in web.get("/", q="夜", index="articles").text
    assert web.client.head("/").status_code == 200


def test_a_misspelt_name_in_a_filter_finds_nothing_and_says_so(web: Web) -> None:
    found = api(web, q="夜", filter="-sauce:a")
    assert (found["total"], found["filter_diagnostics"][0]["code"]) == (0, "unknown_filter")
    assert api(web, q="sauce:a")["diagnostics"][0]["code"] == "unknown_field"


def test_metrics_name_every_index(web: Web) -> None:
    text = web.get("/metrics").text
    for name, count in (("paragraphs", 5), ("articles", 2)):
        assert f'sakuin_documents{{index="{name}"}} {count}' in text
    assert "sakuin_up 1" in text


def test_a_page_holds_no_nul(web: Web) -> None:
    """HTML has none: what a query holds is shown as the replacement character."""
    page = web.client.get("/search?q=%00夜&filter=%00")
    assert page.status_code == 200
    assert "\0" not in page.text
    assert 'value="\ufffd夜"' in page.text
