"""The file of synonyms: read at query time, and never in a search's way."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from article_models import Article, Base, site
from command import Command
from sakuin.app.searchable import bind_search
from sakuin.app.settings import SettingsError, read_settings
from sakuin.app.synonym_file import SynonymFile
from sakuin.queue import create_schema, open_engine
from web import Web, serving

WORDS = "図書館, library\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "synonyms.txt"
    made.write_text(WORDS, encoding="utf-8")
    return made


@pytest.fixture
def web(tmp_path: Path, path: Path) -> Iterator[Web]:
    with serving(tmp_path, f"sqlite:///{tmp_path / 'q.db'}", synonyms=str(path)) as opened:
        for body in ("図書館の本", "A library", "学校"):
            opened.add(body)
        opened.drain()
        yield opened


def total(web: Web, **parameters: str) -> int:
    answer = web.get("/api/v1/search", **parameters).json()
    return int(answer["total"])


def change(path: Path, text: str) -> None:
    """Write a new file, whose time differs for sure."""
    before = path.stat().st_mtime_ns
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_word_finds_its_synonyms_and_says_so(web: Web) -> None:
    answer = web.get("/api/v1/search", q="図書館").json()
    assert answer["total"] == 2
    (remark,) = answer["diagnostics"]
    assert (remark["code"], "library" in remark["message"]) == ("synonyms", True)
    assert "library" in web.get("/search", q="図書館").text
    assert total(web, q='"図書館"') == 1
    assert total(web, filter="図書館") == 1  # a program's filter means what it says


def test_what_is_suggested_counts_as_the_search_does(web: Web) -> None:
    suggestions = web.get("/api/v1/suggest", q="図").json()["suggestions"]
    assert suggestions
    for each in suggestions:
        assert total(web, q=each["text"]) == each["documents"] > 0
    meant = web.get("/api/v1/search", q="図書簡").json()["did_you_mean"]
    assert meant
    for each in meant:
        assert total(web, q=each["text"]) == each["documents"]


def test_a_change_of_the_file_counts_at_the_next_search(
    web: Web, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert total(web, q="学校") == 1
    change(path, WORDS + "学校, library\n")
    assert total(web, q="学校") == 2
    change(path, "only one\n")
    with caplog.at_level(logging.WARNING):
        assert total(web, q="学校") == 2
    assert "line 1" in caplog.text
    path.unlink()
    assert total(web, q="学校") == 2
    path.write_text(WORDS, encoding="utf-8")
    assert total(web, q="学校") == 1


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"only one\n", "line 1"),
        (b"\x90\xe5, \x8f\x91\n", "utf-8"),
        (b"a, b\n" * 900_000, "MiB"),
        (b"a=>" * 1_000_000, "characters"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_at_the_start(
    path: Path, content: bytes, what: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=what):
        SynonymFile(path).check()
    path.unlink()
    with pytest.raises(SettingsError, match="synonyms"):
        SynonymFile(path).check()


def test_what_is_no_file_holds_nobody_up(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SettingsError, match="no file"):
        SynonymFile(path).check()
    assert SynonymFile(path).current() is None


def test_the_command_uses_them_and_names_a_bad_file(tmp_path: Path, path: Path) -> None:
    sakuin = Command(tmp_path, {"SAKUIN_SYNONYMS": str(path)})
    (tmp_path / "a.txt").write_text("図書館の本\nA library\n", encoding="utf-8")
    sakuin.run("load", "a.txt", "--no-wait")
    sakuin.run("worker", "--drain")
    assert sakuin.json("search", "図書館")["total"] == 2
    assert sakuin.json("search", "library")["total"] == 2
    path.write_text("broken\n", encoding="utf-8")
    done = sakuin.finish("search", "図書館")
    assert (done.returncode, "line 1" in done.stderr) == (78, True)


def test_models_use_them_too(tmp_path: Path, path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'shop.db'}")
    create_schema(engine)
    with site(engine, tmp_path) as shop:
        with shop.session() as session:
            session.add_all([Article(title="図書館"), Article(title="library")])
            session.commit()
        shop.drain(Article)
        assert Article.count_fulltext("図書館") == 1
        given = {"data_dir": tmp_path, "engine": "tantivy", "synonyms": str(path)}
        with bind_search(Base, read_settings(given, {}, tmp_path)):
            assert Article.count_fulltext("図書館") == 2
    engine.dispose()
