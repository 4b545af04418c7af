"""A process that uses the queue, for tests that need several or kill one.

`python queue_crew.py ACT URL SEED` waits for a line on stdin, then acts, and writes one word and
an id a line: C = claimed, S = its ack is certain, U = its ack's outcome is unknown.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import Engine

from sakuin.queue import (
    DatabaseAway,
    Message,
    OutcomeUnknown,
    ack,
    claim,
    create_schema,
    extend,
    open_engine,
    push,
    queue_counts,
    read,
    release,
    replay,
)

LEASE_SECONDS = 120.0


def say(word: str, ids: Iterable[int]) -> None:
    """Write lines that survive a SIGKILL of this process."""
    os.write(1, "".join(f"{word} {number}\n" for number in ids).encode())


def make(engine: Engine, _chance: random.Random) -> None:
    """Make the tables, as every process does at its start, and push one message."""
    create_schema(engine)
    replay(engine, lambda connection: push(connection, "q", b"x"))


def drain(engine: Engine, chance: random.Random) -> None:
    """Work until the queue is empty: acks mostly, and now and then extends or gives back.

    It begins with one message, and a second line on stdin lets it go on: so all have begun.
    """
    first = claim(engine, "q", limit=1, lease_seconds=LEASE_SECONDS)
    say("C", (one.id for one in first))
    sys.stdin.readline()
    assert not ack(engine, first)
    say("S", (one.id for one in first))
    while True:
        batch = claim(engine, "q", limit=chance.randint(1, 100), lease_seconds=LEASE_SECONDS)
        if not batch:
            if read(engine, lambda connection: queue_counts(connection, "q")).leased == 0:
                return
            continue
        say("C", (one.id for one in batch))
        if chance.random() < 0.1:
            assert not extend(engine, batch, LEASE_SECONDS)
        keep: list[Message] = []
        back: list[Message] = []
        for one in batch:
            (back if chance.random() < 0.02 else keep).append(one)
        assert not release(engine, back)
        assert not ack(engine, keep)
        say("S", (one.id for one in keep))


def churn(engine: Engine, chance: random.Random) -> None:
    """Work for ever, through a database that goes away, until killed."""
    while True:
        try:
            batch = claim(engine, "q", limit=chance.randint(1, 5), lease_seconds=LEASE_SECONDS)
        except (DatabaseAway, OutcomeUnknown):
            time.sleep(0.02)  # the server is down on purpose: no busy loop until it is back
            continue
        say("C", (one.id for one in batch))
        try:
            lost = ack(engine, batch)
        except (DatabaseAway, OutcomeUnknown):
            say("U", (one.id for one in batch))
        else:
            say("S", (one.id for one in batch if one.id not in lost))


ACTS = {"make": make, "drain": drain, "churn": churn}


def start(act: str, url: str, seed: int, output: Path) -> "subprocess.Popen[bytes]":
    """Start such a process; `go` lets it begin. Its lines go to the file."""
    with output.open("wb") as lines:
        return subprocess.Popen(
            [sys.executable, "-W", "error", __file__, act, url, str(seed)],
            stdin=subprocess.PIPE,
            stdout=lines,
            stderr=subprocess.PIPE,
        )


def go(crew: Iterable["subprocess.Popen[bytes]"]) -> None:
    """Let the processes begin, as nearly at once as can be."""
    for one in crew:
        assert one.stdin is not None
        one.stdin.write(b"\n")
        one.stdin.flush()


def said(output: Path, word: str) -> list[int]:
    """Return the ids of the whole lines with this word."""
    lines = output.read_bytes().rpartition(b"\n")[0].decode().split("\n")
    return [int(line[2:]) for line in lines if line.startswith(word + " ")]


def main() -> None:
    """Act as told on the command line."""
    act, url, seed = sys.argv[1:]
    engine = open_engine(url)
    sys.stdin.readline()
    ACTS[act](engine, random.Random(int(seed)))
    engine.dispose()


if __name__ == "__main__":
    main()
