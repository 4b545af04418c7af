"""Words of the index that are spelt nearly like one of a spaced script: debain, debian."""

from collections.abc import Iterator

from rapidfuzz import process
from rapidfuzz.distance import OSA

from sakuin.indexer.engine import WordCount
from sakuin.indexer.guess import Guess, most_edits
from sakuin.indexer.query import Phrase
from sakuin.indexer.scripts import Script, script_of
from sakuin.indexer.spelling import texts_of
from sakuin.indexer.suggestion import Trial

_MOST_ALIKE, _MOST_OF_LETTER = 2_000, 500
_LONGEST_WORD = 30
_HITS = 3
_PARTED = 1.0


def near_words(trial: Trial, word: str) -> list[Guess]:
    """Return words within a few edits of a folded word (two letters changing places are one).

    Looked at are the most frequent words that begin like it, or with its second letter, and those
    that end like it but for the first letter.
    """
    edits = most_edits(word)
    if not edits or len(word) > _LONGEST_WORD:
        return []
    counts = {each.word: each.documents for each in _candidates(trial, word)}
    found = process.extract(word, list(counts), scorer=OSA.distance, score_cutoff=edits, limit=None)
    return [Guess((near,), distance, counts[near]) for near, distance, _ in found if distance]


def parted_words(trial: Trial, word: str) -> list[Guess]:
    """Return the two words that a folded word may be: fulltext, full text."""
    places = range(2, min(len(word), _LONGEST_WORD) - 1)
    halves = [(word[:at], word[at:]) for at in places]
    held = trial.searcher.frequencies([half for pair in halves for half in pair])
    counted = [(pair, min(held.get(half, 0) for half in pair)) for pair in halves]
    return [Guess(pair, _PARTED, count) for pair, count in counted if count]


def _candidates(trial: Trial, word: str) -> Iterator[WordCount]:
    wanted = {word[0]: _MOST_OF_LETTER, word[1]: _MOST_OF_LETTER, word[:2]: _MOST_ALIKE}
    for start, most in wanted.items():
        yield from trial.searcher.words(start, among=trial.within, most=most)
    for rest in (word, word[1:]):
        if len(rest) > 2:
            yield from _ending(trial, rest)


def _ending(trial: Trial, rest: str) -> Iterator[WordCount]:
    """Yield words of the first hits that end so."""
    found = trial.find(Phrase(rest, open_start=True), _HITS)
    for text in texts_of(found.hits, trial.fields):
        at = text.settled.find(rest)
        if at > 0 and script_of(text.settled[at - 1]) is Script.SPACED:
            yield WordCount(text.settled[at - 1] + rest, found.total)
