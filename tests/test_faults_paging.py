"""Pages of results that other programs got wrong: each test is named after the fault."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from web import Web, serving

ROWS = 15


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """Fifteen rows of one text, so that all scores are equal, and one that stands alone."""
    folder = tmp_path_factory.mktemp("paging")
    with serving(folder, f"sqlite:///{folder / 'test.db'}") as started:
        for _ in range(ROWS):
            started.add("同じ文")
        started.add("違う話")
        started.drain()
        yield started


def test_24_pages_of_equal_scores_repeat_and_lose_rows(web: Web) -> None:
    """gbrain#4603, milvus PR#44870: no unique tie-break, so pages repeated and lost rows."""
    seen: list[int] = []
    for page in range(1, 6):
        found = web.get("/api/v1/search", q="同じ", page=page, per_page=3).json()
        seen += [item["id"] for item in found["items"]]
    assert seen == list(range(1, ROWS + 1))


@pytest.mark.parametrize("page", [6, 99, 2**31])
def test_25_a_page_beyond_the_last_raises_or_shows_the_last(web: Web, page: int) -> None:
    """whoosh#289, lensingwikipedia#55: an error for every robot, later the last page in silence."""
    found = web.get("/api/v1/search", q="同じ", page=page, per_page=3).json()
    assert (found["items"], found["page"]) == ([], page)
    assert (found["total"], found["total_pages"]) == (ROWS, 5)
    shown = web.get("/search", q="同じ", page=page, per_page=3)
    assert shown.status_code == 200
    assert "/paragraphs/" not in shown.text
    assert "page=5&amp;" in shown.text  # the last


@pytest.mark.parametrize("page", ["3index.php", "9" * 40, "-1", "1.5", "NaN", "' OR 1=1", "\0"])
def test_26_a_garbled_page_number_is_an_error_of_the_server(web: Web, page: str) -> None:
    """will_paginate#425, kaminari#1154: bots asked for such pages and got a 500 each time."""
    refused = web.get("/api/v1/search", q="同じ", page=page)
    assert (refused.status_code, refused.json()["field"]) == (422, "page")
    shown = web.get("/search", q="同じ", page=page)
    assert shown.status_code == 200
    assert 'class="notice' in shown.text


class Announced(HTMLParser):
    """The text of what a reader of the screen is told unasked, and what comes before and after."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self._depth = "", 0
        self.order: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "div" and (self._depth or given.get("role") == "status"):
            self._depth += 1
            if self._depth == 1:
                self.order.append("status")
        elif tag == "input" and given.get("name") == "q":
            self.order.append("box")
        elif tag == "a" and "/paragraphs/" in str(given.get("href")):
            self.order.append("hit")
        assert int(given.get("tabindex") or 0) <= 0, "the order of the keys is that of the page"

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self._depth:
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.text += data


@pytest.mark.parametrize(("query", "total"), [("同じ", ROWS), ("違う", 1), ("無い物", 0)])
def test_45_the_number_of_results_is_not_announced(web: Web, query: str, total: int) -> None:
    """arches#9726, better-search#119: nobody was told how many; the keys went an odd way."""
    page = Announced(web.get("/search", q=query).text)
    assert re.search(r"\d+", page.text.replace(",", "")), page.text
    assert int(re.findall(r"\d+", page.text)[0]) == total
    assert [each for n, each in enumerate(page.order) if each not in page.order[:n]] == [
        "box",
        "status",
        *(["hit"] if total else []),
    ]
