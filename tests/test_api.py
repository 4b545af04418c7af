"""The JSON interface of design §8: receipts, exact totals and paging."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from sakuin.queue import claim, replay
from web import Web, serving


@pytest.fixture
def web(tmp_path: Path, database_url: str) -> Iterator[Web]:
    with serving(tmp_path, database_url) as started:
        yield started


def test_a_save_goes_from_waiting_to_searchable(web: Web) -> None:
    added = web.add("人間は考える葦である")
    assert web.status(added["receipt"]) == "waiting"
    assert web.get("/api/v1/search", q="人間").json()["total"] == 0
    (message,) = claim(web.parts.database, "index:paragraphs", limit=1, lease_seconds=60)
    assert web.status(added["receipt"]) == "indexing"
    release_all(web)
    assert message.attempts == 1
    web.drain()
    assert web.status(added["receipt"]) == "searchable"
    found = web.get("/api/v1/search", q="人間").json()
    assert (found["total"], found["page"], found["per_page"], found["generation"]) == (1, 1, 10, 1)
    (item,) = found["items"]
    assert item["id"] == added["id"]
    assert item["index"] == "paragraphs"
    assert item["url"] == f"/paragraphs/{added['id']}"
    assert (item["source"], item["position"], item["body"]) == ("s", 1, "人間は考える葦である")
    assert item["highlights"]["body"][0] == {"text": "人間", "hit": True}


def release_all(web: Web) -> None:
    past = "UPDATE sakuin_messages SET locked_until = due_at, token = NULL"
    replay(web.parts.database, lambda c: c.execute(text(past)))


def test_change_and_delete_are_followed_too(web: Web) -> None:
    added = web.add("人間")
    web.drain()
    path = f"/api/v1/paragraphs/{added['id']}"
    changed = web.client.put(path, json={"body": "機械"})
    assert changed.status_code == 202
    assert web.status(changed.json()["receipt"]) == "waiting"
    found = web.get("/api/v1/search", q="人間").json()
    assert (found["total"], found["items"][0]["stale"], found["waiting"]) == (1, True, 1)
    web.drain()
    assert web.status(changed.json()["receipt"]) == "searchable"
    assert web.get("/api/v1/search", q="人間").json()["total"] == 0
    assert web.get(path).json()["version"] == 2
    deleted = web.client.delete(path)
    assert deleted.status_code == 202
    assert web.get(path).status_code == 404
    web.drain()
    assert web.status(deleted.json()["receipt"]) == "searchable"
    assert web.get("/api/v1/search", q="機械").json()["total"] == 0


def test_a_deleted_row_is_hidden_before_any_worker_runs(web: Web) -> None:
    """S6: worker stopped, row deleted: the next search does not show it."""
    kept, gone = web.add("人間 一"), web.add("人間 二")
    web.drain()
    web.client.delete(f"/api/v1/paragraphs/{gone['id']}")
    found = web.get("/api/v1/search", q="人間").json()
    assert [item["id"] for item in found["items"]] == [kept["id"]]
    assert found["removed"] == [gone["id"]]
    assert found["total"] == 2  # exact for the generation, which still holds both


def test_a_flushed_message_does_not_read_as_success(web: Web) -> None:
    added = web.add("人間")
    web.add("別の段落")
    first = text(
        "DELETE FROM sakuin_messages WHERE id = (SELECT * FROM (SELECT MIN(id) FROM "
        "sakuin_messages) AS one)"
    )
    replay(web.parts.database, lambda c: c.execute(first))
    assert web.status(added["receipt"]) == "waiting"
    web.drain()
    answer = web.get(f"/api/v1/receipts/{added['receipt']}").json()
    assert answer["status"] == "failed"
    assert "rebuild" in answer["reason"]


def test_a_bulk_of_many_sources_has_a_readable_receipt(web: Web) -> None:
    lines = [json.dumps({"body": f"人間 {n}", "source": f"s{n % 100}"}) for n in range(150)]
    answer = web.client.post("/api/v1/paragraphs/bulk", content="\n".join(lines)).json()
    assert answer["saved"] == 150
    assert web.status(answer["receipt"]) == "waiting"
    lines = [json.dumps({"body": "x", "source": f"t{n}"}) for n in range(101)]
    refused = web.client.post("/api/v1/paragraphs/bulk", content="\n".join(lines))
    assert refused.status_code == 422


def test_too_many_expansions_are_a_remark(web: Web) -> None:
    """S3: what was not searched is said; never an error."""
    words = [f"w{n:x}x" for n in range(30_000)]
    for start in range(0, len(words), 10_000):
        web.add("no " + " no ".join(words[start : start + 10_000]))
    web.drain()
    answer = web.get("/api/v1/search", q='"no w"*')
    assert answer.status_code == 200
    assert [each["code"] for each in answer.json()["diagnostics"]] == ["too_many_words"]


def test_bulk_saves_the_good_lines(web: Web) -> None:
    lines = [json.dumps({"body": f"人間 {n}", "source": "b"}) for n in range(1500)]
    lines[7] = "oops"
    response = web.client.post("/api/v1/paragraphs/bulk", content="\n".join(lines))
    assert response.status_code == 202
    answer = response.json()
    assert answer["saved"] == 1499
    assert [each["line"] for each in answer["refused"]] == [8]
    assert web.status(answer["receipt"]) == "waiting"
    web.drain()
    assert web.status(answer["receipt"]) == "searchable"
    assert web.get("/api/v1/search", q="人間").json()["total"] == 1499


def test_pages_are_cut_by_offset_and_exact_total(web: Web) -> None:
    """S4: every id once, in order, whatever is published meanwhile."""
    ids = [web.add(f"段落 {n}")["id"] for n in range(25)]
    web.drain()
    first = web.get("/api/v1/search", q="段落", order="id", per_page=10).json()
    assert (first["total"], first["total_pages"]) == (25, 3)
    seen = [item["id"] for item in first["items"]]
    for page in (2, 3):
        web.add(f"段落 もっと {page}")
        web.drain()
        part = web.get(
            "/api/v1/search", q="段落", order="id", page=page, g=first["generation"]
        ).json()
        assert part["total"] == 25
        seen += [item["id"] for item in part["items"]]
    assert seen == ids
    newest = web.get("/api/v1/search", q="段落", order="newest", per_page=2).json()
    assert newest["items"][0]["body"] == "段落 もっと 3"
    beyond = web.get("/api/v1/search", q="段落", page=99).json()
    assert (beyond["items"], beyond["total"], beyond["page"]) == ([], 27, 99)
    gone = web.get("/api/v1/search", q="段落", page=2, g=999).json()
    assert (gone["restarted"], gone["page"]) == (True, 1)


def test_another_site_cannot_write(web: Web) -> None:
    new = {"body": "x"}
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ):
        response = web.client.post("/api/v1/paragraphs", json=new, headers=headers)
        assert response.status_code == 403, headers
    for headers in ({"sec-fetch-site": "same-origin"}, {"origin": "http://testserver"}):
        assert web.client.post("/api/v1/paragraphs", json=new, headers=headers).is_success


def test_a_body_beyond_the_limit_is_413(tmp_path: Path, database_url: str) -> None:
    with serving(tmp_path, database_url, max_request_bytes=1000) as web:
        declared = web.client.post("/api/v1/paragraphs", json={"body": "x" * 2000})
        assert declared.status_code == 413
        streamed = web.client.post("/api/v1/paragraphs", content=iter([b"x" * 600] * 3))
        assert streamed.status_code == 413
        assert "1,000 bytes" in streamed.json()["error"]


def test_health_and_metrics(web: Web) -> None:
    web.add("人間")
    assert web.get("/healthz").text == "ok\n"
    ready = web.get("/readyz")
    assert (ready.status_code, ready.json()["database"]) == (200, "ok")
    assert 'sakuin_messages{index="paragraphs",state="ready"} 1' in web.get("/metrics").text
