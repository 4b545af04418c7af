"""Saving paragraphs: one save a line, as in the article, or in bulk; then making them searchable.

    python benchmarks/add_paragraphs.py [FILE] [--bulk] [--db sqlite] [--engine whoosh]

Prints the classic table (saved, searchable), and against the same INSERT alone what the message
costs a save. The worker runs when all is saved, so that each figure has the machine to itself;
--together runs it as a process of its own meanwhile.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import insert

from report import Report
from sakuin.app.assemble import Parts
from sakuin.app.child_worker import child_worker
from sakuin.app.follow import follow
from sakuin.app.paragraph import Paragraph
from sakuin.app.save import NewParagraph, add_paragraph, add_paragraphs
from sakuin.app.timing import Table
from sakuin.app.worker import Worker
from sakuin.queue import replay
from setting import add_arguments, fresh_parts
from text import paragraphs

SOURCE = "benchmark"
ROUNDS = 10


def main() -> None:
    """Run the benchmark."""
    arguments = _arguments()
    lines = paragraphs(arguments.file, arguments.count)
    way = "bulk" if arguments.bulk else "one save a line"
    report = Report(
        f"add_paragraphs: {len(lines):,} paragraphs, {way}, {arguments.db}, {arguments.engine}",
        ("step", "seconds", "paragraphs/s"),
    )
    table = Table()
    with fresh_parts(arguments) as parts:
        if arguments.together:
            _together(parts, lines, table, bulk=arguments.bulk)
        else:
            _apart(parts, lines, table, bulk=arguments.bulk)
        for row in table.rows:
            report.add(row.label, row.real, len(lines) / row.real)
        if not arguments.bulk:
            ratio = _against_insert_alone(parts, lines[: arguments.compared])
            report.conclude("single save+enqueue / the same INSERT alone, rate", ratio)
    print(f"\n{table}")
    report.write(arguments.json)


def _apart(parts: Parts, lines: Sequence[str], table: Table, *, bulk: bool) -> None:
    with table.measure("saved"):
        _save(parts, lines, bulk=bulk)
    with table.measure("searchable"):
        Worker(parts.copy, parts.settings).drain()
    _require_searchable(parts, len(lines))


def _together(parts: Parts, lines: Sequence[str], table: Table, *, bulk: bool) -> None:
    start = time.perf_counter()
    with child_worker(parts.settings):
        with table.measure("saved"):
            _save(parts, lines, bulk=bulk)
        with table.measure("searchable") as row:
            follow(parts, lambda _: None, patience_seconds=60)
        row.real = time.perf_counter() - start
    _require_searchable(parts, len(lines))


def _save(parts: Parts, lines: Sequence[str], *, bulk: bool) -> None:
    if not bulk:
        for position, line in enumerate(lines, start=1):
            replay(parts.database, _one(line, position))
        return
    for start in range(0, len(lines), 1000):
        chunk = [
            NewParagraph(SOURCE, start + at, line)
            for at, line in enumerate(lines[start : start + 1000], start=1)
        ]
        replay(parts.database, lambda c, chunk=chunk: add_paragraphs(c, chunk))  # type: ignore[misc]


def _one(line: str, position: int, source: str = SOURCE) -> Callable[..., object]:
    return lambda connection: add_paragraph(connection, line, source, position)


def _against_insert_alone(parts: Parts, lines: Sequence[str]) -> float:
    """Return the rate of saves with message, relative to the INSERT alone: median of rounds.

    The two take turns in short rounds, so that what else the machine does hits both.
    """
    table = Paragraph.__table__
    ratios, size = [], max(1, len(lines) // ROUNDS)
    for number in range(ROUNDS):
        part = lines[number * size : (number + 1) * size]
        if not part:
            break
        start = time.perf_counter()
        for position, line in enumerate(part, start=1):
            row = {"source": f"alone {number}", "position": position, "body": line}
            with parts.database.begin() as connection:
                connection.execute(insert(table), row)  # type: ignore[arg-type]
        middle = time.perf_counter()
        for position, line in enumerate(part, start=1):
            replay(parts.database, _one(line, position, f"both {number}"))
        ratios.append((middle - start) / (time.perf_counter() - middle))
    return statistics.median(ratios)


def _require_searchable(parts: Parts, count: int) -> None:
    with parts.reader.open() as opened:
        found = opened.searcher.document_count if opened else 0
    if found != count:
        raise SystemExit(f"{found} of {count} paragraphs are searchable: the figures mean nothing")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, help="any text; .gz and .xz too")
    parser.add_argument("--count", type=int, help="how many paragraphs (default: all, or 10,000)")
    parser.add_argument("--bulk", action="store_true", help="1,000 rows a transaction")
    parser.add_argument("--together", action="store_true", help="a worker runs meanwhile")
    parser.add_argument(
        "--compared", type=int, default=5000, help="saves to compare with the INSERT alone"
    )
    add_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
