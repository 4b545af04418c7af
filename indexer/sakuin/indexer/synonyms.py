"""Synonyms of a file: what else a word of a query stands for (`PC, パソコン`; `米国 => USA`)."""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

from sakuin.indexer.fold import DEFAULT_FOLDING, Folding, fold

MOST_GROUPS: Final = 10_000
MOST_TERMS: Final = 20
LONGEST_TERM: Final = 100
_LONGEST_LINE = MOST_TERMS * (LONGEST_TERM + 5)

_LINE_END = re.compile(r"\r\n?|\n")
_ARROW = re.compile("=>|＝＞")
_COMMA = re.compile("[,，、]")


class BadSynonyms(ValueError):
    """A line of synonyms that cannot be read; the message names it and the remedy."""

    def __init__(self, line: int, fault: str) -> None:
        super().__init__(f"synonyms, line {line}: {fault}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Group:
    """One line: whoever looks for one of `words` finds all of `meanings` too."""

    words: tuple[str, ...]
    meanings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synonyms:
    """The groups of a file. They do not reach through each other: a line says all it means."""

    groups: tuple[Group, ...] = ()
    _places: dict[Folding, dict[str, list[int]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def of(self, word: str, folding: Folding = DEFAULT_FOLDING) -> tuple[str, ...]:
        """Return what else a word stands for, in the order of the lines.

        Words compare by what a search takes to be one spelling; each meaning comes once, and the
        word itself not at all.
        """
        if folding not in self._places:
            self._places[folding] = self._places_by(folding)
        key = _settled(word, folding)
        found = {key: ""}
        for place in self._places[folding].get(key, ()):
            for meaning in self.groups[place].meanings:
                found.setdefault(_settled(meaning, folding), meaning)
        return tuple(filter(None, found.values()))

    def _places_by(self, folding: Folding) -> dict[str, list[int]]:
        """Return in which groups each word stands, as it compares."""
        places: dict[str, list[int]] = {}
        for place, group in enumerate(self.groups):
            for key in dict.fromkeys(_settled(word, folding) for word in group.words):
                places.setdefault(key, []).append(place)
        return places


def read_synonyms(text: str) -> Synonyms:
    """Read the text of a file of synonyms; raise BadSynonyms for the first line that is none.

    A line is a group of words parted by commas, all of which mean each other, or words, `=>`, and
    what these stand for too, one way. Lines that begin with # are remarks.
    """
    groups: list[Group] = []
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(groups) == MOST_GROUPS:
            raise BadSynonyms(number, f"there are more than {MOST_GROUPS:,} groups: use fewer")
        groups.append(_group(line, number))
    return Synonyms(tuple(groups))


def _group(line: str, number: int) -> Group:
    if len(line) > _LONGEST_LINE:
        raise BadSynonyms(number, f"it has more than {_LONGEST_LINE:,} characters: use fewer words")
    sides = [_terms(side, number) for side in _ARROW.split(line)]
    if len(sides) > 2:
        raise BadSynonyms(number, "there are two =>: use one, and a line for each direction")
    if sum(map(len, sides)) > MOST_TERMS:
        raise BadSynonyms(number, f"there are more than {MOST_TERMS} words: use fewer")
    if len(sides) == 2:
        return Group(*sides)
    if len(sides[0]) < 2:
        raise BadSynonyms(number, "there is one word only: write its synonyms behind a comma")
    return Group(sides[0], sides[0])


def _terms(side: str, number: int) -> tuple[str, ...]:
    terms = tuple(" ".join(term.split()) for term in _COMMA.split(side))
    for term in terms:
        if not fold(term).strip():
            raise BadSynonyms(number, "a word is missing: look for a comma or a => too many")
        if len(term) > LONGEST_TERM:
            raise BadSynonyms(number, f"a word has more than {LONGEST_TERM} characters: shorten it")
        _require_searchable(term, number)
    return terms


def _require_searchable(term: str, number: int) -> None:
    """Refuse what no query can hold."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in term):
        raise BadSynonyms(number, f"{term!r} holds a control character: remove it")


def _settled(text: str, folding: Folding) -> str:
    return " ".join(fold(text, folding).split())
