"""docs/python.md: its examples run, word for word and in order."""

import asyncio
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from article_models import Site
from command import Command
from doc_blocks import DOCS, block
from sakuin.app.model_discovery import Discovers
from sakuin.app.search_router import search_router
from sakuin.app.searchable import Searchable, bind_search, enqueue
from sakuin.queue import create_schema, open_engine


def test_the_page_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("shop.py", "sakuin.toml"):
        (tmp_path / name).write_text(block("python.md", name), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    names: dict[str, Any] = {}
    database = open_engine("sqlite:///shop.db")
    create_schema(database)  # as `sakuin init`, which the test of the example runs
    exec(block("python.md", "save"), names)
    _, *arguments = block("python.md", "drain").split()
    Command(tmp_path, {}).run(*arguments)
    exec(block("python.md", "find"), names)
    found = names["found"]
    assert [article.title for article in found] == ["東京の塔", "京都"]
    assert found.hits[0].score > found.hits[1].score
    assert capsys.readouterr().out.endswith("2 1\n")

    exec(block("python.md", "enqueue"), names)
    assert asyncio.run(saved_and_found(names)) == ["東京の塔", "京都"]
    Site(database, tmp_path / "sakuin-data").drain(names["Article"])
    exec(block("python.md", "bind"), names)
    assert names["count"] == 3
    assert names["Article"].count_fulltext("新幹線") == 0

    exec(
        "from datetime import datetime\nfrom shop import *\n" + block("python.md", "fields"), names
    )
    exec(block("python.md", "router"), names)
    with TestClient(names["app"]) as client:
        page = client.get("/search", params={"q": "東京", "order": "id"}).json()
        assert [hit["title"] for hit in page["items"]] == ["1", "2", "3"]
        assert client.get("/posts/search").json()["total"] == 0
    names["database"].dispose()
    database.dispose()


async def saved_and_found(names: dict[str, Any]) -> list[str]:
    exec(block("python.md", "async"), names)
    titles: list[str] = await names["save_and_find"]()
    return titles


def test_the_signatures_are_those_of_the_page() -> None:
    """Every public function, with all its parameters in order, their kinds and defaults."""
    table = (DOCS / "python.md").read_text(encoding="utf-8").split("<!-- test: signatures -->")[1]
    written = re.findall(
        r"^\| `(?:Model\.)?(\w+)(\(.*?\))` \|", table.split("\n\n")[0], re.MULTILINE
    )
    methods = [
        name
        for owner in (Searchable, Discovers)
        for name in vars(owner)
        if not name.startswith("_")
    ]
    there = {name: getattr(Searchable, name) for name in methods}
    there |= {each.__name__: each for each in (enqueue, bind_search, search_router)}
    assert [name for name, _ in written] == list(there)
    for name, parameters in written:
        scope: dict[str, Any] = {}
        exec(f"def shown{parameters}: ...", scope)
        assert shape(scope["shown"]) == shape(there[name]), name


def shape(function: Any) -> list[tuple[str, Any, Any]]:
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters]
