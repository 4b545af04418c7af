"""What one small batch costs in a large index: it must depend on the change, not on the index.

    python benchmarks/publish_batches.py [--small 1000] [--large 100000] [--engine whoosh]

Times batches of 1, 100 and 1,000 changed rows, from the claim to the ack, medians of several.
"""

import argparse
import statistics
import time
from dataclasses import replace

from sqlalchemy import func, select, update

from add_paragraphs import SOURCE, _save
from report import Report
from sakuin.app.assemble import Parts
from sakuin.app.paragraph import Paragraph
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.worker import Worker, limits
from sakuin.indexer.batch import run_batch
from sakuin.indexer.changes import push_changes
from sakuin.indexer.sweep import sweep
from sakuin.queue import replay
from setting import add_arguments, fresh_parts
from text import paragraphs


def main() -> None:
    """Run the benchmark."""
    arguments = _arguments()
    report = Report(
        f"publish_batches: {arguments.engine}, {arguments.db}",
        ("documents", "rows changed", "batches", "median ms", "slowest ms"),
    )
    medians = {}
    for size in (arguments.small, arguments.large):
        with fresh_parts(arguments) as parts:
            _save(parts, paragraphs(None, size), bulk=True)
            Worker(parts.copy, parts.settings).drain()
            for rows in (1, 100, 1000):
                times = [_batch(parts, rows, turn) for turn in range(arguments.batches)]
                medians[size, rows] = statistics.median(times)
                report.add(size, rows, len(times), medians[size, rows], max(times))
    ratio = medians[arguments.large, 1] / medians[arguments.small, 1]
    report.conclude("one-row batch, large index / small index", ratio)
    report.write(arguments.json)


def _batch(parts: Parts, rows: int, turn: int) -> float:
    """Change some rows and publish them; return the milliseconds of the batch."""

    def change(connection) -> None:  # type: ignore[no-untyped-def]
        last = connection.execute(select(func.max(Paragraph.position))).scalar_one()
        first = 1 + turn * 7919 % max(1, last - rows)
        chosen = (Paragraph.source == SOURCE) & Paragraph.position.between(first, first + rows - 1)
        body = Paragraph.body + f" {turn}"
        connection.execute(update(Paragraph).where(chosen).values(body=body))
        ids = connection.execute(select(Paragraph.id).where(chosen)).scalars()
        push_changes(connection, PARAGRAPHS, [str(number) for number in ids])

    replay(parts.database, change)
    at_once = replace(limits(parts.settings), gather_seconds=0.0)
    start = time.perf_counter()
    run_batch(parts.copy, at_once)
    milliseconds = (time.perf_counter() - start) * 1000
    sweep(parts.copy.generations)
    return milliseconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", type=int, default=1000, help="documents (default: 1,000)")
    parser.add_argument("--large", type=int, default=100_000, help="documents (default: 100,000)")
    parser.add_argument("--batches", type=int, default=30, help="batches of each size")
    add_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
