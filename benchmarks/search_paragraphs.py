"""Searching: the article's four queries, and many more.

    python benchmarks/search_paragraphs.py [FILE] [--count N] [--engine whoosh] [--db sqlite]

Prints the classic table for the article's queries, and median and 95th percentile of the whole of
a search in the process (parse, search, exact total, check of the rows, snippets of ten hits) for
every kind of query, made from what occurs in the text.
"""

import argparse
import random
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from add_paragraphs import _save
from report import Report
from sakuin.app.answer import answer
from sakuin.app.assemble import Parts
from sakuin.app.search_times import time_searches
from sakuin.app.worker import Worker
from sakuin.indexer.engine import Order, orders
from sakuin.indexer.query import Everything
from setting import add_arguments, fresh_parts
from text import paragraphs

ARTICLE = ("人間", "殺し", "残酷", "人間 殺し 残酷")
SEED = 20080801
_FIGURES = ("count", "p50 ms", "p95 ms", "slowest ms", "hits (median)")


@dataclass(frozen=True, slots=True)
class Kind:
    """Queries of one kind, and the page of each that is asked for."""

    name: str
    queries: Sequence[str]
    order: Order = Order.RELEVANCE
    page: int = 1


def main() -> None:
    """Run the benchmark."""
    arguments = _arguments()
    lines = paragraphs(arguments.file, arguments.count)
    report = Report(
        f"search_paragraphs: {len(lines):,} paragraphs, {arguments.engine}", ("queries", *_FIGURES)
    )
    with fresh_parts(arguments) as parts:
        _save(parts, lines, bulk=True)
        start = time.perf_counter()
        Worker(parts.copy, parts.settings).drain()
        drained = time.perf_counter() - start
        for kind in _kinds(lines, arguments.queries, orders(parts.index.fields)):
            report.add(kind.name, *_time(parts, kind))
        for name, *figures in _time_after(parts):
            report.add(name, *figures)
        report.conclude("paragraphs/s made searchable", round(len(lines) / drained))
        for label in ("first", "again"):
            print(f"\n{label}:\n{time_searches(parts, ARTICLE)}")
    report.write(arguments.json)


def _time(parts: Parts, kind: Kind) -> tuple[float, ...]:
    answer(parts, kind.queries[0], order=kind.order, page=kind.page)  # opens files, reads lists
    milliseconds, totals = [], []
    for query in kind.queries:
        found = answer(parts, query, order=kind.order, page=kind.page)
        milliseconds.append(found.seconds * 1000)
        totals.append(found.page.total)
    return _figures(milliseconds, totals)


def _time_after(parts: Parts) -> Iterator[tuple[str, float, float, float, float, float]]:
    """Go on behind the first, the middle and the last ids of everything: it must cost the same."""
    with parts.reader.open() as opened:
        assert opened is not None
        searcher = opened.searcher
        total = searcher.document_count
        for name, offset in (("first", 0), ("middle", total // 2), ("last", total - 20)):
            found = searcher.search(Everything(), order=Order.ID, offset=max(0, offset), limit=1)
            after = found.hits[0].document.id
            milliseconds = []
            for _ in range(20):
                start = time.perf_counter()
                searcher.search(Everything(), order=Order.ID, offset=0, limit=10, after=after)
                milliseconds.append((time.perf_counter() - start) * 1000)
            yield f"everything, after the {name} id", *_figures(milliseconds, [total])


def _figures(
    milliseconds: list[float], totals: list[int]
) -> tuple[float, float, float, float, float]:
    ordered = sorted(milliseconds)
    p95 = ordered[min(len(ordered) - 1, round(len(ordered) * 0.95))]
    middle = statistics.median(ordered), p95, ordered[-1]
    return len(ordered), *middle, statistics.median(totals)


def _kinds(lines: Sequence[str], count: int, known: Sequence[Order]) -> Iterator[Kind]:
    chance = random.Random(SEED)
    latin: set[str] = {word for line in lines for word in re.findall("[A-Za-z]{4,}", line)}
    words = sorted(latin) or ["word"]

    def some(make: Callable[[], str]) -> list[str]:
        return [make() for _ in range(count)]

    def cut(length: int) -> str:
        return f'"{_substring(lines, length, chance)}"'

    def letters(length: int) -> str:
        return chance.choice(words)[:length].lower()

    for length in (1, 2, 3, 4, 8):
        yield Kind(f"{length} characters", some(lambda n=length: cut(n)))  # type: ignore[misc]
    for length in (1, 2, 3):
        yield Kind(f"x* of {length} letters", some(lambda n=length: letters(n) + "*"))  # type: ignore[misc]
    yield Kind("*x of 3 letters", some(lambda: f"*{chance.choice(words)[-3:]}"))
    yield Kind("*x* of 2 letters", some(lambda: f"*{letters(3)[1:]}*"))
    yield Kind("x*y", some(lambda: "{0[0]}*{0[3]}".format(chance.choice(words))))
    yield Kind("two words", some(lambda: f"{cut(2)} {cut(2)}"))
    yield Kind("one or another, without a third", some(lambda: f"({cut(2)} OR {cut(2)}) -{cut(2)}"))
    first = len(lines) // 4
    yield Kind("a word, within a range of ids", some(lambda: f"{cut(2)} id:{first}..{first * 2}"))
    yield Kind("a range of ids alone", some(lambda: f"id:>={chance.randrange(len(lines))}"))
    for order in known[1:]:
        yield Kind(f"2 characters, {order}", some(lambda: cut(2)), order)
        yield Kind(f"1 character, {order}", some(lambda: cut(1)), order)
        if len(lines) >= 1_000:
            everything = ["id:>=0"] * min(count, 20)
            yield Kind(f"everything, {order}, last page", everything, order, len(lines) // 10)


def _substring(lines: Sequence[str], length: int, chance: random.Random) -> str:
    while True:
        line = chance.choice(lines)
        start = chance.randrange(max(1, len(line) - length + 1))
        found = line[start : start + length].strip()
        if found and not found.isascii() and '"' not in found:
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
