"""The example application of docs/, as a newcomer runs it: real processes, and HTTP."""

import ast
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from command import Command
from databases import until

EXAMPLE = Path(__file__).resolve().parents[1] / "docs" / "example"
MOST_LINES = 6


def test_six_lines_make_a_model_searchable() -> None:
    """Nothing of search is on another line than the marked ones."""
    text = (EXAMPLE / "shop.py").read_text(encoding="utf-8")
    lines = enumerate(text.splitlines(), start=1)
    marked = {number for number, line in lines if line.endswith("# search")}
    assert 1 <= len(marked) <= MOST_LINES
    imports = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("sakuin")
    ]
    names = {alias.name for node in imports for alias in node.names} | {"__searchable__"}
    used = [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and node.id in names
    ]
    assert {*used, *(node.lineno for node in imports)} == marked


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("shop.py", "sakuin.toml"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    return tmp_path


@contextmanager
def served(folder: Path) -> Iterator[httpx2.Client]:
    """Run the site on a free port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        # The server takes over the listening socket, so that no port has to be guessed.
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "shop:app", "--fd", str(listening.fileno())],
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            pass_fds=[listening.fileno()],
            stderr=subprocess.PIPE,
        )
        address = "http://{}:{}".format(*listening.getsockname())
    try:
        with httpx2.Client(base_url=address, timeout=30) as client:
            yield client
    finally:
        process.terminate()
        _, printed = process.communicate(timeout=30)
        assert b"Traceback" not in printed, printed.decode()


def test_the_example_application(folder: Path) -> None:
    sakuin = Command(folder, {})
    sakuin.run("init")
    with served(folder) as site, sakuin.start("worker"):

        def found(words: str) -> list[int]:
            answer = site.get("/search", params={"q": words, "order": "id"})
            assert answer.status_code == 200, answer.text
            return [hit["id"] for hit in answer.json()["items"]]

        texts = [("東京", "塔が見える"), ("京都", "寺が見える"), ("大阪", "城がある")]
        ids = [
            site.post("/articles", json={"title": title, "body": body}).json()
            for title, body in texts
        ]
        until(lambda: found("見える") == ids[:2])
        assert site.get("/best", params={"q": "城"}).json() == ["大阪"]
        changed = site.put(f"/articles/{ids[2]}", json={"title": "大阪", "body": "塔も見える"})
        assert changed.status_code == 204
        assert site.delete(f"/articles/{ids[0]}").status_code == 204
        until(lambda: found("見える") == ids[1:])
        assert site.get("/best", params={"q": "見える 塔"}).json() == ["大阪"]
        assert site.get("/search", params={"page": 0}).status_code == 422
        described = site.get("/openapi.json").json()["paths"]["/search"]["get"]
        assert "Page_Hit_" in str(described["responses"]["200"])
