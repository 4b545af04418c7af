"""The worst that a query may ask: long queries of many kinds, by both engines (promise S3).

    python benchmarks/query_speed.py [--count 10000] [--engine whoosh] [--json FILE]

Prints median and worst of the processor's time of parse, search and ten hits for every kind of
query, each the best of three; then the worst of all beside what is promised: 50 ms for tantivy,
1 s for whoosh, at 10,000 paragraphs.
"""

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

# The tests' own queries and texts.
import corpus
from hard_queries import hard_queries
from report import Report
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from small_index import BODY, build, documents

PROMISED = {"tantivy": 50.0, "whoosh": 1_000.0}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000, help="how many paragraphs")
    parser.add_argument("--engine", choices=ENGINE_NAMES, help="default: both, one after another")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    lines = corpus.paragraphs("aozora_10k")[: arguments.count]
    report = Report(
        f"query_speed: {len(lines):,} paragraphs", ("queries", "engine", "median ms", "worst ms")
    )
    for name in [arguments.engine] if arguments.engine else ENGINE_NAMES:
        times = _times(name, lines)
        for kind, took in times.items():
            report.add(kind, name, statistics.median(took), max(took))
        whole = [each for took in times.values() for each in took]
        report.conclude(f"{name}: median ms of all", statistics.median(whole))
        report.conclude(f"{name}: worst ms of all, promised {PROMISED[name]:.0f}", max(whole))
    report.write(arguments.json)


def _times(engine_name: str, lines: list[str]) -> dict[str, list[float]]:
    """Return milliseconds by kind."""
    engine, times = engine_named(engine_name), defaultdict[str, list[float]](list)
    with tempfile.TemporaryDirectory(prefix="sakuin-bench-") as folder:
        searcher = engine.open_searcher(build(engine, Path(folder), documents(lines)), BODY)
        for each in hard_queries(lines):
            times[each.kind].append(1_000 * each.seconds(searcher))
        searcher.close()
    return times


if __name__ == "__main__":
    main()
