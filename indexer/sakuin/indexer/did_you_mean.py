"""What may have been meant by a query that finds nothing; all of it is known to find something.

Words that find nothing are spelt as near words of the index are, in other kana, with one character
more, less or another, parted or joined. As a last step they are left out. Latin letters that were
typed for kana are out of scope.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Hits, Searcher
from sakuin.indexer.fold import fold
from sakuin.indexer.guesses import guesses_for
from sakuin.indexer.query import And, Phrase, Query
from sakuin.indexer.query_words import BareWord, QueryWords, query_words
from sakuin.indexer.spelling import spelling_in, texts_of
from sakuin.indexer.suggestion import Suggestion, SuggestionKind, Trial
from sakuin.indexer.synonyms import Synonyms

# Each bounds how often the index is asked, and so the time, whatever the query.
_MOST_WORDS = 12  # that are looked at
_MOST_MISSING = 3  # that something else is guessed for
_MOST_LEFT_OUT = 6  # that are left out, one after another
_HITS_FOR_SPELLING = 3
_FEW_DOCUMENTS = 2  # a word in so few may be a slip too

_Changes = Mapping[BareWord, tuple[str, ...]]
"""Folded texts for words; none leaves a word out."""


def did_you_mean(
    searcher: Searcher,
    fields: Fields,
    text: str,
    *,
    most: int = 3,
    within: Query | None = None,
    synonyms: Synonyms | None = None,
) -> tuple[Suggestion, ...]:
    """Return up to `most` queries that may have been meant, the likeliest first.

    Nothing for a query that finds something among the documents of `within` (None: all), nor for
    one that is refused; all are read with `synonyms`, as the search reads them. Each finds
    `documents` documents; its kind is SPELLING, or FEWER where a word was left out, but never more
    than half of the words. What holds a star or quotation marks, filters and operators stay.
    """
    trial = Trial(searcher, fields, within, synonyms)
    typed = trial.read(text)
    asked = query_words(text, fields)
    if not asked.words or trial.find(typed.query).total:
        return ()
    tries = _Tries(trial, asked, {typed.meaning})
    totals = {word: trial.find(word.query).total for word in asked.words[:_MOST_WORDS]}
    missing = [word for word, total in totals.items() if not total]
    found = tries.first(_joined(tries, list(totals)), most, are_joined=True)
    if len(found) < most:
        found += tries.first(_respelt(trial, missing, most), most - len(found))
    rare = [word for word, total in totals.items() if 0 < total <= _FEW_DOCUMENTS]
    if not found and rare and len(totals) > 1:
        found = tries.first(_respelt(trial, missing + rare, most), most)
    if not found:
        found = tries.first(_without(tries, totals), most)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Tries:
    """Tries changed queries; `known` are the meanings of those that were tried."""

    trial: Trial
    asked: QueryWords
    known: set[str]

    def first(
        self, ways: Iterable[_Changes], most: int, *, are_joined: bool = False
    ) -> list[Suggestion]:
        """Return up to `most` of the changed queries that are new and find something."""
        found = (self._try(changes, are_joined) for changes in ways)
        return list(islice((each for each in found if each), most))

    def _try(self, changes: _Changes, are_joined: bool) -> Suggestion | None:
        left_out = 0 if are_joined else sum(not parts for parts in changes.values())
        if 2 * left_out > len(self.asked.words):
            return None
        text = self._text(changes)
        reading = self.trial.read(text)
        if reading.meaning in self.known:
            return None
        self.known.add(reading.meaning)
        found = self.trial.find(reading.query, _HITS_FOR_SPELLING)
        if not found.total:
            return None
        is_fewer = left_out > 0 or any(self._loses(*each) for each in changes.items())
        kind = SuggestionKind.FEWER if is_fewer else SuggestionKind.SPELLING
        shown = self._text({word: self._spelt(word, changes[word], found) for word in changes})
        is_same = self.trial.read(shown).meaning == reading.meaning
        return Suggestion(shown if is_same else text, found.total, kind)

    def _loses(self, word: BareWord, parts: tuple[str, ...]) -> bool:
        """Tell whether a word that falls into several has lost something between them."""
        folded = fold(word.text, self.trial.fields.folding)
        return len(parts) > 1 and sum(map(len, parts)) < len("".join(folded.split()))

    def _spelt(self, word: BareWord, parts: tuple[str, ...], found: Hits) -> tuple[str, ...]:
        texts = list(texts_of(found.hits, self.trial.fields, word.field))
        return tuple(spelling_in(texts, part) for part in parts)

    def _text(self, changes: _Changes) -> str:
        written: dict[BareWord, str | None] = {}
        for word, parts in changes.items():
            name = self.asked.text[word.begins : word.start]
            written[word] = f" {name}".join(map(self.trial.as_query, parts)) if parts else None
        return self.asked.changed(written)


def _joined(tries: _Tries, words: Sequence[BareWord]) -> Iterator[_Changes]:
    """Yield two neighbours as one word: full text, fulltext."""
    for one, other in pairwise(words):
        if one.field == other.field and tries.asked.are_neighbours(one, other):
            joined = fold(one.text + other.text, tries.trial.fields.folding)
            if tries.trial.find(Phrase(joined, one.field)).total:
                yield {one: (joined,), other: ()}


def _respelt(trial: Trial, words: Sequence[BareWord], most: int) -> Iterator[_Changes]:
    """Yield the best guess for each word, then the next one for one of them.

    What nothing is guessed for stays, and if that finds nothing is left out.
    """
    guesses = {
        word: found
        for word in words[:_MOST_MISSING]
        if (found := guesses_for(trial, word.text, word.field))
    }
    best = {word: found[0].words for word, found in guesses.items()}
    if best:
        yield best
        for word, others in guesses.items():
            for each in others[1:most]:
                yield {**best, word: each.words}
        if len(best) < len(words):
            yield {**dict.fromkeys(words, ()), **best}


def _without(tries: _Tries, totals: Mapping[BareWord, int]) -> Iterator[_Changes]:
    """Yield the query without the words that find nothing, else without as few as can be."""
    words = tries.asked.words
    missing = [word for word, total in totals.items() if not total]
    if len(missing) < len(words):
        yield dict.fromkeys(missing, ())
        by_total = sorted(totals, key=lambda word: totals[word])
        if 1 < len(words) <= _MOST_LEFT_OUT:
            yield from ({word: ()} for word in by_total)
        if tries.asked.is_plain:
            yield _all_but_few(tries, totals)


def _all_but_few(tries: _Tries, totals: Mapping[BareWord, int]) -> _Changes:
    """Keep each word, in order, that still finds something beside those that were kept."""
    kept: list[BareWord] = []
    for word, total in totals.items():
        together = And(tuple(each.query for each in (*kept, word)))
        if total and tries.trial.find(together).total:
            kept.append(word)
    return dict.fromkeys((word for word in tries.asked.words if word not in kept), ())
