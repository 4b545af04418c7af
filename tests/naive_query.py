"""What a query finds, read from its text in the plainest way (promise S3).

Shares no code with the query language: recursive descent over a simple part of the grammar, and
regular expressions over texts of small letters, digits and kanji. Queries of that part are made
up here too.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product

WORDS = ("a", "ab", "ba", "b2", "人", "人間", "間", "2*3", "f(x)", "12:30", "a-b", "b")
FILES = ("a.txt", "b b.txt", "人間.txt")
_PARTS = re.compile(
    r"""-(?=\()|\w+:(?=\()|[()]|(?:-?\w+:|-)?\*?"[^"]*"(?:\*|~\d+)?|(?:f\(x\)|[^\s()])+"""
)
_PLAIN = str.maketrans("（）－　：＊ＡＮＤＯＲＴ", "()- :*ANDORT")


@dataclass(frozen=True, slots=True)
class Row:
    """A document, with its time as text."""

    id: int
    title: str
    body: str
    source: str
    created: str


def rows(random_: random.Random, count: int) -> list[Row]:
    """Make up documents of a few words that touch or stand apart."""

    def text() -> str:
        words = random_.choices(WORDS, k=random_.randint(0, 6))
        return "".join(word + random_.choice(["", " ", "。"]) for word in words)

    def created() -> str:
        day, hour = random_.randint(1, 28), random_.randint(0, 23)
        return f"20{random_.randint(22, 25)}-{random_.randint(1, 12):02}-{day:02}T{hour:02}:30:00"

    return [Row(n, text(), text(), random_.choice(FILES), created()) for n in range(count)]


class Reading:
    """Reads one query in Sakuin's own language and finds the rows that it asks for."""

    def __init__(self, text: str, among: list[Row]) -> None:
        self.parts = _PARTS.findall(text.translate(_PLAIN))
        self.among = among
        self.everything = {row.id for row in among}
        self.fields = [""]

    def found(self) -> set[int]:
        """Return the ids of the rows."""
        found = self._alternatives()
        assert not self.parts, self.parts
        return found

    def _alternatives(self) -> set[int]:
        found = self._all()
        while self._take("OR"):
            found |= self._all()
        return found

    def _all(self) -> set[int]:
        found = self._one()
        while self.parts and self.parts[0] not in ("OR", ")"):
            self._take("AND")
            found &= self._one()
        return found

    def _one(self) -> set[int]:
        part = self.parts.pop(0)
        if part in ("NOT", "-"):
            return self.everything - self._one()
        named = part[-1] == ":" and self._take("(")
        if part == "(" or named:
            self.fields.append(part[:-1] if named else self.fields[-1])
            found = self._alternatives()
            self.fields.pop()
            assert self._take(")")
            return found
        if part[0] == "-":
            return self.everything - self._term(part[1:])
        return self._term(part)

    def _take(self, word: str) -> bool:
        if self.parts[:1] != [word]:
            return False
        del self.parts[0]
        return True

    def _term(self, term: str) -> set[int]:
        named = re.match("(title|body|source|id|created):", term)
        field = named[1] if named else self.fields[-1]
        fits = _matcher(field, term[named.end() if named else 0 :])
        return {row.id for row in self.among if fits(row)}


def _matcher(field: str, value: str) -> Callable[[Row], bool]:
    if field == "id":
        return lambda row: _in_range(
            value, lambda limit: (row.id > int(limit)) - (row.id < int(limit))
        )
    if field == "created":
        return lambda row: _in_range(
            value,
            lambda limit: (row.created[: len(limit)] > limit) - (row.created[: len(limit)] < limit),
        )
    if field == "source":
        name, star = value.rstrip("*").strip('"'), value.endswith("*")
        return lambda row: row.source.startswith(name) if star else row.source == name
    if near := re.fullmatch('"(.*)"~(.*)', value):
        parts, distance = [f'"{part}"' for part in near[1].split()], int(near[2])
    else:
        parts, distance = [value], 0
    patterns = [word_pattern(part) for part in parts]
    return lambda row: any(
        _are_near(patterns, distance, text)
        for name, text in (("title", row.title), ("body", row.body))
        if field in ("", name)
    )


def _are_near(patterns: list[re.Pattern[str]], distance: int, text: str) -> bool:
    """Tell whether some places of the patterns, none overlapping, have so little beside them."""
    places = [
        [place.span(1) for place in re.finditer(f"(?=({pattern.pattern}))", text)]
        for pattern in patterns
    ]
    for spans in map(sorted, product(*places)):
        gaps = [text[a[1] : b[0]] for a, b in pairwise(spans)]
        apart = all(a[1] <= b[0] for a, b in pairwise(spans))
        if apart and len(re.findall("[a-z0-9]+|\\S", "\n".join(gaps))) <= distance:
            return True
    return False


def word_pattern(word: str) -> re.Pattern[str]:
    """Return what finds a word, a phrase, or one with stars."""
    inner = word.strip("*").strip('"')
    before = "" if word[0] == "*" or not re.match("[a-z0-9]", inner) else "(?<![a-z0-9])"
    behind = "" if word[-1] == "*" or not re.search("[a-z0-9]$", inner) else "(?![a-z0-9])"
    pattern = before + re.escape(inner) + behind
    if '"' not in word and re.fullmatch(r"[a-z0-9]+(\*[a-z0-9]+)+", inner):
        pattern += "|" + before + inner.replace("*", "[a-z0-9]*") + behind
    return re.compile(pattern)


def _in_range(value: str, side: Callable[[str], int]) -> bool:
    """Tell where a row stands: `side` is -1 below a limit, 0 in it, 1 above it."""
    if ".." in value:
        low, high = value.split("..")
        return (not low or side(low) >= 0) and (not high or side(high) <= 0)
    sign, limit = re.match("([<>]?=?)(.*)", value).groups()  # type: ignore[union-attr]
    return {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}.get(sign, (0,)).count(
        side(limit)
    ) > 0


def query(random_: random.Random, depth: int = 3) -> str:
    """Make up a query in Sakuin's own language."""
    kind = random_.randint(0, 9) if depth else 0
    if kind < 4:
        return _term(random_)
    if kind < 6:
        negation = random_.choice(["NOT ", "-", "－", "ＮＯＴ　"])
        inner = query(random_, depth - 1)
        return negation + (inner if re.fullmatch(r"[^\s\-－]\S*", inner) else f"({inner})")
    parts = [query(random_, depth - 1) for _ in range(random_.randint(2, 3))]
    group = random_.choice(["{}", "({})", "（{}）"])
    if random_.random() < 0.1:
        parts = [word(random_), word(random_)]
        group = random_.choice(["title:({})", "body：（{}）"])
    return group.format(random_.choice([" ", "　", " AND ", " OR ", " ＯＲ "]).join(parts))


def _term(random_: random.Random) -> str:
    pick = random_.choice
    number, month = random_.randint(0, 40), f"202{pick('2345')}-0{pick('123456789')}"
    limit = pick([month, month[:4], f"{month}-15", f"{month}-15T12:30"])
    return pick(
        [
            "source:" + pick(["a.txt", "b*", "人*", '"b b.txt"', "x"]),
            f"id:{pick(['', '>', '>=', '<', '<='])}{number}",
            f"id:{pick([f'{number}..', f'..{number}', f'{number}..{number + 9}'])}",
            f"created:{pick(['', '>', '>=', '<', '<='])}{limit}",
            f"created:{month}..{month[:3]}{pick(['6', '5-12', '9-12-31T23:59'])}",
            *(pick(["", "", "", "title:", "body："]) + word(random_) for _ in range(5)),
        ]
    )


def word(random_: random.Random) -> str:
    """Make up a word, a phrase, or one with stars."""
    one, other = random_.choice(WORDS), random_.choice(WORDS)
    stars = random_.choice([("", ""), ("", ""), ("", "*"), ("*", ""), ("*", "*")])
    shaped = random_.choice([one, one, one, f'"{one} {other}"', f'"{one}"', "a*b", "b*2", "a*b*2"])
    if random_.random() < 0.15:
        return f'"{one} {other}"~{random_.randint(0, 4)}'
    return shaped.join(stars)
