"""How often the closest match is the right one: question sets with answers, by the real engine.

    python benchmarks/relevance.py [SET …] [--engine whoosh] [--every N] [--ablate] [--json FILE]

Sets: jsquad drcd_test xquad_en xquad_zh xquad_th medquad_4k; they are read from the corpora beside
the checkout, or from --corpora FOLDER. For each it indexes the passages' text, asks every question
(or every Nth) and prints hit@1, hit@10 and MRR@10 beside those of plain BM25 (over bigrams and
words, as the corpora state them), hit@1 of the questions on which the numbers were chosen (the
first, third …) and of the others, and the median time of a question. --ablate leaves out one
ingredient at a time and prints hit@1 of each set.
"""

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from report import Report
from sakuin.indexer.closest import search_closest
from sakuin.indexer.closest_recipe import Recipe
from sakuin.indexer.engine import Searcher
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from small_index import BODY, build, documents

_CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
_PLAIN_BM25 = {
    "jsquad": (0.889, 0.967, 0.918),
    "drcd_test": (0.934, 0.995, 0.959),
    "xquad_en": (0.920, 0.992, 0.949),
    "xquad_zh": (0.933, 0.992, 0.956),
    "xquad_th": (0.842, 0.973, 0.891),
    "medquad_4k": (0.547, 0.882, 0.682),
}
_RECIPES = {
    "all": Recipe(),
    "nothing ranked again": Recipe(ranked_again=0),
    "no best sentence": Recipe(sentence=0),
    "no neighbours": Recipe(neighbours=0),
    "no beginning": Recipe(beginning=0),
    "no less for what is common": Recipe(common=0),
    "k1 of the engine": Recipe(saturation=1.2),
    "no single kanji": Recipe(kanji=0),
    "pairs of long runs whole": Recipe(longest_run=1),
    "pairs of mixed scripts whole": Recipe(mixed=1),
    "words like pairs": Recipe(word=1),
    "no English forms, words that ask": Recipe(english=False),
    "none of these": Recipe(word=1, mixed=1, longest_run=1, english=False, ranked_again=0),
}


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Passages, and questions with the places of the passages that answer them."""

    name: str
    passages: Sequence[str]
    questions: Sequence[tuple[str, frozenset[int]]]


@dataclass(frozen=True, slots=True)
class Figures:
    """The rank of the first right passage for each question (None: not in ten), and seconds."""

    ranks: Sequence[int | None]
    seconds: Sequence[float]

    def hit(self, most: int, ranks: Sequence[int | None] | None = None) -> float:
        """Return the share of questions with a right passage among the first."""
        among = self.ranks if ranks is None else ranks
        return sum(rank is not None and rank < most for rank in among) / max(1, len(among))

    @property
    def mean_reciprocal_rank(self) -> float:
        """Return MRR@10."""
        return sum(1 / (1 + rank) for rank in self.ranks if rank is not None) / len(self.ranks)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help="default: all six")
    parser.add_argument("--engine", choices=ENGINE_NAMES, default="tantivy")
    parser.add_argument("--every", type=int, default=1, help="ask every Nth question")
    parser.add_argument("--ablate", action="store_true", help="leave out one ingredient at a time")
    parser.add_argument("--corpora", type=Path, default=_CORPORA, help="the folder of the sets")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    names = arguments.sets or list(_PLAIN_BM25)
    if unknown := [name for name in names if name not in _PLAIN_BM25]:
        parser.error(f"{unknown[0]!r} is no set: choose from {', '.join(_PLAIN_BM25)}")
    if missing := [name for name in names if not (arguments.corpora / name).is_dir()]:
        parser.error(
            f"{arguments.corpora / missing[0]} is missing: name the folder that holds "
            f"{', '.join(missing)} with --corpora FOLDER"
        )
    with tempfile.TemporaryDirectory(prefix="sakuin-bench-") as folder:
        opened = [
            _open(_read(arguments.corpora, name, arguments.every), arguments.engine, Path(folder))
            for name in names
        ]
        report = _ablated(opened) if arguments.ablate else _measured(opened, arguments.engine)
        for _, searcher in opened:
            searcher.close()
    report.write(arguments.json)


def _measured(opened: Sequence[tuple[QuestionSet, Searcher]], engine_name: str) -> Report:
    columns = ("set", "questions", "hit@1", "BM25", "hit@10", "BM25", "MRR@10", "BM25")
    report = Report(
        f"relevance: {engine_name}", (*columns, "hit@1 chosen on", "hit@1 others", "median ms")
    )
    below = []
    for one, searcher in opened:
        found = _ask(one, searcher, Recipe())
        reached = (found.hit(1), found.hit(10), found.mean_reciprocal_rank)
        pairs = list(zip(reached, _PLAIN_BM25[one.name], strict=True))
        halves = [found.hit(1, found.ranks[half::2]) for half in (0, 1)]
        shown = [f"{figure:.3f}" for pair in pairs for figure in pair]
        report.add(
            one.name,
            len(one.questions),
            *shown,
            *(f"{half:.3f}" for half in halves),
            1_000 * statistics.median(found.seconds),
        )
        below += [one.name for ours, plain in pairs if round(ours, 3) < plain]
    report.conclude("sets with a figure below plain BM25", ", ".join(below) or "none")
    return report


def _ablated(opened: Sequence[tuple[QuestionSet, Searcher]]) -> Report:
    report = Report("relevance: hit@1", ("ingredients", *(one.name for one, _ in opened)))
    for label, recipe in _RECIPES.items():
        report.add(
            label,
            *(f"{_ask(one, searcher, recipe).hit(1):.3f}" for one, searcher in opened),
        )
    return report


def _ask(one: QuestionSet, searcher: Searcher, recipe: Recipe) -> Figures:
    ranks, seconds = list[int | None](), []
    for question, right in one.questions:
        began = time.perf_counter()
        found = search_closest(searcher, BODY, question, offset=0, limit=10, recipe=recipe)
        seconds.append(time.perf_counter() - began)
        places = [hit.document.number for hit in found.hits]
        ranks.append(next((at for at, place in enumerate(places) if place in right), None))
    return Figures(ranks, seconds)


def _open(one: QuestionSet, engine_name: str, folder: Path) -> tuple[QuestionSet, Searcher]:
    engine = engine_named(engine_name)
    place = build(engine, folder / one.name, documents(one.passages))
    return one, engine.open_searcher(place, BODY)


def _read(corpora: Path, name: str, every: int) -> QuestionSet:
    """Read a set; the answer of a question is the passage that it was written for."""
    folder = corpora / name
    passages = _lines(folder / "passages.jsonl.gz")
    places = {row["id"]: place for place, row in enumerate(passages)}
    asked, right = [], defaultdict[str, set[int]](set)
    for row in _lines(next(folder.glob("que*.jsonl.gz"))):
        asked.append((row["id"], row.get("question") or row["query"]))
        if "passage_id" in row:
            right[row["id"]].add(places[row["passage_id"]])
    judged = folder / "qrels.tsv"
    for line in judged.read_text(encoding="utf-8").splitlines()[1:] if judged.exists() else ():
        query_id, passage_id, relevance = line.split("\t")
        if int(relevance) > 0:
            right[query_id].add(places[passage_id])
    questions = [(text, frozenset(right[each])) for each, text in asked[::every]]
    return QuestionSet(name, [row["text"] for row in passages], questions)


def _lines(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        return [json.loads(line) for line in opened]


if __name__ == "__main__":
    main()
