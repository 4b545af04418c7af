"""Searching: the article's four queries, and many more.

    python benchmarks/search_paragraphs.py [FILE] [--count N] [--engine whoosh] [--db sqlite]

Prints the classic table for the article's queries, and the median and 95th percentile of kinds
of words that occur in the text.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from add_paragraphs import _save
from report import Report
from sakuin.app.assemble import Parts
from sakuin.app.search_times import time_searches
from sakuin.app.worker import Worker
from sakuin.indexer.engine import Order
from sakuin.indexer.query import Phrase
from setting import add_arguments, fresh_parts
from text import paragraphs

ARTICLE = ("人間", "殺し", "残酷", "人間 殺し 残酷")
SEED = 20080801


def main() -> None:
    """Run the benchmark."""
    arguments = _arguments()
    lines = paragraphs(arguments.file, arguments.count)
    report = Report(
        f"search_paragraphs: {len(lines):,} paragraphs, {arguments.engine}",
        ("queries", "count", "p50 ms", "p95 ms", "slowest ms", "hits (median)"),
    )
    with fresh_parts(arguments) as parts:
        _save(parts, lines, bulk=True)
        Worker(parts.copy, parts.settings).drain()
        for kind, queries in _kinds(lines, arguments.queries):
            report.add(kind, len(queries), *_time(parts, queries))
        print()
        for label in ("first", "again"):
            print(f"{label}:\n{time_searches(parts, ARTICLE)}\n")
    report.write(arguments.json)


def _time(parts: Parts, queries: Sequence[str]) -> tuple[float, float, float, float]:
    milliseconds, totals = [], []
    with parts.reader.open() as opened:
        assert opened is not None
        for query in queries:
            start = time.perf_counter()
            hits = opened.searcher.search(Phrase(query), order=Order.RELEVANCE, offset=0, limit=10)
            milliseconds.append((time.perf_counter() - start) * 1000)
            totals.append(hits.total)
    milliseconds.sort()
    p95 = milliseconds[min(len(milliseconds) - 1, round(len(milliseconds) * 0.95))]
    return statistics.median(milliseconds), p95, milliseconds[-1], statistics.median(totals)


def _kinds(lines: Sequence[str], count: int) -> Iterator[tuple[str, list[str]]]:
    chance = random.Random(SEED)
    for length in (1, 2, 3, 4, 8):
        yield f"{length} characters", [_substring(lines, length, chance) for _ in range(count)]


def _substring(lines: Sequence[str], length: int, chance: random.Random) -> str:
    while True:
        line = chance.choice(lines)
        start = chance.randrange(max(1, len(line) - length + 1))
        found = line[start : start + length].strip()
        if found and not found.isascii():
            return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, help="any text; .gz and .xz too")
    parser.add_argument("--count", type=int, help="how many paragraphs (default: all, or 10,000)")
    parser.add_argument("--queries", type=int, default=100, help="queries of each kind")
    add_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
