"""What the benchmarks of single searches may be told."""

import argparse
from pathlib import Path

from sakuin.indexer.engines import ENGINE_NAMES


def speed_arguments(description: str | None, *, count: int, queries: int) -> argparse.Namespace:
    """Read files, count, queries, engine and json from the command line; these are the defaults."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="texts (default: made-up paragraphs)")
    parser.add_argument("--count", type=int, default=count, help="how many paragraphs")
    parser.add_argument("--queries", type=int, default=queries, help="how many of each kind")
    parser.add_argument("--engine", choices=ENGINE_NAMES, default="tantivy")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser.parse_args()
