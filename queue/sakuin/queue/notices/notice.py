"""Notices and letters, as plain values: what is told, and one telling of it to one address."""

import json
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Self

from sakuin.queue.errors import BadMessage

Fact = str | int | float | None

MOST_SUBJECT = 200
MOST_TEXT = 20_000
MOST_FACT = 2_000
"""Characters of a subject, a text and a fact that are told: the beginning."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_NOT_ON_A_LINE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened: a line, a text for people, and facts for programs."""

    subject: str
    text: str
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Letter:
    """A notice to one address: the payload of a message of kind "sakuin.notice".

    `id` is the same however often it is sent, so that a receiver can tell a repeat.
    """

    id: str
    to: str
    subject: str
    text: str
    facts: dict[str, Fact]

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise BadMessage(f"notice id {self.id[:120]!r}: use 1 to 100 of A-Z a-z 0-9 _ -")
        for name, fact in self.facts.items():
            if isinstance(fact, float) and not math.isfinite(fact):
                raise BadMessage(f"notice fact {name[:120]!r}: {fact} cannot be told")

    @classmethod
    def of(cls, notice: Notice, to: str) -> Self:
        """Return a letter with a fresh id; what is too long or cannot be written is made to fit.

        It refuses nothing: it is made in the transaction that ends a job, which must not fail for
        a line break in a subject. A useless address is found when the letter is sent.
        """
        return cls(
            id=f"notice_{secrets.token_hex(16)}",
            to=_fitted(to, MOST_FACT),
            subject=one_line(_fitted(notice.subject, MOST_TEXT)),
            text=_fitted(notice.text, MOST_TEXT),
            facts={_fitted(name, MOST_FACT): _fact(fact) for name, fact in notice.facts.items()},
        )

    def data(self) -> bytes:
        """Return the JSON that the message holds."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False).encode()


def one_line(text: str) -> str:
    """Return the text with every run of blanks, line breaks and control characters as one blank,
    cut to MOST_SUBJECT characters: what may stand in a header."""
    return _NOT_ON_A_LINE.sub(" ", text).strip()[:MOST_SUBJECT].rstrip()


def _fact(fact: Fact) -> Fact:
    if isinstance(fact, str):
        return _fitted(fact, MOST_FACT)
    return None if isinstance(fact, float) and not math.isfinite(fact) else fact


def _fitted(text: str, most: int) -> str:
    return text[:most].encode("utf-8", "backslashreplace").decode("utf-8")[:most]
