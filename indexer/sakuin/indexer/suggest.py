"""Suggestions while somebody types (promise: each leads to a hit): what the last piece may become.

Words that begin so come from the words of the index, phrases from the texts of the first hits.
Nothing is kept between two calls. Readings are out of scope: `miyazawa` does not become 宮沢;
hiragana that is not converted yet finds words in katakana.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Hit, Searcher
from sakuin.indexer.kana_forms import to_katakana
from sakuin.indexer.locate import Located
from sakuin.indexer.phrases import phrases_of, without_chains
from sakuin.indexer.query import And, Query
from sakuin.indexer.scripts import Script, script_of
from sakuin.indexer.spelling import spelling_in, texts_of
from sakuin.indexer.suggestion import Suggestion, SuggestionKind, Trial
from sakuin.indexer.synonyms import Synonyms
from sakuin.indexer.typed import Opening, openings

_MOST_TEXTS, _FEWEST_TEXTS = 64, 4
_MOST_CHARACTERS = 200_000  # of all the texts that are read
_MOST_PHRASES, _MOST_SPELLINGS = 5, 12
_SMALL_WORD = 4  # letters
_MANY_DOCUMENTS, _MANY_OF_ALL = 100, 0.05


@dataclass(frozen=True, slots=True)
class _Tried:
    """A completion that finds something: the folded piece, how it is read, and the first hits."""

    opening: Opening
    piece: str
    kind: SuggestionKind
    text: str
    meaning: str
    documents: int
    hits: tuple[Hit, ...]

    @property
    def is_word(self) -> bool:
        return self.kind is SuggestionKind.WORD

    @property
    def whole(self) -> str:
        return self.opening.head + self.piece


def suggest(
    searcher: Searcher,
    fields: Fields,
    typed: str,
    *,
    most: int = 8,
    within: Query | None = None,
    synonyms: Synonyms | None = None,
) -> tuple[Suggestion, ...]:
    """Return up to `most` queries that complete what is typed, the ones that find most first.

    What stands before the last piece stays as it is, and narrows what is offered. Each suggestion
    differs from what is typed and from the others by more than spelling, and finds `documents`
    documents among those of `within` (None: all), read with `synonyms` as a search reads it. The
    spelling is the one of the texts.
    """
    trial = Trial(searcher, fields, within, synonyms)
    known = {trial.read(typed).meaning}
    last, whole = openings(typed, fields)
    tried: list[_Tried] = []
    texts: list[Located] = []
    if last:
        words = _words(trial, last, most)
        tried += _try(trial, last, words, SuggestionKind.WORD, known)
    if (opening := whole or last) and not _begins_anything(opening):
        texts = _texts(trial, opening, [hit for each in tried for hit in each.hits])
        phrases = _phrases(trial, opening, texts, _room(most, len(tried)) + 1)
        tried += _try(trial, opening, phrases, SuggestionKind.PHRASE, known)
    return tuple(
        Suggestion(_spelt(trial, each, texts), each.documents, each.kind)
        for each in _chosen(tried, most)
    )


def _begins_anything(opening: Opening) -> bool:
    """Tell that one hiragana is typed: too many phrases begin so to offer some."""
    return len(opening.piece) == 1 and script_of(opening.piece) is Script.HIRAGANA


def _spelt(trial: Trial, each: _Tried, texts: Iterable[Located]) -> str:
    """Return the whole query, its last piece spelt as in the texts that were read."""
    own = texts_of(each.hits, trial.fields, each.opening.field)
    with_it = (text for text in texts if each.piece in text.settled)
    spelling = spelling_in(islice(chain(own, with_it), _MOST_SPELLINGS), each.piece)
    text = each.opening.head + trial.as_query(spelling)
    return text if trial.read(text).meaning == each.meaning else each.text


def _words(trial: Trial, opening: Opening, most: int) -> list[str]:
    """Return the most frequent words of the index that begin with the piece, in either kana."""
    if " " in opening.piece:
        return []
    conditions = tuple(each for each in (opening.narrow, trial.within) if each)
    among = And(conditions) if conditions else None
    found = [
        each
        for start in dict.fromkeys((opening.piece, to_katakana(opening.piece)))
        for each in trial.searcher.words(start, among=among, most=most)
    ]
    found.sort(key=lambda each: -each.documents)
    return [each.word for each in found[:most]]


def _room(most: int, words: int) -> int:
    """Return how many phrases are wanted beside so many words."""
    return max(most * 3 // 8, most - words)


def _phrases(trial: Trial, opening: Opening, texts: Sequence[Located], most: int) -> list[str]:
    """Return frequent phrases that begin with the piece, without those that end in a small word.

    (A word of few letters in many documents, as `the`: more has to follow.)
    """
    settled = [text.settled for text in texts]
    found = phrases_of(settled, opening.piece, min(most, _MOST_PHRASES))
    ends = {phrase: phrase.rpartition(" ")[2] for phrase in found if " " in phrase}
    small = [end for end in ends.values() if len(end) <= _SMALL_WORD]
    held = trial.searcher.frequencies(small)
    many = max(_MANY_DOCUMENTS, _MANY_OF_ALL * trial.searcher.document_count)
    return [phrase for phrase in found if held.get(ends.get(phrase, ""), 0) <= many]


def _texts(trial: Trial, opening: Opening, seen: Sequence[Hit]) -> list[Located]:
    """Return texts that may hold phrases: the fewer, the longer those are that were seen."""
    query, fields = opening.query(), trial.fields
    hits = seen or trial.find(query, 1).hits
    sizes = [sum(len(hit.document.text[name]) for name in fields.searched) for hit in hits]
    fitting = _MOST_CHARACTERS * len(sizes) // (sum(sizes) + 1)
    limit = max(_FEWEST_TEXTS, min(fitting, _MOST_TEXTS))
    found = trial.find(query, limit).hits if hits else ()
    return list(texts_of(found, fields, opening.field))


def _try(
    trial: Trial, opening: Opening, pieces: Iterable[str], kind: SuggestionKind, known: set[str]
) -> Iterator[_Tried]:
    """Yield what finds something, is not known yet, and does not say a word again."""
    for piece in pieces:
        if piece in opening.said:
            continue
        text = opening.head + trial.as_query(piece)
        reading = trial.read(text)
        if reading.meaning not in known:
            known.add(reading.meaning)
            found = trial.find(reading.query, 1)
            if found.total:
                yield _Tried(opening, piece, kind, text, reading.meaning, found.total, found.hits)


def _chosen(tried: Sequence[_Tried], most: int) -> list[_Tried]:
    """Return those that find most, with room for some of either kind.

    Where two find the same and one begins with the other, the longer is kept; but a word, where
    the longer one is a phrase of a single document.
    """
    begun = tuple(each.whole for each in tried if each.is_word)
    candidates = [
        each
        for each in tried
        if each.is_word or each.documents > 1 or not each.whole.startswith(begun)
    ]
    kept = without_chains({each.whole: each.documents for each in candidates})
    ranked = sorted(
        (each for each in candidates if each.whole in kept),
        key=lambda each: (-each.documents, each.whole),
    )
    words = [each for each in ranked if each.is_word]
    phrases = [each for each in ranked if not each.is_word]
    places = min(len(phrases), _room(most, len(words)))
    chosen = words[: most - places] + phrases[:places]
    return [each for each in ranked if each in chosen]
