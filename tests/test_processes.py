"""Real processes: serving with a worker, stopping, dying, standing by."""

import json
import select
import signal
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import Command

DEADLINE_SECONDS = 30.0


def until(condition: Callable[[], bool], what: str) -> float:
    """Wait for a condition; return the seconds that it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < DEADLINE_SECONDS, f"never: {what}"
        select.select((), (), (), 0.005)  # the processes that are waited for need the processor
    return time.monotonic() - start


def fetch(url: str, content: Any = None) -> Any:
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def children_of(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.fixture
def sakuin(tmp_path: Path, database_url: str) -> Command:
    command = Command(tmp_path, {"SAKUIN_DATABASE_URL": database_url})
    command.run("init")
    return command


def test_a_single_save_is_searchable_within_half_a_second(sakuin: Command) -> None:
    """The median of several, from the answered POST to the receipt that says searchable."""
    with sakuin.start("serve", "--port", "0", "--with-worker") as process:
        address = process.wait_for_line(r"(http://\S+)")[1]
        times = []
        for number in range(9):
            added = fetch(f"{address}api/v1/paragraphs", {"body": f"人間 {number}"})
            receipt = f"{address}api/v1/receipts/{added['receipt']}"
            times.append(
                until(lambda r=receipt: fetch(r)["status"] == "searchable", "searchable")  # type: ignore[misc]
            )
            assert fetch(f"{address}api/v1/search?q=%E4%BA%BA%E9%96%93")["total"] == number + 1
        print(f"searchable after {sorted(times)} s")
        assert sorted(times)[len(times) // 2] < 0.5


def test_term_ends_server_and_worker_cleanly(sakuin: Command) -> None:
    with sakuin.start("serve", "--port", "0", "--with-worker") as process:
        process.wait_for_line(r"http://")
        workers = children_of(process.pid)
        assert workers
        assert process.end(signal.SIGTERM) == 0
        assert not any(is_running(worker) for worker in workers)


def test_the_worker_does_not_outlive_a_killed_server(sakuin: Command) -> None:
    with sakuin.start("serve", "--port", "0", "--with-worker") as process:
        process.wait_for_line(r"http://")
        workers = children_of(process.pid)
        process.end(signal.SIGKILL)
        for worker in workers:
            until(lambda w=worker: not is_running(w), "the worker's end")  # type: ignore[misc]


def test_a_second_worker_stands_by_and_takes_over(sakuin: Command) -> None:
    """I4: killed with -9, the first is replaced; nothing waits longer than its lease."""
    with sakuin.start("worker", "--lease-seconds", "1") as first:
        first.wait_for_line(r"Indexing")
        sakuin.run("load", "-", "--source", "a", text="一\n")
        with sakuin.start("worker", "--lease-seconds", "1") as second:
            second.wait_for_line(r"standing by")
            first.end(signal.SIGKILL)
            sakuin.run("load", "-", "--source", "b", text="二\n")
            second.wait_for_line(r"1 documents")
            assert second.end(signal.SIGINT) == 0
    assert sakuin.json("status")["index"]["documents"] == 2


def test_several_web_processes_share_an_address(sakuin: Command) -> None:
    sakuin.run("load", "-", "--no-wait", text="人間\n")
    sakuin.run("worker", "--drain")
    with sakuin.start("serve", "--port", "0", "--workers", "2", "--no-worker") as process:
        address = process.wait_for_line(r"(http://\S+)")[1]
        assert fetch(f"{address}api/v1/search?q=%E4%BA%BA%E9%96%93")["total"] == 1
        assert process.end(signal.SIGTERM) == 0


@pytest.mark.parametrize("database_kind", ["sqlite"])
@pytest.mark.parametrize("children_there", [2, 3, 4])  # while they start, and when all are there
def test_web_processes_do_not_outlive_a_killed_parent(sakuin: Command, children_there: int) -> None:
    """Q5: nothing is left that takes saves which nobody indexes, nor the port."""
    with sakuin.start("serve", "--port", "0", "--workers", "2", "--with-worker") as process:
        process.wait_for_line(r"(http://\S+)")
        until(lambda: len(children_of(process.pid)) >= children_there, "its children")
        children = children_of(process.pid)
        process.process.kill()
        until(lambda: not any(is_running(child) for child in children), "all of them gone")


def test_a_taken_port_is_told(sakuin: Command) -> None:
    with sakuin.start("serve", "--port", "0", "--no-worker") as process:
        address = process.wait_for_line(r"(http://\S+)")[1]
        port = address.rstrip("/").rpartition(":")[2]
        second = sakuin.finish("serve", "--port", port, "--no-worker")
        assert second.returncode == 78
        assert port in second.stderr
