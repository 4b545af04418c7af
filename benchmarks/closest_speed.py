"""A question of 40 characters, and facets beside an exact search: what each costs.

    python benchmarks/closest_speed.py [FILE …] [--count 100000] [--engine whoosh] [--json FILE]

Questions are 40 characters from the middle of a paragraph, cut and turned round at one place so
that no text holds them. Prints median, 95th percentile and worst of the time of parse, search and
ten documents; then of exact searches with and without three facets (2,000 keywords, a number,
months), and what the facets add; and the size of the index. Promised at 100,000 paragraphs: a
question in 30 ms, facets in 5 ms more.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from arguments import speed_arguments
from report import Report
from sakuin.indexer.closest import search_closest
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.engines import engine_named
from sakuin.indexer.facet import Facet, Step
from sakuin.indexer.parse import parse
from small_index import build
from text import mixed

SEED, LENGTH = 20080801, 40
FIELDS = Fields(
    ("body",),
    filters=(Filter("source", FilterKind.KEYWORD), Filter("kind", FilterKind.NUMBER)),
)
FACETS = (Facet("source"), Facet("kind"), Facet("created", step=Step.MONTH))
_HOUR = 3_600 * 1_000_000


def main() -> None:
    """Run the benchmark."""
    arguments = speed_arguments(__doc__, count=100_000, queries=200)
    chance = random.Random(SEED)
    lines = mixed(arguments.files, arguments.count, chance)
    engine = engine_named(arguments.engine)
    report = Report(
        f"closest_speed: {len(lines):,} paragraphs, {engine.name}",
        ("what", "count", "p50 ms", "p95 ms", "slowest ms"),
    )
    with tempfile.TemporaryDirectory(prefix="sakuin-bench-") as folder:
        place = build(engine, Path(folder), _documents(lines), fields=FIELDS)
        searcher = engine.open_searcher(place, FIELDS)
        questions = [_question(lines, chance) for _ in range(arguments.queries)]
        _add(report, "question of 40 characters", [_asked(searcher, one) for one in questions])
        for what, query in (("all", f"-{chr(0xE000)}"), ("a word", "人間"), ("a particle", "の")):
            plain = [_exact(searcher, query, ()) for _ in range(20)]
            counted = [_exact(searcher, query, FACETS) for _ in range(20)]
            _add(report, f"exact, {what}", plain)
            _add(report, f"exact, {what}, three facets", counted)
            added = statistics.median(counted) - statistics.median(plain)
            report.conclude(f"facets add ms, {what}", added)
        searcher.close()
        size = sum(each.stat().st_size for each in place.iterdir())
        text = sum(len(line.encode()) for line in lines)
        report.conclude("index bytes to a byte of text", size / text)
    report.write(arguments.json)


def _documents(lines: Sequence[str]) -> list[Document]:
    return [
        Document(
            str(n),
            n,
            n * _HOUR,
            n,
            {"body": line},
            {"source": f"source {_skewed(n)}", "kind": n % 7},
        )
        for n, line in enumerate(lines)
    ]


def _skewed(number: int) -> int:
    """Return one of 2,000 sources, of which the first have more paragraphs than the last."""
    return int(2_000 * (number * 7919 % 100_003 / 100_003) ** 2)


def _question(lines: Sequence[str], chance: random.Random) -> str:
    """Return 40 characters that no text holds as they are, but that one text has all parts of."""
    long = ""
    while len(long) < LENGTH:
        long = chance.choice(lines)
    start = chance.randrange(len(long) - LENGTH + 1)
    piece = long[start : start + LENGTH]
    turn = chance.randrange(10, LENGTH - 10)
    return piece[turn:] + piece[:turn]


def _asked(searcher: Searcher, question: str) -> float:
    start = time.perf_counter()
    search_closest(searcher, FIELDS, question, within=None, offset=0, limit=10)
    return 1_000 * (time.perf_counter() - start)


def _exact(searcher: Searcher, query: str, facets: Sequence[Facet]) -> float:
    start = time.perf_counter()
    tree = parse(query, fields=FIELDS).query
    searcher.search(tree, order=Order.RELEVANCE, offset=0, limit=10)
    if facets:
        searcher.count(tree, facets)
    return 1_000 * (time.perf_counter() - start)


def _add(report: Report, what: str, took: Sequence[float]) -> None:
    ordered = sorted(took)
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    report.add(what, len(ordered), statistics.median(ordered), p95, ordered[-1])


if __name__ == "__main__":
    main()
