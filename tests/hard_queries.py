"""Queries that are as long, or ask for as much, as the limits allow, by kind; and their times."""

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from any_text import long_text
from sakuin.indexer.dialect import Dialect
from sakuin.indexer.engine import Order, Searcher
from sakuin.indexer.errors import QueryTooLarge
from sakuin.indexer.limits import DEFAULT_LIMITS
from sakuin.indexer.parse import parse
from small_index import BODY

PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class Hard:
    """A query of 1,000 characters at most, and what is hard about it."""

    kind: str
    text: str
    dialect: Dialect = Dialect.SAKUIN

    def seconds(self, searcher: Searcher) -> float:
        """Return the processor's time for parsing, searching and ten hits: the best of three."""
        return min(self._once(searcher) for _ in range(3))

    def _once(self, searcher: Searcher) -> float:
        start = time.process_time()
        parsed = parse(self.text, fields=BODY, dialect=self.dialect)
        with suppress(QueryTooLarge):  # that is an answer too
            searcher.search(parsed.query, order=Order.RELEVANCE, offset=0, limit=10)
        return time.process_time() - start


def hard_queries(lines: Sequence[str]) -> Iterator[Hard]:
    """Make up queries of every kind from what is common in these texts."""
    chance = random.Random(20081130)
    letters = [c for c, _ in Counter("".join(lines)).most_common(100) if c.isalpha()]
    pairs = [
        pair
        for pair, _ in Counter(
            line[at : at + 2] for line in lines for at in range(len(line) - 1)
        ).most_common(400)
        if pair.isalpha()
    ]
    phrases = ["".join(chance.choices(letters[:20], k=58)) for _ in range(16)]
    quoted = max(lines, key=len)[:998].replace('"', " ")
    beside = [f"-({pair} OR {letters[0]})" for pair in pairs[:32]]
    nested = "(" * 20 + " OR ".join(letters[:60]) + ")" * 20 + f" -{pairs[0]}"
    either = zip(pairs, letters[:32], strict=False)
    signed = " ".join(chance.choice("+-") + pair for pair in pairs[:64])
    for kind, text in (
        ("any of 64 characters", " OR ".join(letters[:64])),
        ("all of 64 characters", " ".join(letters[:64])),
        ("none of 64 characters", " ".join(f"-{letter}" for letter in letters[:64])),
        ("any of 64 pairs", " OR ".join(pairs[:64])),
        ("none of 32 pairs or a character", " ".join(beside)),
        ("60 characters, nested", nested),
        ("any of 16 phrases", " OR ".join(phrases)),
        ("one long phrase", f'"{quoted}"'),
        ("one character, 1,000 times", letters[0] * 1_000),
        ("any of 36 *x*", " OR ".join(f"*{one}*" for one in PLAIN)),
        ("any of 64 x*y", " OR ".join(f"{a}*{b}" for a in PLAIN[:8] for b in PLAIN[8:16])),
        (
            'any of 64 *"xy"*',
            " OR ".join(f'*"{a}{b}"*' for a in letters[:8] for b in PLAIN[:8]),
        ),
        *(("any text", long_text(seed)) for seed in range(8)),
    ):
        yield Hard(kind, text[: DEFAULT_LIMITS.length])
    both = " AND ".join(f"[BW] {pair} OR {letter}" for pair, letter in either)
    yield Hard("32 times one or the other", both, Dialect.ESTRAIER)
    yield Hard("64 pairs, with and without", f"*D+ {signed}", Dialect.TRITONN)
