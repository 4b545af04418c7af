"""Processes that search an index without pause until SIGTERM, run by `test_under_fire.py`.

    python search_worker.py '{"root": …, "engine": …, "readers": 4}'

Generation g holds what `after_step(g)` says; every search is checked against it. Each process
prints a line when it has searched for the first time, and one at its end.
"""

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from notes import FIELDS, documents_of
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import engine_named
from sakuin.indexer.generations import Generations
from sakuin.indexer.query import Phrase
from sakuin.indexer.reader import Reader
from searching import open_files

BULK = {f"bulk{i:02}": f"bulk {os.urandom(1000).hex()}" for i in range(30)}
_LIVES = 20


def step(number: int) -> dict[str, str | None]:
    """Return what changes in step `number`, from 1 on: one note comes, one goes, one changes."""
    return {
        **(BULK if number == 1 else {}),
        f"step{number:03}": f"夜 {'even' if number % 2 == 0 else 'odd'} {number}",
        f"step{number - _LIVES:03}": None,
        "counter": f"count{number}",
    }


def after_step(number: int) -> dict[str, set[str]]:
    """Return the ids that each word must find after step `number`, reckoned without the others."""
    alive = range(max(1, number - _LIVES + 1), number + 1)
    return {
        "夜": {f"step{one:03}" for one in alive},
        "even": {f"step{one:03}" for one in alive if one % 2 == 0},
        "odd": {f"step{one:03}" for one in alive if one % 2},
        f"count{number}": {"counter"},
        f"count{number - 1}": set(),
        "bulk": set(BULK),
    }


def check(number: int, searcher: Searcher) -> None:
    """Compare all answers of a generation, page by page, and all its documents."""
    expected = after_step(number)
    for word, ids in expected.items():
        pages: list[str] = []
        for offset in range(0, len(ids) + 1, 7):
            found = searcher.search(Phrase(word), order=Order.ID, offset=offset, limit=7)
            assert found.total == len(ids), (number, word, found.total)
            pages += [hit.document.id for hit in found.hits]
        assert len(pages) == len(ids), (number, word, pages)
        assert set(pages) == ids, (number, word, pages)
    everything = {"counter", *expected["夜"], *expected["bulk"]}
    assert documents_of(searcher).keys() == everything, number


def main(plan: dict[str, Any]) -> None:
    """Run the readers; exit 1 if any of them failed."""
    readers = [_start(plan) for _ in range(plan["readers"])]
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # meant for them
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in readers]
    sys.exit(1 if any(codes) else 0)


def _start(plan: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        _search(plan)
    except BaseException:  # noqa: BLE001  printed, and told by the exit code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _search(plan: dict[str, Any]) -> None:
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    os.nice(5)  # else four that never pause leave the publisher no processor
    generations = Generations(Path(plan["root"]), "notes")
    reader = Reader(engine_named(plan["engine"]), FIELDS, generations)
    numbers: list[int] = []
    files: list[int] = []
    is_last = False
    while not is_last:
        is_last = bool(told)
        with reader.open() as opened:
            assert opened
            check(opened.number, opened.searcher)
            numbers.append(opened.number)
        files.append(open_files())
        if len(numbers) == 1:
            os.write(1, b"searching\n")
    assert numbers == sorted(numbers)
    report = {
        "searches": len(numbers),
        "generations": len(set(numbers)),
        "last": numbers[-1],
        "files": max(files),
    }
    os.write(1, json.dumps(report).encode() + b"\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
