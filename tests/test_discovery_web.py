"""Closest, similar, facets, help instead of nothing, suggestions: over JSON and on the page."""

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from sakuin.app.row_check import MOST_IN_PASSING
from sakuin.queue import DatabaseAway
from web import Web, serving

BODIES = (
    ("宮沢賢治は岩手県の花巻で生まれた。", "poets"),
    ("宮沢賢治の童話「銀河鉄道の夜」は、ジョバンニの旅の話である。", "poets"),
    ("太宰治は青森県の津軽で生まれた。", "Novels"),
    ("夏目漱石は東京で生まれ、松山で教えた。", "Novels"),
    ("The library in the river town lends books.", "english"),
    ("A river runs behind the library.", "english"),
    ("銀河鉄道は夜を走る。", "poets"),
)
QUESTION = "宮沢賢治が生まれたのはどこ?"


@pytest.fixture(scope="module", params=["tantivy", "whoosh"])
def web(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("web")
    with serving(folder, f"sqlite:///{folder / 'q.db'}", request.param) as opened:
        for body, source in BODIES:
            opened.add(body, source)
        opened.drain()
        yield opened


def api(web: Web, path: str = "search", **parameters: Any) -> dict[str, Any]:
    response = web.get(f"/api/v1/{path}", **parameters)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def ids(found: dict[str, Any]) -> list[Any]:
    return [item["id"] for item in found["items"]]


def test_an_exact_answer_is_never_mixed_with_what_is_close(web: Web) -> None:
    """S1: where something is found, nothing else is offered beside it."""
    found = api(web, q="宮沢賢治", order="id")
    assert (found["mode"], ids(found)) == ("exact", [1, 2])
    assert (found["did_you_mean"], found["closest"], found["facets"]) == ([], None, [])


def test_a_question_that_finds_nothing_is_told_what_is_closest(web: Web) -> None:
    found = api(web, q=QUESTION)
    assert (found["total"], found["items"], found["mode"]) == (0, [], "exact")
    closest = found["closest"]
    assert closest["items"][0]["id"] == 1
    hits = [p["text"] for p in closest["items"][0]["highlights"]["body"] if p["hit"]]
    assert "宮沢賢治" in "".join(hits)
    asked = api(web, q=QUESTION, mode="closest")
    assert (asked["mode"], asked["closest"]) == ("closest", None)
    assert asked["total"] == closest["total"]
    assert [i["id"] for i in closest["items"]] == ids(asked)


def test_pages_of_the_closest_are_one_list(web: Web) -> None:
    """S4: the total is exact, no row comes twice, none is lost."""
    whole = api(web, q=QUESTION, mode="closest", per_page=100)
    walked = []
    for page in range(1, whole["total"] + 1):
        part = api(web, q=QUESTION, mode="closest", per_page=1, page=page, g=whole["generation"])
        assert part["total"] == whole["total"]
        walked += ids(part)
    assert walked == ids(whole)
    assert len(walked) == whole["total"]


def test_a_filter_holds_for_what_is_close_and_similar(web: Web) -> None:
    close = api(web, q=QUESTION, mode="closest", filter="source:novels")
    assert set(ids(close)) <= {3, 4}
    assert ids(close)[0] == 3
    assert api(web, q=QUESTION, filter="source:novels")["closest"]["items"][0]["id"] == 3
    assert set(ids(api(web, like="1", filter="source:poets"))) <= {2, 7}


def test_similar_paragraphs_leave_out_the_one_itself(web: Web) -> None:
    found = api(web, like="5")
    assert (found["mode"], ids(found)[0]) == ("similar", 6)
    assert 5 not in ids(found)
    assert found["total"] == len(ids(found))


def test_facets_count_all_that_is_found(web: Web) -> None:
    found = api(web, q="生まれ", facets="source,created:year", per_page=1)
    sources, years = found["facets"]
    counted = Counter(source for body, source in BODIES if "生まれ" in body)
    assert {each["label"]: each["count"] for each in sources["values"]} == counted
    assert (sources["others"], sources["missing"], sources["step"]) == (0, 0, None)
    assert [each["count"] for each in years["values"]] == [found["total"]]
    for facet in found["facets"]:
        for each in facet["values"]:
            assert api(web, q="生まれ", filter=each["filter"])["total"] == each["count"]


@pytest.mark.parametrize("asked", [{"q": QUESTION, "mode": "closest"}, {"like": "1"}])
def test_facets_of_what_is_close_or_similar(web: Web, asked: dict[str, str]) -> None:
    """S4: they count all that is found, whichever way."""
    found = api(web, facets="source", per_page=1, **asked)
    (sources,) = found["facets"]
    assert found["total"] == sum(each["count"] for each in sources["values"]) > 1
    for each in sources["values"]:
        assert api(web, filter=each["filter"], **asked)["total"] == each["count"]


def test_an_only_value_and_the_others(web: Web) -> None:
    (sources,) = api(web, q="生まれ", facets="source:1")["facets"]
    assert [each["count"] for each in sources["values"]] == [2]
    assert sources["others"] == 1


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"q": "夜", "facets": "nope"}, "facets"),
        ({"q": "夜", "facets": "id"}, "facets"),
        ({"q": "夜", "facets": "created:week"}, "facets"),
        ({"q": "夜", "facets": "source:0"}, "facets"),
        ({"q": "夜", "facets": "source:1001"}, "facets"),
        ({"q": "夜", "facets": ",".join(f"source:{n}" for n in range(1, 10))}, "facets"),
        ({"q": "夜", "mode": "nope"}, "mode"),
        ({"q": "夜", "mode": "closest", "order": "newest"}, "order"),
        ({"q": "夜", "like": "1"}, "like"),
        ({"like": "99"}, "like"),
        ({"like": "x"}, "like"),
        ({"like": "1", "order": "id"}, "order"),
    ],
)
def test_what_cannot_be_asked_is_named(web: Web, parameters: dict[str, str], field: str) -> None:
    response = web.get("/api/v1/search", **parameters)
    assert response.status_code == 422, response.text
    assert field in response.text


def test_did_you_mean_leads_to_hits(web: Web) -> None:
    found = api(web, q="libraly")
    assert [each["text"] for each in found["did_you_mean"]][:1] == ["library"]
    for each in found["did_you_mean"]:
        assert api(web, q=each["text"])["total"] == each["documents"] > 0
    assert any(each["text"] == "宮沢賢治" for each in api(web, q="宮沢賢二")["did_you_mean"])


def test_suggestions_lead_to_hits(web: Web) -> None:
    found = api(web, "suggest", q="宮")
    assert "宮沢賢治" in [each["text"] for each in found["suggestions"]]
    for typed in ("lib", "銀", "river r", "L"):
        suggestions = api(web, "suggest", q=typed)["suggestions"]
        assert suggestions, typed
        for each in suggestions:
            assert api(web, q=each["text"])["total"] == each["documents"] > 0
    assert api(web, "suggest", q="")["suggestions"] == []
    assert api(web, "suggest", q="x" * 5_000)["suggestions"] == []
    assert web.get("/api/v1/suggest", q="a", most=0).status_code == 422
    assert web.get("/api/v1/suggest", q="a", index="nope").status_code in {404, 422}


def links_of(page: str) -> list[str]:
    return [unescape(each) for each in re.findall(r'href="([^"]*)"', page)]


def test_the_page_labels_what_is_close_and_offers_what_was_meant(web: Web) -> None:
    page = web.get("/search", q=QUESTION).text
    assert "一致するものではありません" in page or "Not an exact match" in page
    (close,) = (each for each in links_of(page) if "mode=closest" in each)
    shown = web.get(close).text
    assert "宮沢賢治" in shown
    assert any("q=" in each and "mode" not in each for each in links_of(shown) if "search" in each)
    meant = web.get("/search", q="libraly").text
    assert any(each.endswith("q=library") for each in links_of(meant))


def test_the_page_s_facets_and_similar_links_work(web: Web) -> None:
    page = web.get("/search", q="生まれ").text
    narrowed = [each for each in links_of(page) if "filter=source" in each]
    assert len(narrowed) == 2
    for each in narrowed:
        assert web.get(each).status_code == 200
    (similar, *_) = (each for each in links_of(page) if "like=" in each)
    assert web.get(similar).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/search?like=99",
        "/search?like=x",
        "/search?like=1&q=a",
        "/search?like=1&order=newest",
        "/search?q=a&mode=nope",
        "/search?q=a&mode=closest&order=id&after=1",
        "/search?q=a&mode=closest&page=99999",
        "/search?like=%00&mode=closest",
        "/search?like=1&page=100000&per_page=100",
    ],
)
def test_no_address_is_an_error_to_a_person(web: Web, address: str) -> None:
    assert web.get(address).status_code == 200


def test_before_anything_is_indexed_nothing_fails(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as empty:
        assert api(empty, q="x", facets="source", mode="closest")["total"] == 0
        assert api(empty, q="x")["closest"] is None
        assert api(empty, "suggest", q="x") == {
            "index": "paragraphs",
            "generation": 0,
            "suggestions": [],
        }
        assert empty.get("/search?like=1").status_code == 200


def test_words_of_the_index(web: Web) -> None:
    found = api(web, "words", start="宮")
    assert found["words"] == [{"word": "宮沢賢治", "documents": 2}]
    assert api(web, "words")["words"][0]["documents"] >= 2
    assert api(web, "words", rising=3)["generation"] == found["generation"]
    assert web.get("/api/v1/words", rising=3, start="a").status_code == 422
    assert web.get("/api/v1/words", most=0).status_code == 422


def test_with_the_log_on_searches_and_clicks_are_counted_and_suggested(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}", search_log=True) as logging:
        for body, source in BODIES:
            logging.add(body, source)
        logging.drain()
        for _ in range(3):
            logging.get("/search", q="宮沢 生まれ")
        page = logging.get("/search", q="宮沢 生まれ").text
        (link,) = (each for each in links_of(page) if each.startswith("/click?"))
        led = logging.get(link)
        assert (led.status_code, led.headers["location"]) == (303, "/paragraphs/1")
        logging.client.app.state.search_log.flush()  # type: ignore[attr-defined]
        suggestions = api(logging, "suggest", q="宮沢")["suggestions"]
        assert suggestions[0] == {"text": "宮沢 生まれ", "documents": 1}
        assert {"text": "宮沢賢治", "documents": 2} in suggestions
        assert "/click?" not in logging.get("/search", q="宮沢", filter="source:poets").text


def test_what_no_filter_can_hold_is_counted_all_the_same(tmp_path: Path) -> None:
    """A control character, or 1,000 of any, in a value: shown and counted, without a link."""
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as odd:
        for source in ("bad\x01source", "x" * 255, "plain", "“curly” 'single' \\ :*"):
            odd.add("夜の話", source)
        odd.drain()
        (sources,) = api(odd, q="夜", facets="source")["facets"]
        assert len(sources["values"]) == 4
        for each in sources["values"]:
            assert each["count"] == 1
            assert (each["filter"] is None) == ("\x01" in each["value"])
            if each["filter"]:
                assert api(odd, q="夜", filter=each["filter"])["total"] == 1
        assert "plain" in odd.get("/search", q="夜").text


@pytest.mark.parametrize("earlier", ["source:poets　OR　source:novels", '"生まれ', "岩手 OR 津軽"])
def test_a_value_narrows_whatever_was_narrowed_before(web: Web, earlier: str) -> None:
    page = web.get("/search", q="生まれ", filter=earlier).text
    narrowing = [each for each in links_of(page) if "filter=%28" in each]
    assert narrowing
    for link in narrowing:
        shown = web.get(link).text
        (label, count) = re.findall(
            rf'href="{re.escape(link).replace("&", "&amp;")}"[^>]*>([^<]*)</a> <small>(\d+)', page
        )[0]
        assert f">{count}件" in shown or f">{count} hit" in shown, (label, link)


def test_an_exact_filter_is_not_called_close(web: Web) -> None:
    found = api(web, q=" ", filter="source:poets", mode="closest")
    assert (found["mode"], found["total"]) == ("exact", 3)


def test_a_time_facet_of_the_page_goes_by_longer_steps(tmp_path: Path) -> None:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as old:
        for _ in range(2):
            old.add("夜の話")
        old.drain()
        change = "UPDATE paragraphs SET created_at = '1900-01-01 00:00:00.000000' WHERE id = 1"
        with old.parts.database.begin() as connection:
            connection.exec_driver_sql(change)
            connection.exec_driver_sql(
                "INSERT INTO sakuin_messages (queue, data) VALUES "
                "('index:paragraphs', '{\"ids\": [\"1\"]}')"
            )
        old.drain()
        page = old.get("/search", q="夜").text
        assert "created%3A1900&" in page or 'created%3A1900"' in page
        assert old.get("/api/v1/search", q="夜", facets="created:month").status_code == 422


@pytest.mark.parametrize("text", ["x" * 1_500, "created:zzz", '"a b"~9999'])
def test_what_was_not_searched_is_not_logged(tmp_path: Path, text: str) -> None:
    """The log tells what an index lacks; a refused query does not."""
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}", search_log=True) as logging:
        log = logging.client.app.state.search_log  # type: ignore[attr-defined]
        logging.get("/search", q="夜")  # nothing is indexed yet
        logging.add("夜の話")
        logging.drain()
        logging.get("/search", q=text)
        logging.get("/api/v1/search", q="zz")
        log.flush()
        with logging.parts.database.connect() as connection:
            rows = connection.exec_driver_sql("SELECT query FROM sakuin_searches").all()
        assert [row[0] for row in rows] == ["zz"]


def test_nobody_puts_words_before_the_eyes_of_others(tmp_path: Path) -> None:
    """Suggested is what at least three asked, and every word of it stands in a text."""
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}", search_log=True) as logging:
        for body, source in BODIES:
            logging.add(body, source)
        logging.drain()
        for query in (
            "宮沢 -悪口",
            "宮沢 OR 広告",
            '"宮沢" 花巻',
            "宮沢 存在しない語",
            "宮沢 source:poets",
        ):
            for _ in range(4):
                logging.get("/search", q=query)
        for _ in range(2):
            logging.get("/search", q="宮沢 花巻")
        log = logging.client.app.state.search_log  # type: ignore[attr-defined]
        log.flush()
        shown = [each["text"] for each in api(logging, "suggest", q="宮沢")["suggestions"]]
        assert shown == ["宮沢賢治"]
        logging.get("/search", q="宮沢 花巻")
        log.flush()
        shown = [each["text"] for each in api(logging, "suggest", q="宮沢")["suggestions"]]
        assert shown == ["宮沢 花巻", "宮沢賢治"]
        assert api(logging, "suggest", q="\u200b")["suggestions"] == []


def test_two_heavy_questions_at_once_are_enough(web: Web) -> None:
    """A third is told to come again; searches go on."""
    turns = web.client.app.state.installation.heavy_questions  # type: ignore[attr-defined]
    with turns, turns:
        refused = web.get("/api/v1/words")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert api(web, q="夜")["total"] > 0
    assert web.get("/api/v1/words").status_code == 200


def test_suggestions_never_wait_for_a_turn_at_the_database(tmp_path: Path) -> None:
    """While others ask it, the index suggests alone."""
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}", search_log=True) as logging:
        logging.add("宮沢賢治の話")
        logging.drain()
        entered, leave = Barrier(MOST_IN_PASSING + 1), Event()

        def hold(_: object) -> None:
            entered.wait(timeout=20)
            leave.wait(timeout=20)

        check = logging.parts.row_check
        with ThreadPoolExecutor() as pool:
            held = [pool.submit(check.ask_in_passing, hold) for _ in range(MOST_IN_PASSING)]
            entered.wait(timeout=20)
            with pytest.raises(DatabaseAway, match="in passing"):
                check.ask_in_passing(hold)
            assert api(logging, "suggest", q="宮")["suggestions"]
            leave.set()
            for each in held:
                each.result(timeout=20)
