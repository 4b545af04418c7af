"""The processes that run handlers, one by one: what they answer, and that they really stop."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from databases import until
from sakuin.queue import Message
from sakuin.queue.bury import MOST_REASON, MOST_TRACEBACK
from sakuin.queue.jobs.child import Broken, Done, Failed, Ready, Setup
from sakuin.queue.jobs.runner import Answer, Child

Start = Callable[..., Child]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start children that are ready for a job, and end them with the test."""
    children: list[Child] = []

    def start_one(max_jobs: int | None = None, max_bytes: int | None = None) -> Child:
        url = f"sqlite:///{tmp_path}/unused.db"
        child = Child(Setup("example_jobs:jobs", url, max_jobs, max_bytes))
        children.append(child)
        assert isinstance(child.hear(), Ready)
        return child

    yield start_one
    for child in children:
        child.kill()
        with suppress(OSError):
            child.close()


def give(child: Child, kind: str, data: str = "{}") -> None:
    now = datetime.now(UTC)
    child.begin(Message(7, "q", 5, b"t" * 16, 1, data.encode(), now, now, kind=kind), None)


def work(child: Child, kind: str, data: str = "{}") -> Answer | None:
    give(child, kind, data)
    return child.hear()


def step(path: Path) -> str:
    return f'{{"path": "{path}"}}'


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that nobody has waited for yet does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_answers(start: Start, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Results, errors with their traceback, and refused arguments; the child goes on after each.

    What handlers print goes to stderr, never among what the worker reads or prints.
    """
    child = start()
    done = work(child, "mail", '{"to": "tama", "copies": 2}')
    assert isinstance(done, Done)
    assert done.result == b'{"letters":["1. to tama","1. to tama"]}'
    failed = work(child, "raise", step(tmp_path / "notes"))
    assert isinstance(failed, Failed)
    assert failed.reason == "ValueError: this cannot be done"
    assert 'raise ValueError("this cannot be done")' in (failed.traceback or "")
    assert not failed.is_refused
    gone = work(child, "exit")
    assert isinstance(gone, Failed)
    assert gone.reason == "SystemExit: no more"
    for data, said in (
        ('{"copies": 1}', "field to: Field required"),
        ('{"to": "x", "copies": "many"}', "field copies"),
        ("ids=1,2", "Invalid JSON"),
        ("\xff", "mail"),
    ):
        refused = work(child, "mail", data)
        assert isinstance(refused, Failed)
        assert refused.is_refused
        assert said in refused.reason
    printed = work(child, "print")
    assert isinstance(printed, Done)
    assert printed.result == b'"done"'
    out, err = capfd.readouterr()
    assert out == ""
    assert "printed by a handler" in err
    assert "written to descriptor 1" in err
    assert "logged by a handler" in err


def test_what_a_handler_raises_is_told_in_a_bounded_number_of_words(start: Start) -> None:
    """An error that has no text is an error still, not the death of the process."""
    child = start()
    mute, much = work(child, "mute"), work(child, "scream")
    assert isinstance(mute, Failed)
    assert mute.reason == "Mute: (its text cannot be made: ValueError)"
    assert mute.traceback
    assert "raise Mute" in mute.traceback
    assert isinstance(much, Failed)
    assert much.traceback
    assert (len(much.reason), len(much.traceback)) == (MOST_REASON, MOST_TRACEBACK)


@pytest.mark.parametrize("kind", ["fork", "fork-exit"])
def test_a_handler_that_forks_answers_once(start: Start, kind: str) -> None:
    """Else the copy's answer would be taken for that of the next job, which would be lost (Q5)."""
    child = start()
    told = work(child, kind)
    assert isinstance(told, Done)
    assert told.result == b"0", "its copy ended well"
    assert not child.channel.poll()
    following = work(child, "nothing")
    assert isinstance(following, Done)
    assert following.result is None


def test_an_answer_that_is_none_is_the_end_of_the_child_alone(start: Start) -> None:
    """A worker hears of it as of a death; the jobs of its other children go on."""
    child = start()
    assert work(child, "scribble") is None
    until(lambda: child.has_ended)


@pytest.mark.parametrize("kind", ["stubborn", "deserter"])
def test_a_handler_that_ignores_signals_is_killed(start: Start, tmp_path: Path, kind: str) -> None:
    """After the grace nothing of it runs, even if it left its group of processes."""
    child = start()
    give(child, kind, step(tmp_path / "notes"))
    until(lambda: lines(tmp_path / "notes"))
    child.stop("limit")
    child.press()
    assert not child.has_ended, "it has its grace"

    def is_gone() -> bool:
        child.press()
        return child.has_ended

    until(is_gone)
    assert child.close() == "SIGKILL"
    assert lines(tmp_path / "notes") == [f"began {child.pid}"]


def test_a_handler_that_is_stopped_can_tidy_up(start: Start, tmp_path: Path) -> None:
    """SIGTERM is an exception where it is; the answer says where that was."""
    child = start()
    give(child, "tidy", step(tmp_path / "notes"))
    until(lambda: lines(tmp_path / "notes"))
    child.stop("limit")
    answer = child.hear()
    assert isinstance(answer, Failed)
    assert answer.is_last
    assert "time.sleep(60)" in (answer.traceback or "")
    assert child.close() == "exit code 0"
    assert lines(tmp_path / "notes")[1:] == ["tidied"]


def test_a_handler_is_asked_to_end(start: Start, tmp_path: Path) -> None:
    child = start()
    give(child, "wait", f'{{"path": "{tmp_path / "notes"}", "seconds": 60}}')
    until(lambda: lines(tmp_path / "notes"))
    child.ask_to_end()
    answer = child.hear()
    assert isinstance(answer, Failed)
    assert answer.reason == "InterruptedError: the worker stops"
    assert lines(tmp_path / "notes")[1:] == ["asked"]


def test_what_a_handler_has_started_is_killed_with_it(start: Start, tmp_path: Path) -> None:
    child = start()
    give(child, "with-child", step(tmp_path / "notes"))
    until(lambda: len(lines(tmp_path / "notes")) == 2)
    sleeper = int(lines(tmp_path / "notes")[1])
    assert is_alive(sleeper)
    child.kill()
    assert child.hear() is None
    child.close()
    until(lambda: not is_alive(sleeper))


def test_a_death_is_told(start: Start, tmp_path: Path) -> None:
    child = start()
    assert work(child, "segfault", step(tmp_path / "notes")) is None
    assert child.close() == "SIGSEGV"


def test_a_child_ends_by_itself(start: Start) -> None:
    """Recycling: after so many jobs, or when it holds more memory than it may."""
    child = start(max_jobs=2)
    answers = [work(child, "nothing") for _ in range(2)]
    assert [one.is_last for one in answers if isinstance(one, Done)] == [False, True]
    assert child.close() == "exit code 0"
    fat = start(max_bytes=1_000_000)
    answer = work(fat, "nothing")
    assert isinstance(answer, Done)
    assert answer.is_last


def test_a_bad_target_is_told() -> None:
    child = Child(Setup("no_such_module:jobs", "sqlite:///unused.db", None, None))
    answer = child.hear()
    assert isinstance(answer, Broken)
    assert "no_such_module cannot be imported" in answer.reason
    assert child.close() == "exit code 0"


PARENT = """
import sys
from test_jobs_runner import Child, Ready, Setup, give, step
child = Child(Setup("example_jobs:jobs", "sqlite:///unused.db", None, None))
assert isinstance(child.hear(), Ready)
give(child, sys.argv[1], step(sys.argv[2]))
child.hear()
"""


@pytest.mark.parametrize("kind", ["c-loop", "with-child"])
def test_a_killed_worker_leaves_no_orphan(tmp_path: Path, kind: str) -> None:
    """Kill -9 of the parent ends its child in the middle of a handler, and what that has started.

    Not even a handler that never lets another thread run can prevent it.
    """
    notes = tmp_path / "notes"
    paths = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, kind, str(notes)], env={**os.environ, "PYTHONPATH": paths}
    ) as parent:
        until(lambda: len(lines(notes)) == 1 + (kind == "with-child"))
        pids = [int(line.split()[-1]) for line in lines(notes)]
        watched = [os.pidfd_open(pid) for pid in pids]
        parent.send_signal(signal.SIGKILL)
    for one in watched:
        assert select.select([one], [], [], 1.0)[0], "it lives on a second later"
        os.close(one)
