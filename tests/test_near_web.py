"""Words near each other, as programs and readers meet them (S3): found, marked, or told why not."""

from pathlib import Path

import pytest

from web import serving

BODIES = ("春の雨、夏の風", "夏は来ぬ。春はまだ遠い", "春夏秋冬 <b>春</b>", "秋の空")


def test_what_is_near_is_found_marked_and_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3: marks where the words are near; beyond the limit whichever of the two was too much."""
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}") as web:
        for body in BODIES:
            web.add(body)
        web.drain()

        found = web.get("/api/v1/search", q='"夏　春"～４', order="id").json()
        marked = [
            [piece["text"] for piece in item["highlights"]["body"] if piece["hit"]]
            for item in found["items"]
        ]
        assert (found["total"], marked) == (3, [["春", "夏"], ["夏", "春"], ["春夏"]])
        assert found["diagnostics"] == []
        found = web.get("/api/v1/search", q='"夏 春"~3 -source:x').json()
        assert found["total"] == 2
        assert web.get("/api/v1/search", q="春", filter='"夏 春"~0').json()["total"] == 1

        page = web.get("/search", q='"夏 春"~', hl="ja").text
        assert page.count("<mark>") >= 3
        assert "~10" in page

        monkeypatch.setattr("sakuin.indexer.near_documents.MOST_NEAR", 2)
        found = web.get("/api/v1/search", q='"夏 春"~4').json()
        codes = [remark["code"] for remark in found["diagnostics"]]
        assert (found["total"], codes) == (0, ["near_too_common"])
        found = web.get("/api/v1/search", q="春", filter='"夏 春"~4').json()
        codes = [remark["code"] for remark in found["filter_diagnostics"]]
        assert (found["total"], codes, found["diagnostics"]) == (0, ["near_too_common"], [])
        assert "珍しい語" in web.get("/search", q='"夏 春"~4').text
