"""Tasks in TOML: read as declared; every mistake is named with file, key and field."""

from pathlib import Path

import pytest

from recurring import task
from sakuin.queue import Limit
from sakuin.queue.recurring import BadTask, BadTaskFile, Task, read_tasks
from sakuin.queue.recurring.task_file import tasks_of

GOOD = """
zone = "Asia/Tokyo"

[verify]
class = "sakuin.verify"
schedule = "毎日午前3時半"
args = { index = "paragraphs", days = [1, 2] }
queue = "maintenance"
priority = 8
catch_up_seconds = 3600
description = "The index equals the database"

[beat]
class = "beat"
schedule = "*/5 * * * *"
zone = "UTC"
"""


def read_text(folder: Path, text: str) -> tuple[Task, ...]:
    path = folder / "tasks.toml"
    path.write_text(text, encoding="utf-8")
    return read_tasks(path)


def test_a_file_is_read_as_declared(tmp_path: Path) -> None:
    assert read_text(tmp_path, GOOD) == (
        Task(
            key="verify",
            kind="sakuin.verify",
            schedule="毎日午前3時半",
            zone="Asia/Tokyo",
            args={"index": "paragraphs", "days": [1, 2]},
            queue="maintenance",
            priority=8,
            catch_up_seconds=3600,
            description="The index equals the database",
        ),
        Task(key="beat", kind="beat", schedule="*/5 * * * *", zone="UTC"),
    )
    assert read_text(tmp_path, "") == ()


@pytest.mark.parametrize(
    ("lines", "mistake"),
    [
        ('class = "x"', "schedule: missing"),
        ('schedule = "daily"', "class: missing"),
        ('class = "x"\nschedule = "daily"', "zone: missing"),
        ('class = "x"\nschedule = "daily"\nzone = "Mars"', "zone: time zone 'Mars' is not known"),
        ('class = "x"\nschedule = "soon"\nzone = "UTC"', "schedule: schedule 'soon' is not"),
        ('class = "x"\nschedule = 5\nzone = "UTC"', "schedule: 5 is no text"),
        ('class = "x"\nschedule = "0 0 31 2 *"\nzone = "UTC"', "schedule: cron '0 0 31 2 *'"),
        ('class = "x y"\nschedule = "daily"\nzone = "UTC"', "class: kind 'x y': use 1 to 100"),
        ('class = 3\nschedule = "daily"\nzone = "UTC"', "class: 3 is no text"),
        ("clas = 3", "clas: unknown; known: class, schedule, zone, args"),
        ("queue = 'no such!'", "queue: queue name 'no such!': use"),
        ("priority = 256", "priority: priority 256: use 0"),
        ("priority = '3'", "priority: '3' is no whole number"),
        ("priority = true", "priority: True is no whole number"),
        ("catch_up_seconds = 0", "catch_up_seconds: 0: use 60 to"),
        ("catch_up_seconds = nan", "catch_up_seconds: nan: use 60 to"),
        ("catch_up_seconds = 'long'", "catch_up_seconds: 'long' is no number"),
        ("args = 3", "args: use a table"),
        ("args = { at = 2027-01-01 }", "args: Object of type date is not JSON"),
        ("args = { n = inf }", "args: Out of range float"),
        (f"description = '{'x' * 256}'", "description: 256 letters: use up to 255"),
        ("description = []", "description: [] is no text"),
    ],
)
def test_a_mistake_is_named_with_key_and_field(tmp_path: Path, lines: str, mistake: str) -> None:
    if "class" not in lines and "schedule" not in lines:
        lines = f'class = "x"\nschedule = "daily"\nzone = "UTC"\n{lines}'
    with pytest.raises(BadTaskFile) as refused:
        read_text(tmp_path, f"[my-task]\n{lines}\n")
    assert f"tasks.toml: [my-task] {mistake}" in str(refused.value)
    assert 'schedule = "every day at 3:15"' in str(refused.value)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadTaskFile) as refused:
        read_text(
            tmp_path, "a = 1\n[b]\nclass = 'x'\n[' c']\nclass='x'\nzone='UTC'\nschedule='daily'"
        )
    told = str(refused.value)
    assert "[a] is no table" in told
    assert "[b] schedule: missing" in told
    assert "[b] zone: missing" in told
    assert "[ c] key: use letters, without blanks around them" in told


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadTaskFile, match=r"no\.toml: cannot be read"):
        read_tasks(tmp_path / "no.toml")
    with pytest.raises(BadTaskFile, match=r"tasks\.toml: no TOML: .*line 1"):
        read_text(tmp_path, "a = \n")
    (tmp_path / "latin.toml").write_bytes(b"zone = '\xe9'")
    with pytest.raises(BadTaskFile, match=r"latin\.toml: cannot be read"):
        read_tasks(tmp_path / "latin.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * (1 << 20) + b"#")
    with pytest.raises(BadTaskFile, match="larger than 1 MiB"):
        read_tasks(tmp_path / "large.toml")


def test_a_task_in_code_is_checked_too() -> None:
    """The same checks, when the value is made; the error names key and field."""
    with pytest.raises(BadTask, match="task 'tidy', priority: priority -1"):
        task(priority=-1)
    with pytest.raises(BadTask, match="task '', key: use letters"):
        task("")
    with pytest.raises(BadTask, match="key: 101 letters: use up to 100"):
        task("x" * 101)
    with pytest.raises(BadTask, match="task 'tidy', args: message of 4,194,"):
        task(args={"text": "x" * (4 << 20)})
    assert task().data() == b"{}"


def test_a_limit_is_read_and_each_mistake_in_it_named() -> None:
    table = '[a]\nclass = "k"\nschedule = "@daily"\nzone = "UTC"\nlimit = '
    (task,) = tasks_of(table + '{ key = "x", to = 2, seconds = 60, on_conflict = "discard" }', "f")
    assert task.limit == Limit("x", to=2, seconds=60, on_conflict="discard")
    for wrong, told in (
        ("3", r"\[a\] limit: write a table"),
        ('{ key = "x", most = 2 }', r"\[a\] limit: most: unknown; known: key, to,"),
        ('{ key = "x", to = "2" }', r"\[a\] limit: to: '2' is no number"),
        ('{ key = "x", to = 0 }', r"\[a\] limit: limit to=0"),
    ):
        with pytest.raises(BadTaskFile, match=told):
            tasks_of(table + wrong, "f")
