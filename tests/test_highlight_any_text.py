"""Highlights and snippets of any text for any query: never an error, a split character or a lie."""

import random
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from itertools import accumulate, product

import pytest

from conftest import Stress
from oracle import has_edges, matches_settled
from oracle_fold import oracle_fold, settle
from page_contexts import result, results, search_page
from sakuin.app.render import render
from sakuin.indexer.fold import Folding
from sakuin.indexer.highlight import Piece, Snippet, highlight, snippet
from sakuin.indexer.query import And, Not, Or, Phrase, Query, Range, Value, Wildcard
from xss import PAYLOADS

# Each is one character as a reader sees it, and joins none before or after it.
CHARACTERS = [
    *"abAB12 .。、人間東京髙高國国カがーガゔ\n\u3000😀①㌕ﬁßΣСлов(<&>\"'*",
    *(
        "か\u3099",
        "ｶﾞ",
        "e\u0301\u0323",
        "👩\u200d👩\u200d👧",
        "🇯🇵",
        "👍🏽",
        "1\ufe0f\u20e3",
        "\r\n",
    ),
    *(
        "\u1112\u1161\u11ab",
        "가",
        "葛\U000e0100",
        "ก็",
        "กำ",
        "🏳\ufe0f\u200d🌈",
        "\u00ad",
        "𠮷",
        "नी",
    ),
    *("❤\ufe0f\u200d🔥", "z" + "\u0301" * 70, "🏴\U000e0067\U000e0062\U000e007f"),
]
WORDS = [
    "woman",
    "women",
    "Ｗｏｍｅｎ",
    "cat",
    "concat",
    "サーバー",
    "東京タワー",
    "iPhone15",
    "<b>",
]
UNITS = CHARACTERS + [*WORDS, " "] * 3
FOLDINGS = [Folding(*each) for each in product((False, True), repeat=3)]
QUICK, WHOLE = 1_000, 10_000


def test_random_texts_and_queries(stress: Stress) -> None:
    """S2: pieces join to the text, cut between characters; a mark where the search finds."""
    random_ = stress.random()
    for _ in range(stress.count(WHOLE)):
        units = random_.choices(UNITS, k=int(2 ** (random_.random() * 7)))
        text = "".join(units)
        folding, query = random_.choice(FOLDINGS), any_query(random_, text)
        field = random_.choice((None, "body", "title"))
        pieces = highlight(text, query, folding=folding, field=field)
        assert "".join(piece.text for piece in pieces) == text
        ends = [0, *accumulate(len(one) for unit in units for one in characters_of(unit))]
        assert set(accumulate(len(piece.text) for piece in pieces)) <= set(ends)
        body = settle(text, folding)
        leaves = list(asked_for(query, field))
        found = any(finds(leaf, body, folding) for leaf in leaves)
        assert any(piece.hit for piece in pieces) == found, (text, query, folding, field)
        width = random_.randint(12, 150)
        cut = snippet(text, query, width, folding=folding, field=field)
        check_snippet(cut, text, ends, pieces)
        assert any(piece.hit for piece in cut.pieces) == found


def test_random_code_points(stress: Stress) -> None:
    """Whatever is in text and query: surrogates, noncharacters, controls, unassigned ones."""
    random_ = stress.random()
    for _ in range(stress.count(WHOLE) // 4):
        text = "".join(map(chr, any_codes(random_, random_.randint(0, 80))))
        leaf = Phrase("".join(map(chr, any_codes(random_, random_.randint(0, 3)))))
        for query in (leaf, Phrase(text[3:5], open_start=True, open_end=True)):
            pieces = highlight(text, query)
            assert "".join(piece.text for piece in pieces) == text
            snippet(text, query, random_.randint(1, 40))


def check_snippet(cut: Snippet, text: str, ends: Sequence[int], pieces: Sequence[Piece]) -> None:
    """Its windows are parts of the text in order, between characters, marked as the whole is."""
    hits = [piece.hit for piece in pieces for _ in piece.text]
    at = 0
    for fragment in cut.fragments:
        shown = "".join(piece.text for piece in fragment.pieces)
        marked = [piece.hit for piece in fragment.pieces for _ in piece.text]
        at = next(
            start
            for start in range(at, len(text) + 1)
            if text.startswith(shown, start) and hits[start : start + len(shown)] == marked
            and is_end(start, ends) and is_end(start + len(shown), ends)
        ) + len(shown)  # fmt: skip


def is_end(at: int, ends: Sequence[int]) -> bool:
    found = bisect_left(ends, at)
    return found < len(ends) and ends[found] == at


def characters_of(unit: str) -> list[str]:
    return [unit] if unit in CHARACTERS else list(unit)


def any_codes(random_: random.Random, count: int) -> list[int]:
    """Mostly from the blocks where something happens."""
    blocks = ((0, 0x250), (0x300, 0x370), (0x1100, 0x1200), (0x2000, 0x2070), (0x3000, 0x3200),
              (0x4E00, 0x4E80), (0xD7F0, 0xE000), (0xF900, 0x10000), (0x1F1E6, 0x1F650),
              (0xE0000, 0xE0200), (0, 0x110000))  # fmt: skip
    return [random_.randrange(*random_.choice(blocks)) for _ in range(count)]


def any_query(random_: random.Random, text: str, depth: int = 2) -> Query:
    kind = random_.randint(0, 9)
    if depth and kind < 3:
        children = tuple(any_query(random_, text, depth - 1) for _ in range(random_.randint(1, 3)))
        return (And(children), Or(children), Not(children[0]))[kind]
    field = random_.choice((None, None, "body", "title"))
    if kind == 3:
        return random_.choice((Value("source", text[:3]), Range("pages", 1, None)))
    if kind == 4:
        return Wildcard(
            random_.choice((("wom", "n"), ("", "o", "a", ""), ("c", ""), ("", "t"))), field
        )
    start = random_.randint(0, len(text))
    part = random_.choice((text[start : start + random_.randint(1, 4)], random_.choice(UNITS)))
    return Phrase(part, field, open_start=kind > 7, open_end=random_.random() < 0.3)


def asked_for(query: Query, field: str | None, *, asked: bool = True) -> Iterator[Query]:
    """Yield the leaves that must be marked in the text of a field."""
    if isinstance(query, Not):
        yield from asked_for(query.child, field, asked=not asked)
    elif isinstance(query, And | Or):
        for child in query.children:
            yield from asked_for(child, field, asked=asked)
    elif isinstance(query, Phrase | Wildcard) and asked and field in (None, query.field or field):
        yield query


def finds(leaf: Query, body: str, folding: Folding) -> bool:
    """Tell whether the search finds a leaf in a settled text, the naive way."""
    if isinstance(leaf, Phrase):
        wanted = settle(leaf.text, folding)
        return matches_settled(wanted, body, open_start=leaf.open_start, prefix=leaf.open_end)
    assert isinstance(leaf, Wildcard)
    pattern = ".*".join(re.escape(oracle_fold(piece, folding)) for piece in leaf.pieces)
    words = "".join(one if has_edges(one) else " " for one in body).split()
    return any(re.fullmatch(pattern, word) for word in words)


class Reader(HTMLParser):
    """Reads a page: its tags but the marks, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[str]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "mark":
            self.tags.append((tag, sorted(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(cut: Snippet, source: str, query: str) -> Reader:
    pieces = tuple((piece.text, piece.hit) for piece in cut.pieces)
    shown = results(items=(result(1, pieces=pieces, source=source),))
    return Reader(render(search_page(query=query, results=shown), "en"))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_snippet_never_becomes_markup(payload: str) -> None:
    """A script in body, source and query, marked whole, in parts and at every cut of a tag."""
    harmless = page_of(snippet("x", Phrase("x")), "x", "x").tags
    body = f"人{payload}間 {payload}"
    for query in (payload, "script", "<", ">", "/", "'", '"', "&", "e", payload[:5], payload[3:9]):
        for width in (300, 24):
            cut = snippet(body, Or((Phrase(query), Phrase("間"))), width)
            page = page_of(cut, payload, query)
            assert page.tags == harmless
            assert "".join(piece.text for piece in cut.pieces) in page.text
