"""A paused index queue: nothing hangs on it, and everybody says what lets it go on."""

from pathlib import Path

import pytest

from command import Command
from inner_command import InnerCommand
from sakuin.app.assemble import installation
from sakuin.app.index_workers import IndexWorkers
from sakuin.app.settings import Settings, read_settings

RESUME = "sakuin queue resume index:paragraphs"


@pytest.fixture
def sakuin(database_url: str, tmp_path: Path) -> InnerCommand:
    """The command on a database of its own, and a text to load."""
    (tmp_path / "a.txt").write_text("人間\n")
    found = InnerCommand({"SAKUIN_DATABASE_URL": database_url, "SAKUIN_DATA_DIR": str(tmp_path)})
    found.run("init")
    return found


def settings(database_url: str, folder: Path) -> Settings:
    return read_settings({"database_url": database_url, "data_dir": folder})


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_drain_of_a_paused_queue_ends_and_says_how_to_go_on(
    sakuin: InnerCommand, database_url: str, tmp_path: Path
) -> None:
    """A real process: exit 75 with the remedy. Once it is resumed the work is done."""
    sakuin.run("queue", "pause", "index:paragraphs")
    with installation(settings(database_url, tmp_path)) as opened:
        assert IndexWorkers(opened).drain() == 0  # nothing waits: nothing stands in the way
    loaded = sakuin.finish("load", str(tmp_path / "a.txt"))  # it waits for nobody either
    assert (loaded.exit_code, RESUME in loaded.stderr) == (0, True)
    drained = Command(tmp_path, sakuin.variables).finish("worker", "--drain", "--quiet")
    assert drained.returncode == 75
    assert f"sakuin: queue index:paragraphs is paused: `{RESUME}`" in drained.stderr
    sakuin.run("queue", "resume", "index:paragraphs")
    with installation(settings(database_url, tmp_path)) as opened:
        assert IndexWorkers(opened).drain() == 0
    assert sakuin.json("search", "人間")["total"] == 1


def test_all_that_looks_says_that_it_is_paused(sakuin: InnerCommand, tmp_path: Path) -> None:
    sakuin.run("load", str(tmp_path / "a.txt"), "--no-wait")
    assert sakuin.json("status")["index"]["is_paused"] is False
    sakuin.run("queue", "pause", "index:paragraphs")
    assert sakuin.json("status")["index"]["is_paused"] is True
    assert RESUME in sakuin.run("status")
    assert RESUME in sakuin.finish("search", "人間").stderr
    doctor = {one["subject"]: one for one in sakuin.json("doctor")}
    found = doctor["queue index:paragraphs"]
    assert (found["grade"], RESUME in found["text"]) == ("WARN", True)
    verified = sakuin.finish("index", "verify")
    assert (verified.exit_code, RESUME in verified.stderr) == (75, True)
