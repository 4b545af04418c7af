"""All benchmarks of the README, one after another, as `make bench` runs them.

    python benchmarks/everything.py [--quick] [--folder FOLDER]

Writes a JSON file for each into FOLDER (default: bench-results). --quick is a tenth of
everything, to see that all of it runs.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Run them all; stop at the first that fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--folder", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, program, options in programs(10 if arguments.quick else 1):
        print(f"\n## {name}", flush=True)
        command = [sys.executable, str(HERE / program), *options]
        command += ["--json", str(arguments.folder / f"{name}.json")]
        subprocess.run(command, check=True)


def programs(part: int) -> list[tuple[str, str, list[str]]]:
    """Return (name, program, options) of each; `part` divides the sizes."""
    count, large = str(20_000 // part), str(100_000 // part)
    small = str(10_000 // part)
    whoosh = ["--engine", "whoosh"]
    return [
        ("messages", "message_queue.py", ["--quick"] if part > 1 else []),
        ("queue_bare", "queue_against_bare.py", ["--quick"] if part > 1 else []),
        ("jobs", "job_speed.py", ["--seconds", str(3 / part)]),
        ("job_peers", "job_peers.py", ["--seconds", str(5 / part), "--rounds", "1"]),
        ("add_one_by_one", "add_paragraphs.py", ["--count", small]),
        ("add_in_bulk", "add_paragraphs.py", ["--bulk", "--count", large]),
        ("add_in_bulk_together", "add_paragraphs.py", ["--bulk", "--together", "--count", large]),
        ("add_in_bulk_whoosh", "add_paragraphs.py", ["--bulk", "--count", small, *whoosh]),
        ("search", "search_paragraphs.py", ["--count", large]),
        ("search_whoosh", "search_paragraphs.py", ["--count", count, *whoosh]),
        ("query_speed", "query_speed.py", ["--count", small]),
        ("closest", "closest_speed.py", ["--count", large]),
        ("discovery", "discovery_speed.py", ["--count", str(300_000 // part)]),
        ("relevance", "relevance.py", []),
        ("attach", "attach_cost.py", ["--saves", str(2_000 // part)]),
        ("attach_sqlite", "attach_cost.py", ["--saves", str(2_000 // part), "--db", "sqlite"]),
        ("publish", "publish_batches.py", ["--large", large]),
        ("publish_whoosh", "publish_batches.py", ["--large", count, "--batches", "10", *whoosh]),
        ("lesson", "the_lesson.py", ["--count", small]),
    ]


if __name__ == "__main__":
    main()
