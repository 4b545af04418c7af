"""Texts of the index that are nearly like one of a script without word edges: 宮沢賢二, 宮沢賢治.

Other kana, long vowels and kanji variants are tried, and one character left out; what differs
otherwise is found by the pairs of characters that it shares with the texts.
"""

from collections.abc import Iterator, Sequence
from functools import cache

from rapidfuzz.distance import OSA
from rapidfuzz.fuzz import partial_ratio_alignment

from sakuin.indexer.fold import fold
from sakuin.indexer.guess import Guess, most_edits
from sakuin.indexer.kana_forms import kana_forms
from sakuin.indexer.kanji_variants import kanji_variants
from sakuin.indexer.query import AnyOfTokens, Token
from sakuin.indexer.scripts import Script, script_of
from sakuin.indexer.spelling import texts_of
from sakuin.indexer.suggestion import Trial
from sakuin.indexer.tokens import cut_query

_LONGEST = 30
_HITS = 16
_ALIKE_IN_ONE, _ALIKE_IN_HALF = 500, 100  # words that are looked at
_FORM, _SWAPPED, _PARTED, _SHORTER = 0.3, 0.7, 1.0, 1.6  # how far each is, in edits


def near_texts(trial: Trial, text: str) -> list[Guess]:
    """Return texts that may have been meant by a folded text, not yet tried."""
    if not 1 < len(text) <= _LONGEST:
        return []
    distances = _shorter(text) | dict.fromkeys(_forms(text), _FORM)
    edits = most_edits(text)
    for near, edit in (*_beginning(trial, text, edits), *_alike(trial, text, edits)):
        distance = _SWAPPED if edit == 1 and sorted(near) == sorted(text) else edit
        distances[near] = min(distance, distances.get(near, distance))
    folding = trial.fields.folding
    held = _held(trial, [near for near in distances if fold(near, folding) != text])
    return [Guess((near,), distances[near], most) for near, most in held.items() if most]


def parted_texts(trial: Trial, text: str) -> list[Guess]:
    """Return the two texts that a folded one may be: 全文検索, 全文 検索."""
    places = range(2, min(len(text), _LONGEST) - 1)
    halves = [(text[:at], text[at:]) for at in places if _may_part(text, at)]
    held = _held(trial, [half for pair in halves for half in pair])
    counted = [(pair, min(held[half] for half in pair)) for pair in halves]
    return [Guess(pair, _PARTED, most) for pair, most in counted if most]


def _may_part(text: str, at: int) -> bool:
    """Tell whether a word may end there: not within hiragana, nor soon in katakana."""
    scripts = script_of(text[at - 1]), script_of(text[at])
    if scripts == (Script.KATAKANA, Script.KATAKANA):
        return 3 <= at <= len(text) - 3
    return scripts != (Script.HIRAGANA, Script.HIRAGANA)


def _held(trial: Trial, texts: Sequence[str]) -> dict[str, int]:
    """Return the most documents that can hold each text: those of its rarest token."""
    cuts = {text: cut_query(text, trial.fields.folding).tokens for text in texts if len(text) > 1}
    held = trial.searcher.frequencies(
        list(dict.fromkeys(token for tokens in cuts.values() for token in tokens))
    )
    return {
        text: min((held.get(token, 0) for token in tokens), default=0)
        for text, tokens in cuts.items()
    }


def _forms(text: str) -> Iterator[str]:
    """Yield the text in other kana, and with one kanji in another form."""
    yield from kana_forms(text)
    for at, character in enumerate(text):
        for variant in _variants().get(character, ()):
            yield text[:at] + variant + text[at + 1 :]


def _shorter(text: str) -> dict[str, float]:
    """Return the text without each of its characters; one that came twice is nearest."""
    if len(text) < 3:
        return {}
    alone = {text[:at] + text[at + 1 :]: _SHORTER for at in range(len(text))}
    twice = (at for at in range(1, len(text)) if text[at] == text[at - 1])
    return alone | {text[:at] + text[at + 1 :]: _FORM for at in twice}


def _beginning(trial: Trial, text: str, edits: int) -> Iterator[tuple[str, float]]:
    """Yield frequent words that begin with the same character, or the same half.

    Of two characters nothing is changed, but a third may have been between them: 図館, 図書館.
    """
    starts = {text[0]: _ALIKE_IN_ONE, text[: max(2, (len(text) + 1) // 2)]: _ALIKE_IN_HALF}
    for start, most in starts.items():
        for each in trial.searcher.words(start, among=trial.within, most=most):
            distance = OSA.distance(text, each.word, score_cutoff=max(edits, 1))
            if distance <= edits or (distance == 1 and len(each.word) == 3 > len(text)):
                yield each.word, distance


def _alike(trial: Trial, text: str, edits: int) -> Iterator[tuple[str, float]]:
    """Yield what stands in texts that share most pairs of characters with this one."""
    tokens = list(dict.fromkeys(cut_query(text, trial.fields.folding).tokens))
    held = trial.searcher.frequencies(tokens)
    tokens = [token for token in tokens if held.get(token, 0)]
    least = max(1, len(text) - 1 - 2 * edits)
    if not edits or len(tokens) < least:
        return
    found = trial.find(AnyOfTokens(tuple(map(Token, tokens)), least), _HITS)
    for each in texts_of(found.hits, trial.fields):
        if nearest := _nearest(text, each.settled, edits):
            yield nearest


def _nearest(text: str, settled: str, edits: int) -> tuple[str, float] | None:
    """Return the part of a settled text that is nearest to this one, if it is near enough.

    Of parts that are as near the one is taken that begins and ends where a script does.
    """
    place = partial_ratio_alignment(text, settled)
    if place is None:
        return None
    parts = {
        (start, end)
        for start in range(max(0, place.dest_start - 1), place.dest_start + 2)
        for end in range(start + len(text) - edits, start + len(text) + edits + 1)
        if start < end <= len(settled) and " " not in settled[start:end]
    }
    measured = [
        (OSA.distance(text, settled[start:end], score_cutoff=edits), start, end)
        for start, end in parts
    ]
    nearest = min(
        (each for each in measured if each[0] <= edits),
        key=lambda each: (each[0], -_edges(settled, *each[1:]), each),
        default=None,
    )
    return (settled[nearest[1] : nearest[2]], nearest[0]) if nearest else None


def _edges(settled: str, start: int, end: int) -> int:
    """Return at how many of its ends a part begins or ends a run of one script."""
    return sum(
        not 0 < at < len(settled) or script_of(settled[at - 1]) is not script_of(settled[at])
        for at in (start, end)
    )


@cache
def _variants() -> dict[str, tuple[str, ...]]:
    """Return the other forms of each kanji that has some."""
    kin: dict[str, list[str]] = {}
    for variant, kanji in kanji_variants().items():
        kin.setdefault(kanji, [kanji]).append(variant)
    return {one: tuple(c for c in group if c != one) for group in kin.values() for one in group}
