"""The lesson: an index updated in every save, as in 2008, against saves through the queue.

    python benchmarks/the_lesson.py [FILE] [--count 10000] [--engine whoosh] [--db mariadb]

Both sides save the same paragraphs one by one, in the same database, with the same engine, and
end when all of them can be found.
"""

import argparse
import tempfile
from pathlib import Path

from add_paragraphs import _one, _require_searchable, _save
from report import Report
from sakuin.app.assemble import Parts
from sakuin.app.timing import Table
from sakuin.app.worker import Worker
from sakuin.queue import read, replay
from setting import add_arguments, fresh_parts
from text import paragraphs


def main() -> None:
    """Run the benchmark."""
    arguments = _arguments()
    lines = paragraphs(arguments.file, arguments.count)
    report = Report(
        f"the_lesson: {len(lines):,} paragraphs one by one, {arguments.engine}, {arguments.db}",
        ("way", "seconds", "paragraphs/s"),
    )
    table = Table()
    with fresh_parts(arguments) as parts, table.measure("index commit on each save"):
        _the_2008_way(parts, lines)
    with fresh_parts(arguments) as parts:
        with table.measure("through the queue: saved"):
            _save(parts, lines, bulk=False)
        with table.measure("through the queue: searchable"):
            Worker(parts.copy, parts.settings).drain()
        _require_searchable(parts, len(lines))
    for row in table.rows:
        report.add(row.label, row.real, len(lines) / row.real)
    old, saved, searchable = (row.real for row in table.rows)
    report.conclude("the 2008 way / through the queue until saved, seconds", old / saved)
    report.conclude(
        "the 2008 way / through the queue until searchable, seconds", old / (saved + searchable)
    )
    print(f"\n{table}")
    report.write(arguments.json)


def _the_2008_way(parts: Parts, lines: list[str]) -> None:
    """Save each row, and update the one live index before the save returns."""
    index, engine = parts.index, parts.copy.engine
    with tempfile.TemporaryDirectory(prefix="sakuin-2008-") as folder:
        live = Path(folder)
        engine.create(live, index.fields)
        for position, line in enumerate(lines, start=1):
            saved = replay(parts.database, _one(line, position))
            ids = [str(saved.id)]  # type: ignore[attr-defined]
            documents = read(parts.database, lambda c, ids=ids: index.loader.load(c, ids))  # type: ignore[misc]
            with engine.open_writer(live, index.fields, bulk=False) as writer:
                writer.upsert(documents)
                writer.commit()
        searcher = engine.open_searcher(live, index.fields)
        found = searcher.document_count
        searcher.close()
    if found != len(lines):
        raise SystemExit(f"{found} of {len(lines)} paragraphs are searchable")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, help="any text; .gz and .xz too")
    parser.add_argument("--count", type=int, default=10_000, help="default: 10,000")
    add_arguments(parser)
    parser.set_defaults(engine="whoosh")
    return parser.parse_args()


if __name__ == "__main__":
    main()
