"""Seeded documents with fields and filters, and seeded queries of every kind to ask of them."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

import corpus
from sakuin.indexer.document import Document, Fields, Filter, FilterKind
from sakuin.indexer.query import (
    And,
    Everything,
    Near,
    Not,
    Nothing,
    Or,
    Phrase,
    Query,
    Range,
    Value,
    Wildcard,
)

CORPORA = ("aozora_10k", "jsquad", "xquad_th", "korean", "mixed_tech")
# Names that engines use themselves, and one that is no ASCII.
FIELDS = Fields(
    ("title", "本文"),
    ("digest", "source"),
    weights=(3.0, 1.0),
    filters=(
        Filter("source", FilterKind.KEYWORD),
        Filter("n", FilterKind.NUMBER),
        Filter("at", FilterKind.TIME),
    ),
    place=("source", "n"),
)
SOURCES = [
    "a",
    "A",
    "a\0",
    "a\0b",
    "aa",
    "ａｂ",
    "か\u3099",
    "が",
    "人間/失格.txt",
    "",
    "𠮷",
    "\uffff",
]
NUMBERS = [-(2**63), 2**63 - 1, -1, 0, 1, 7, 7, 10**15]


def fields_for(name: str) -> Fields:
    """Return the fields of a corpus: of two of them ids are texts."""
    return replace(FIELDS, text_ids=name in ("korean", "mixed_tech"))


def rows_of(
    name: str, most_rows: int, most_characters: int, chance: random.Random
) -> list[Document]:
    """Return the first paragraphs of a corpus as documents, with random values, some missing."""
    lines = corpus.paragraphs(name)[:most_rows]
    sizes = accumulate(map(len, lines))
    lines = lines[: sum(1 for _ in takewhile(lambda size: size < most_characters, sizes))]
    text_ids = fields_for(name).text_ids
    return [_row(number, line, chance, text_ids=text_ids) for number, line in enumerate(lines)]


def _row(number: int, line: str, chance: random.Random, *, text_ids: bool) -> Document:
    values: dict[str, str | int] = {}
    if chance.random() < 0.8:
        values["source"] = chance.choice(SOURCES)
    if chance.random() < 0.8:
        values["n"] = chance.choice([*NUMBERS, chance.randrange(-50, 50)])
    if chance.random() < 0.5:
        values["at"] = chance.randrange(-3, 20) * 86_400_000_000
    one = (
        chance.choice(["doc", "", "Doc-", "記事", "doc\0"]) + str(number)
        if text_ids
        else str(number)
    )
    text = {"title": line[:14], "本文": line, "digest": "x", "source": "Ｙ"}
    at = chance.choice([0, 5, -7, 10**15, number])
    return Document(one, 0 if text_ids else number, at, chance.getrandbits(64), text, values)


class Queries:
    """Makes queries from what stands in some documents."""

    def __init__(self, rows: Sequence[Document], fields: Fields, chance: random.Random) -> None:
        self._rows, self._fields, self._chance = rows, fields, chance
        text = " ".join(row.text["本文"] for row in rows)
        self._words = sorted(set(re.findall(r"[0-9A-Za-zéñ]{2,}", text))) or ["ab", "xyz12"]

    def one(self, depth: int = 3) -> Query:
        """Return a leaf, or a tree of at most this depth."""
        chance = self._chance
        if depth == 0 or chance.random() < 0.6:
            kinds: list[Callable[[], Query]]
            kinds = [self._phrase, self._phrase, self._open, self._gaps, self._value, self._range]
            return chance.choice([*kinds, self._near])()
        children = tuple(self.one(depth - 1) for _ in range(chance.randint(1, 3)))
        kind = chance.random()
        if kind < 0.45:
            return And(children)
        if kind < 0.8:
            return Or(children)
        constant: Query = Everything() if kind > 0.985 else Nothing()
        return Not(children[0]) if kind < 0.97 else constant

    def _field(self) -> str | None:
        return self._chance.choice([None, None, *self._fields.searched])

    def _phrase(self) -> Query:
        line = self._chance.choice(self._rows).text["本文"]
        start = self._chance.randrange(max(1, len(line)))
        return Phrase(line[start : start + self._chance.randint(1, 6)], self._field())

    def _near(self) -> Query:
        """Take two or three pieces of one text, as they come or turned around."""
        chance = self._chance
        line = chance.choice(self._rows).text["本文"]
        parts = []
        for _ in range(chance.choice([2, 2, 3])):
            start = chance.randrange(max(1, len(line)))
            parts.append(Phrase(line[start : start + chance.randint(1, 4)]))
        return Near(tuple(parts), chance.choice([0, 1, 5, 20, 100]), self._field())

    def _open(self) -> Query:
        """Cut a word, or a phrase that begins and ends in one, at either side."""
        chance = self._chance
        if chance.random() < 0.4:
            line = chance.choice(self._rows).text["本文"].strip()
            start = chance.randrange(max(1, len(line)))
            text = line[start : start + chance.randint(2, 12)]
        else:
            word = chance.choice(self._words)
            start = chance.randrange(len(word))
            text = word[start : start + chance.randint(1, 4)]
        return Phrase(text, self._field(), chance.random() < 0.6, chance.random() < 0.6)

    def _gaps(self) -> Query:
        word = self._chance.choice(self._words)
        cuts = sorted(self._chance.choices(range(len(word) + 1), k=self._chance.choice([2, 2, 4])))
        pieces = [word[: cuts[0]], word[cuts[-1] :]]
        if len(cuts) == 4:
            pieces.insert(1, word[cuts[1] : cuts[2]])
        side = self._chance.random()
        if side < 0.2:
            pieces[0] = ""
        elif side < 0.4:
            pieces[-1] = ""
        return Wildcard(tuple(pieces), self._field()) if any(pieces) else Nothing()

    def _value(self) -> Query:
        chance = self._chance
        if self._fields.text_ids and chance.random() < 0.3:
            one = chance.choice(self._rows).id
            return Value("id", one[: chance.randint(0, len(one))], chance.random() < 0.7)
        text = chance.choice(SOURCES)
        return Value("source", text[: chance.randint(0, len(text))], chance.random() < 0.5)

    def _range(self) -> Query:
        chance = self._chance
        names = ["n", "at", "created"] if self._fields.text_ids else ["n", "id", "created"]
        name = chance.choice(names)
        some = [*NUMBERS, -(2**63) - 1, 2**63, 20, 86_400_000_000, *range(0, 300, 40)]
        bounds = [chance.choice([None, *some]) for _ in range(2)]
        if None not in bounds and chance.random() < 0.9:
            bounds.sort(key=lambda each: each or 0)
        return Range(name, *bounds)
