"""The text of a benchmark: any file, or seeded paragraphs when none is given."""

import gzip
import lzma
import random
from collections.abc import Sequence
from pathlib import Path

_SEED = 20080801
_KANJI = (
    "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金"
    "員九入選立開手米力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法"
)
_KANA = (
    "のにはをたがでてとしれさあいうえおかきくけこせそちつなぬねひふへほまみむめもやゆよらりるろわん"
)
_WORDS = ("人間", "殺し", "残酷", "東京", "学校", "図書館", "電車", "手紙", "天気", "機械")
_LATIN = ("the", "library", "engine", "search", "water", "paper", "2008", "iPhone15", "river")


def paragraphs(path: Path | None, count: int | None) -> list[str]:
    """Return the file's non-blank lines, or `count` (default 10,000) seeded paragraphs."""
    if path is None:
        return _generate(count or 10_000)
    raw = path.read_bytes()
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix)
    text = (unpack(raw) if unpack else raw).decode()
    lines = [line for line in text.split("\n") if line.strip()]
    return lines[:count] if count else lines


def mixed(files: Sequence[Path], count: int, chance: random.Random) -> list[str]:
    """Return so many paragraphs: those of the files, then halves of two put together.

    Without a file they are made up.
    """
    known = [line for file in files for line in paragraphs(file, None)] or paragraphs(None, count)
    lines = known[:count]
    while len(lines) < count:
        one, other = chance.choice(known), chance.choice(known)
        lines.append(one[: len(one) // 2] + other[len(other) // 2 :])
    return lines


def _generate(count: int) -> list[str]:
    chance = random.Random(_SEED)
    return [_paragraph(chance) for _ in range(count)]


def _paragraph(chance: random.Random) -> str:
    """Make a paragraph of about a hundred characters: kanji, kana, some Latin, punctuation."""
    sentences = []
    for _ in range(chance.randint(1, 5)):
        parts = []
        for _ in range(chance.randint(4, 10)):
            parts.append("".join(chance.choices(_KANJI, k=chance.randint(1, 3))))
            parts.append("".join(chance.choices(_KANA, k=chance.randint(1, 4))))
            if chance.random() < 0.08:
                parts.append(chance.choice(_WORDS))
            if chance.random() < 0.03:
                parts.append(f" {chance.choice(_LATIN)} ")
        sentences.append("".join(parts) + "。")
    return "".join(sentences)
