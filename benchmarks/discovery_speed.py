"""Suggestions, did-you-mean, similar documents, frequent and rising words: what each costs.

    python benchmarks/discovery_speed.py [FILE …] [--count 300000] [--engine whoosh] [--json FILE]

Prints median, 95th percentile and worst of the processor's time, each the best of three, in an
index of `count` paragraphs. Of a text with fewer lines, halves of two are put together. Promised
at 300,000 paragraphs, with tantivy: suggestions in 20 ms, rising words in 300 ms; at 100,000
did-you-mean in 50 ms.
"""

import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from arguments import speed_arguments
from report import Report
from sakuin.indexer.did_you_mean import did_you_mean
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import engine_named
from sakuin.indexer.rising_words import rising_words
from sakuin.indexer.similar import search_similar
from sakuin.indexer.suggest import suggest
from small_index import BODY, build, documents
from text import mixed

SEED = 20080801
Work = Callable[[], object]


def main() -> None:
    """Run the benchmark."""
    arguments = speed_arguments(__doc__, count=300_000, queries=150)
    chance = random.Random(SEED)
    lines = mixed(arguments.files, arguments.count, chance)
    engine = engine_named(arguments.engine)
    report = Report(
        f"discovery_speed: {len(lines):,} paragraphs, {engine.name}",
        ("what", "count", "p50 ms", "p95 ms", "slowest ms"),
    )
    with tempfile.TemporaryDirectory(prefix="sakuin-bench-") as folder:
        searcher = engine.open_searcher(build(engine, Path(folder), documents(lines)), BODY)
        for what, works in _kinds(searcher, lines, arguments.queries, chance):
            took = sorted(_milliseconds(work) for work in works)
            p95 = took[int(0.95 * (len(took) - 1))]
            report.add(what, len(took), statistics.median(took), p95, took[-1])
        searcher.close()
    report.write(arguments.json)


def _kinds(
    searcher: Searcher, lines: Sequence[str], count: int, chance: random.Random
) -> Iterator[tuple[str, Sequence[Work]]]:
    """Yield what is measured, and so many examples of it."""
    for length in range(1, 7):
        pieces = [_piece(lines, length, chance) for _ in range(count)]
        yield f"suggest, {length} typed", [_suggesting(searcher, piece) for piece in pieces]
    letters = Counter(letter for line in lines[:10_000] for letter in line if letter.isalnum())
    frequent = [letter for letter, _ in letters.most_common(30)]
    yield "suggest, a frequent character", [_suggesting(searcher, one) for one in frequent]
    second = [f"{_piece(lines, 2, chance)} {_piece(lines, 1, chance)}" for _ in range(count)]
    yield "suggest, behind another word", [_suggesting(searcher, piece) for piece in second]
    slips = [_slip(_piece(lines, 6, chance), chance) for _ in range(count)]
    yield "did you mean, one slip", [_meaning(searcher, slip) for slip in slips]
    long = [" ".join(chance.choices(slips, k=64)) for _ in range(max(count // 10, 3))]
    yield "did you mean, 64 words with slips", [_meaning(searcher, text) for text in long]
    ids = [str(chance.randrange(len(lines))) for _ in range(count)]
    yield "similar", [_comparing(searcher, one) for one in ids]
    yield "frequent words", [lambda: searcher.words("", most=50)] * 3
    for share in (0.99, 0.9, 0.5):
        since = int(share * len(lines))
        works = [lambda since=since: rising_words(searcher, BODY, since=since)] * 3
        yield f"rising words, {1 - share:.0%} new", works


def _suggesting(searcher: Searcher, piece: str) -> Work:
    return lambda: suggest(searcher, BODY, piece)


def _meaning(searcher: Searcher, text: str) -> Work:
    return lambda: did_you_mean(searcher, BODY, text)


def _comparing(searcher: Searcher, document_id: str) -> Work:
    return lambda: search_similar(searcher, BODY, document_id)


def _piece(lines: Sequence[str], length: int, chance: random.Random) -> str:
    """Return a piece of a text that begins with a letter, as somebody may type it."""
    while True:
        line = chance.choice(lines)
        start = chance.randrange(max(1, len(line) - length))
        piece = line[start : start + length].strip()
        if piece and piece[0].isalnum():
            return piece


def _slip(piece: str, chance: random.Random) -> str:
    at = chance.randrange(len(piece))
    return piece[:at] + chance.choice("xq亜ズぞ") + piece[at + 1 :]


def _milliseconds(work: Work) -> float:
    """Return the processor's time of one piece of work, the best of three."""
    took = []
    for _ in range(3):
        start = time.process_time()
        work()
        took.append(1_000 * (time.process_time() - start))
    return min(took)


if __name__ == "__main__":
    main()
