"""What a query of an older program finds, read from its text in the plainest way (promise S3)."""

import random
import re

from naive_query import WORDS, Row, word_pattern

_PARTS = re.compile(r'[-+](?=\()|[()]|[-+]?"[^"]*"|(?:f\(x\)|[^\s()])+')


def standing(word: str, among: list[Row]) -> set[int]:
    """Return the ids of the rows that hold a word, a phrase, or one with stars."""
    fits = word_pattern(word).search
    return {row.id for row in among if fits(row.title) or fits(row.body)}


def estraier_found(text: str, among: list[Row]) -> set[int]:
    """Return what AND, OR and ANDNOT between phrases find; OR binds tighter."""
    found = {row.id for row in among}
    for negation, group in re.findall(r"(?:^|\sAND(NOT)?\s)(.*?)(?=\sAND|$)", text):
        either = set[int]()
        for phrase in group.split(" OR "):
            command, _, rest = phrase.partition(" ")
            shaped = {"[BW]": f'"{rest}"*', "[EW]": f'*"{rest}"'}.get(command, f'"{phrase}"')
            either |= standing(shaped, among)
        found = found - either if negation else found & either
    return found


def estraier_query(random_: random.Random) -> str:
    """Make up a query of phrases with operators between them."""

    def phrase() -> str:
        words = random_.choices(WORDS, k=random_.randint(1, 2))
        return random_.choice(["", "", "[BW] ", "[EW] "]) + " ".join(words)

    made = phrase()
    for _ in range(random_.randint(0, 4)):
        made += f" {random_.choice(['AND', 'OR', 'ANDNOT'])} {phrase()}"
    return made


class Boolean:
    """Reads one query of MySQL's boolean mode."""

    def __init__(self, text: str, among: list[Row]) -> None:
        pragma, body = re.fullmatch(r"(?:\*D(\+|-|OR) )?(.*)", text).groups()  # type: ignore[union-attr]
        self.without_sign = {"+": "+", "-": "-"}.get(pragma, "")
        self.parts = _PARTS.findall(body)
        self.among = among

    def found(self) -> set[int]:
        """Return what must be, or else what may be, and nothing that must not be."""
        sets: dict[str, list[set[int]]] = {"+": [], "": [], "-": []}
        everything = {row.id for row in self.among}
        while self.parts and self.parts[0] != ")":
            sign, found = self._one()
            while self.parts[:1] == ["OR"]:
                del self.parts[0]
                found = everything - found if sign == "-" else found
                other, more = self._one()
                found = found | (everything - more if other == "-" else more)
                sign = "+" if sign == "+" else ""
            sets[sign or self.without_sign].append(found)
        if sets["+"]:
            wanted = everything.intersection(*sets["+"])
        else:
            wanted = set[int]().union(*sets[""]) if sets[""] else everything
        return wanted.difference(*sets["-"])

    def _one(self) -> tuple[str, set[int]]:
        part = self.parts.pop(0)
        sign = part[0] if part[0] in "+-" else ""
        if part[-1] != "(" and self.parts[:1] == ["("] and part == sign:
            part = self.parts.pop(0)
        if part != "(":
            return sign, standing(part.removeprefix(sign), self.among)
        found = self.found()
        assert self.parts.pop(0) == ")"
        return sign, found


def boolean_query(random_: random.Random, depth: int = 2) -> str:
    """Make up a query of words and groups with and without signs."""
    parts: list[str] = []
    for _ in range(random_.randint(1, 4)):
        word = random_.choice([*WORDS, "a*", '"a b"', '"人間 ab"', "a*b"])
        inner = boolean_query(random_, depth - 1) if depth else ""
        operand = f"({inner})" if inner and random_.random() < 0.3 else word
        between = ["OR"] if parts and random_.random() < 0.2 else []
        parts += [*between, random_.choice(["", "", "+", "-"]) + operand]
    pragma = random_.choice(["", "", "*D+ ", "*D- ", "*DOR "]) if depth == 2 else ""
    return pragma + " ".join(parts)
