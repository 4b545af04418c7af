"""What may have been meant by one word that finds nothing: near words, or its parts apart."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from sakuin.indexer.fold import fold
from sakuin.indexer.guess import Guess
from sakuin.indexer.near_texts import near_texts, parted_texts
from sakuin.indexer.near_words import near_words, parted_words
from sakuin.indexer.query import And, Phrase
from sakuin.indexer.scripts import Script, script_of
from sakuin.indexer.suggestion import Trial

_MOST_TRIED: Final = 8  # of each kind
_MOST_RUNS: Final = 6
_SAYING = (Script.SPACED, Script.KANJI, Script.KATAKANA, Script.HANGUL)


def guesses_for(trial: Trial, text: str, field: str | None) -> list[Guess]:
    """Return what may have been meant by a word, each known to find something, the best first."""
    folded = " ".join(fold(text, trial.fields.folding).split())
    if not folded:
        return []
    runs = _runs(folded)
    guesses = _tried(trial, _near(trial, folded), field)
    guesses += _tried(trial, _parted(trial, folded, runs), field)
    if not guesses and 1 < len(runs) <= _MOST_RUNS:
        guesses += _tried(trial, _by_runs(trial, runs, field), field)
    return sorted(guesses, key=lambda each: (-each.worth, each.words))


def _tried(trial: Trial, guesses: Iterable[Guess], field: str | None) -> list[Guess]:
    """Return the best of the guesses that find something, with how many documents."""
    found = []
    ranked = sorted(guesses, key=lambda each: (-each.worth, each.words))
    for each in ranked[:_MOST_TRIED]:
        total = trial.find(And(tuple(Phrase(word, field) for word in each.words))).total
        if total:
            found.append(Guess(each.words, each.distance, total))
    return [each for each in found if not any(_is_part(each, other) for other in found)]


def _is_part(one: Guess, other: Guess) -> bool:
    """Tell whether all that a guess finds holds more of what was typed: 宮沢賢, 宮沢賢治."""
    if one.documents != other.documents or len(one.words) > 1 or len(other.words) > 1:
        return False
    return one.words != other.words and one.words[0] in other.words[0]


def _near(trial: Trial, folded: str) -> list[Guess]:
    is_word = all(script_of(character) is Script.SPACED for character in folded)
    return near_words(trial, folded) if is_word else near_texts(trial, folded)


def _parted(trial: Trial, folded: str, runs: list[str]) -> list[Guess]:
    if len(runs) > 1:
        saying = _without_particles(runs)
        return [Guess(saying, 1.0)] if saying else []
    is_word = script_of(folded[0]) is Script.SPACED
    return parted_words(trial, folded) if is_word else parted_texts(trial, folded)


def _by_runs(trial: Trial, runs: list[str], field: str | None) -> Iterator[Guess]:
    """Yield the text with each run that finds nothing as the best guess for it, and apart."""
    better: list[str] = []
    distance = 0.0
    for run in runs:
        is_there = len(run) < 2 or trial.find(Phrase(run, field)).total
        guesses = [] if is_there else _tried(trial, _near(trial, run), field)
        best = max(guesses, key=lambda each: (each.worth, each.words), default=Guess((run,), 0.0))
        better += best.words
        distance += best.distance
    yield Guess(("".join(better),), distance)
    if saying := _without_particles(better):
        yield Guess(saying, distance + 1)


def _without_particles(runs: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a text that has single characters between them: 全文検索の方法.

    Nothing for a text that would lose more than these, or leave a lone kanji: what is left of a
    sentence is no query that anybody means.
    """
    saying = tuple(run for run in runs if script_of(run[0]) in _SAYING)
    others = [run for run in runs if script_of(run[0]) not in _SAYING]
    is_whole = all(len(run) > 1 for run in saying) and all(len(run) == 1 for run in others)
    return saying if is_whole and len(saying) > 1 else ()


def _runs(folded: str) -> list[str]:
    return ["".join(group) for _, group in groupby(folded, key=script_of)]
