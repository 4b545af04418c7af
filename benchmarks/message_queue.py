"""The message queue against the one of the 2010 article, on the same server.

    python benchmarks/message_queue.py [--db mariadb|sqlite] [--quick] [--json FILE]

First the article's own table: 1,000 messages pushed and popped one by one. Then claim + ack in
batches while the queue is held at a depth, the median of --repeat runs. One process: claim and
ack alone are on the clock. Several: by the clock on the wall, with the pushing that holds the
depth.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from queue_article import ArticleQueue, pops_a_second
from queue_sustained import Load, empty, messages_a_second
from report import Report
from sakuin.app.private_mariadb import private_mariadb
from sakuin.queue import ack, claim, create_schema, open_engine, push

ARTICLE_MESSAGES = 1_000
ARTICLE_POPS = 2_000


def main() -> None:
    """Run it all and print the tables."""
    arguments = _arguments()
    data = b"x" * arguments.bytes
    with _database(arguments) as url:
        engine = open_engine(url)
        create_schema(engine)
        has_article = engine.dialect.name != "sqlite"
        report = Report(
            "Message queue: the article's table",
            ("queue", "operation", "messages", "Total (s)", "QPS", "SPQ (ms)"),
        )
        _one_by_one(report, "ours", *_ours(engine), data)
        if has_article:
            article = ArticleQueue(url)
            _one_by_one(report, "article's", article.push, article.pop, data)
            article.close()
        held = Report(
            "Message queue: claim + ack at a held depth",
            ("queue", "depth", "processes", "batch", "messages", "messages/s"),
        )
        rates = _ours_at_depths(held, url, arguments, data)
        if has_article:
            rates |= _article_at_depths(held, url, arguments, data)
        _conclude(held, rates, arguments.depths)
        engine.dispose()
    if arguments.json:
        report.write(arguments.json.with_stem(arguments.json.stem + "_one_by_one"))
        held.write(arguments.json)


def _one_by_one(
    report: Report,
    name: str,
    push_one: Callable[[bytes], object],
    pop_one: Callable[[], bytes | None],
    data: bytes,
) -> None:
    push_one(data)
    assert pop_one() == data
    acts: dict[str, Callable[[], object]] = {"push": lambda: push_one(data), "pop": pop_one}
    for operation, act in acts.items():
        begun = time.perf_counter()
        for _ in range(ARTICLE_MESSAGES):
            act()
        total = time.perf_counter() - begun
        qps = ARTICLE_MESSAGES / total
        report.add(name, operation, ARTICLE_MESSAGES, total, qps, 1000 / qps)
    assert pop_one() is None


def _ours(engine: Engine) -> tuple[Callable[[bytes], object], Callable[[], bytes | None]]:
    empty(engine)

    def push_one(data: bytes) -> None:
        with engine.begin() as connection:
            push(connection, "article", data)

    def pop_one() -> bytes | None:
        messages = claim(engine, "article", limit=1, lease_seconds=10)
        ack(engine, messages)
        return messages[0].data if messages else None

    return push_one, pop_one


Rates = dict[tuple[str, int, int, int], float]
"""Messages a second by (queue, depth, processes, batch)."""


def _ours_at_depths(report: Report, url: str, arguments: Any, data: bytes) -> Rates:
    rates: Rates = {}
    for processes in arguments.processes:
        for batch in arguments.batches:
            count = arguments.messages if batch > 1 else arguments.messages // 5
            loads = [Load(depth, batch, processes, count, data) for depth in arguments.depths]
            runs = [
                [messages_a_second(url, load) for load in loads] for _ in range(arguments.repeat)
            ]
            for load, measured in zip(loads, zip(*runs, strict=True), strict=True):
                rate = statistics.median(measured)
                rates["ours", load.depth, processes, batch] = rate
                report.add("ours", load.depth, processes, batch, count, rate)
    return rates


def _article_at_depths(report: Report, url: str, arguments: Any, data: bytes) -> Rates:
    rates: Rates = {}
    for depth in arguments.depths:
        measured = [
            pops_a_second(
                url,
                depth=depth,
                most_pops=ARTICLE_POPS,
                most_seconds=arguments.article_seconds,
                data=data,
            )
            for _ in range(arguments.repeat)
        ]
        rates["article's", depth, 1, 1] = rate = statistics.median(measured)
        report.add("article's", depth, 1, 1, ARTICLE_POPS, rate)
    return rates


def _conclude(report: Report, rates: Rates, depths: list[int]) -> None:
    for depth in depths:
        ours, article = rates.get(("ours", depth, 1, 100)), rates.get(("article's", depth, 1, 1))
        if ours and article:
            name = f"claim + ack at batch 100 against the article's pop at depth {depth:,}, times"
            report.conclude(name, ours / article)
    for processes, batch in sorted({key[2:] for key in rates if key[0] == "ours"}):
        shallow, deep = (
            rates["ours", depth, processes, batch] for depth in (depths[0], depths[-1])
        )
        name = f"depth {depths[-1]:,} against {depths[0]:,}, batch {batch}, {processes} process(es)"
        report.conclude(name, deep / shallow)


@contextmanager
def _database(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.database_url:
        yield arguments.database_url
        return
    with tempfile.TemporaryDirectory(prefix="sakuin-bench-") as folder:
        if arguments.db == "sqlite":
            yield f"sqlite:///{folder}/queue.db"
        else:
            with private_mariadb(Path(folder)) as server:
                yield server.url


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--db", choices=("mariadb", "sqlite"), default="mariadb")
    parser.add_argument("--database-url", help="use this empty database instead of --db")
    parser.add_argument("--bytes", type=int, default=200, help="in a message (default: 200)")
    parser.add_argument("--messages", type=int, default=20_000, help="a run (default: 20000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs a figure (default: 3)")
    parser.add_argument("--depths", type=_numbers, default=[1_000, 50_000])
    parser.add_argument("--batches", type=_numbers, default=[1, 10, 100, 1_000])
    parser.add_argument("--processes", type=_numbers, default=[1, 4])
    parser.add_argument("--quick", action="store_true", help="a tenth of it, once")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.messages //= 10
        arguments.repeat = 1
    arguments.article_seconds = 1.0 if arguments.quick else 5.0
    return arguments


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    main()
