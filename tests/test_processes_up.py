"""The commands that go the whole way at once, as real processes: `up`, `demo`, and a bad folder."""

import json
import signal
import urllib.request
from pathlib import Path

import pytest

from command import Command


def test_a_folder_that_cannot_be_used_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    command = Command(tmp_path, {"SAKUIN_DATA_DIR": str(tmp_path / "file")})
    done = command.finish("serve", "--port", "0")
    assert done.returncode in (1, 69, 78)
    assert len(done.stderr.strip().splitlines()) == 1


def test_up_goes_the_whole_way(tmp_path: Path) -> None:
    text = tmp_path / "novel.txt"
    text.write_text("人間は考える葦である\n殺し屋\n")
    sakuin = Command(tmp_path, {})
    printed = sakuin.run("up", "novel.txt", "--once")
    assert "saved" in printed
    assert "searchable" in printed
    assert sakuin.json("search", "人間")["total"] == 1
    with sakuin.start("up", "novel.txt", "--port", "0") as process:
        address = process.wait_for_line(r"(http://\S+)")[1]
        with urllib.request.urlopen(f"{address}api/v1/search?q=%E8%91%A6", timeout=10) as found:
            assert json.load(found)["total"] == 1
        assert process.end(signal.SIGINT) == 0


@pytest.mark.parametrize("engine", ["tantivy", "whoosh"])
def test_the_demonstration_finds_its_words(tmp_path: Path, engine: str) -> None:
    printed = Command(tmp_path, {}).run("demo", "--once", "--engine", engine)
    for word in ("人間", "殺し", "残酷", "人間 殺し 残酷"):
        (line,) = [line for line in printed.splitlines() if line.startswith(f"{word} (")]
        assert "(0)" not in line
    assert list(tmp_path.iterdir()) == []  # touches nothing of the user's
