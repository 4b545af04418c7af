"""The command line as fixed in design §8: every command, its exit codes, its JSON."""

import gzip
import json
import sqlite3
from pathlib import Path

import pytest

from command import Command


@pytest.fixture
def sakuin(tmp_path: Path) -> Command:
    return Command(tmp_path, {})


@pytest.fixture
def on_any(tmp_path: Path, database_url: str) -> Command:
    return Command(tmp_path, {"SAKUIN_DATABASE_URL": database_url})


def test_the_steps_of_the_readme(on_any: Command) -> None:
    (on_any.folder / "novel.txt").write_text("人間は考える\n\n殺し屋と人間\n残酷な話\n")
    on_any.run("init")
    on_any.run("init")
    loaded = on_any.json("load", "novel.txt", "--no-wait")
    assert (loaded["saved"], loaded["skipped"], loaded["refused"]) == (3, 1, 0)
    assert on_any.json("status")["queue"]["ready"] == 1
    on_any.run("worker", "--drain")
    found = on_any.json("search", "人間")
    assert (found["total"], len(found["items"])) == (2, 2)
    assert found["items"][0]["source"] == "novel.txt"
    assert on_any.json("search", "人間", "殺し")["total"] == 1
    assert on_any.json("search", "人間", "--per-page", "1", "--page", "2")["total"] == 2
    status = on_any.json("status")
    assert status["index"]["documents"] == 3
    assert status["queue"] == {"ready": 0, "leased": 0, "scheduled": 0, "dead": 0}
    assert "人間" in on_any.run("search", "人間")
    assert "real" in on_any.run("search", "人間", "残酷", "--bench")
    on_any.run("doctor")


def test_loading_again_changes_only_what_changed(on_any: Command) -> None:
    on_any.run("init")
    text = on_any.folder / "a.txt"
    text.write_text("一\n二\n三\n")
    on_any.run("load", "a.txt", "--no-wait")
    text.write_text("零\n一\n弐\n")
    again = on_any.json("load", "./a.txt", "--no-wait")
    assert (again["saved"], again["skipped"], again["deleted"]) == (2, 1, 1)
    on_any.run("worker", "--drain")
    assert on_any.json("search", "弐")["total"] == 1
    assert on_any.json("search", "三")["total"] == 0
    (moved,) = on_any.json("search", "一")["items"]
    assert (moved["id"], moved["position"], moved["stale"]) == (1, 2, False)
    assert on_any.json("load", "a.txt", "--append", "--no-wait")["saved"] == 3


def test_bad_lines_are_told_and_skipped_or_refuse_the_load(sakuin: Command) -> None:
    text = "good\nbad\0line\nalso good\n"
    refusing = sakuin.finish("load", "-", "--bad-lines", "refuse", "--no-wait", text=text)
    assert refusing.returncode == 1
    assert "standard input:2" in refusing.stderr
    assert sakuin.json("status")["queue"]["ready"] == 0
    skipping = sakuin.finish("load", "-", "--no-wait", "--json", text=text)
    assert skipping.returncode == 0
    assert "standard input:2" in skipping.stderr
    told = json.loads(skipping.stdout)
    assert (told["saved"], told["refused"]) == (2, 1)
    twice = sakuin.finish(
        "load", "-", "--bad-lines", "refuse", "--no-wait", "--json", text="good\nalso good\n"
    )
    told = json.loads(twice.stdout)
    assert (told["saved"], told["skipped"]) == (0, 2)  # one of them moved to position 2


def test_a_load_of_bad_lines_alone_fails(sakuin: Command) -> None:
    """Exit 1, and no next command where there is nothing to do; what is saved already is good."""
    bad, mixed = "a\0b\n", "good\na\0b\n"
    done = sakuin.finish("load", "-", "--no-wait", text=bad)
    assert (done.returncode, "Next:" in done.stderr) == (1, False)
    done = sakuin.finish("load", "-", "--no-wait", "--json", text=bad)
    told = json.loads(done.stdout)
    assert (done.returncode, told["saved"], told["refused"]) == (1, 0, 1)
    done = sakuin.finish("load", "-", "--no-wait", text=mixed)
    assert (done.returncode, "Next: sakuin worker" in done.stderr) == (0, True)
    sakuin.run("worker", "--drain")
    done = sakuin.finish("load", "-", "--no-wait", text=mixed)
    assert (done.returncode, "Next:" in done.stderr) == (0, False)


def test_a_wrong_encoding_loses_nothing(sakuin: Command) -> None:
    (sakuin.folder / "a.txt").write_bytes("人間\n機械\n".encode("cp932"))
    sakuin.run("load", "a.txt", "--no-wait")
    wrong = sakuin.finish("load", "a.txt", "--encoding", "utf-8", "--no-wait", "--json")
    told = json.loads(wrong.stdout)
    assert (wrong.returncode, told["saved"], told["refused"], told["deleted"]) == (1, 0, 2, 0)
    sakuin.run("worker", "--drain")
    assert sakuin.json("search", "人間")["total"] == 1


def test_a_truncated_file_loses_nothing(sakuin: Command) -> None:
    whole = gzip.compress("\n".join(f"行 {n}" for n in range(20_000)).encode())
    text = sakuin.folder / "a.txt.gz"
    text.write_bytes(whole)
    assert sakuin.json("load", "a.txt.gz", "--no-wait")["saved"] == 20_000
    text.write_bytes(whole[: len(whole) // 2])
    broken = sakuin.finish("load", "a.txt.gz", "--no-wait", "--json")
    assert broken.returncode == 1
    assert "a.txt.gz" in broken.stderr
    assert json.loads(broken.stdout)["deleted"] == 0


def test_generations_are_listed_rebuilt_and_gone_back_to(sakuin: Command) -> None:
    sakuin.run("load", "-", "--source", "s", "--no-wait", text="人間\n")
    sakuin.run("worker", "--drain")
    sakuin.run("load", "-", "--source", "s", "--no-wait", text="機械\n")
    sakuin.run("worker", "--drain")
    assert [each["generation"] for each in sakuin.json("index", "list")] == [1, 2]
    sakuin.run("index", "publish", "1")
    (item,) = sakuin.json("search", "人間")["items"]
    assert item["stale"]  # its row says 機械 now (S6)
    old = sakuin.json("search", "人間", "--generation", "1")
    assert (old["generation"], old["total"]) == (1, 1)
    rebuilt = sakuin.json("index", "rebuild")
    assert (rebuilt["generation"], rebuilt["documents"]) == (4, 1)
    assert sakuin.json("search", "機械")["total"] == 1
    sakuin.run("index", "publish", "99", code=1)


def test_verify_is_no_all_clear_while_nobody_works(sakuin: Command) -> None:
    """I7: changes that wait without an indexer are exit 75; once drained, index and table agree."""
    (sakuin.folder / "a.txt").write_text("人間\n")
    sakuin.run("load", "a.txt", "--no-wait")
    assert "No indexer is running" in sakuin.finish("index", "verify").stderr
    sakuin.run("index", "verify", code=75)
    sakuin.run("worker", "--drain")
    sakuin.run("index", "verify")


def test_another_engine_asks_for_a_rebuild(sakuin: Command) -> None:
    sakuin.run("load", "-", "--no-wait", text="人間\n")
    sakuin.run("worker", "--drain")
    whoosh = Command(sakuin.folder, {"SAKUIN_ENGINE": "whoosh"})
    refused = whoosh.finish("search", "人間")
    assert refused.returncode == 1
    assert "sakuin index rebuild" in refused.stderr
    whoosh.run("index", "rebuild")
    assert whoosh.json("search", "人間")["total"] == 1


def test_search_works_while_the_database_is_away(tmp_path: Path) -> None:
    sakuin = Command(tmp_path, {})
    sakuin.run("load", "-", "--no-wait", text="人間\n")
    sakuin.run("worker", "--drain")
    away = Command(tmp_path, {"SAKUIN_DATABASE_URL": "mysql+pymysql://u:p@127.0.0.1:1/s"})
    found = away.json("search", "人間")
    assert (found["total"], found["waiting"]) == (1, None)


def test_doctor_names_what_is_wrong(tmp_path: Path) -> None:
    away = Command(tmp_path, {"SAKUIN_DATABASE_URL": "mysql+pymysql://u:p@127.0.0.1:1/s"})
    done = away.finish("doctor", "--json")
    assert done.returncode == 1
    grades = {each["subject"]: each["grade"] for each in json.loads(done.stdout)}
    assert grades["database"] == "FAIL"
    sakuin = Command(tmp_path, {})
    sakuin.run("load", "-", "--no-wait", text="人間\n")
    assert "sakuin worker" in sakuin.finish("doctor").stdout


def test_the_schema_is_what_init_makes(sakuin: Command, tmp_path: Path) -> None:
    sakuin.run("init")
    by_hand = sqlite3.connect(tmp_path / "by-hand.db")
    by_hand.executescript(sakuin.run("schema", "sql", "--dialect", "sqlite"))
    made = sqlite3.connect(tmp_path / "sakuin-data" / "sakuin.sqlite3")
    question = "SELECT name, type FROM sqlite_master ORDER BY name"
    assert by_hand.execute(question).fetchall() == made.execute(question).fetchall()
    by_hand.close()
    made.close()
    mysql = sakuin.run("schema", "sql", "--dialect", "mysql")
    assert mysql.count("utf8mb4_bin") >= 4
