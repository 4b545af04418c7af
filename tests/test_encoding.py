"""Telling encodings apart, on this project's sample and, where they are, on the tricky files."""

import codecs
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from sakuin.app.encoding import (
    SAMPLE_BYTES,
    Guess,
    UnknownEncoding,
    check_encoding,
    decode,
    guess_encoding,
    named_encoding,
)
from sakuin.app.sample import sample_sources

TRICKY = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "tricky" / "files"
TOLD_APART = ["utf-8", "cp932", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16-be"]


def written_in(encoding: str, text: str) -> bytes:
    """Encode; what the old sets do not have is left out first."""
    return "".join(c for c in text if c.encode(encoding, "ignore")).encode(encoding)


def japanese() -> list[str]:
    """Return the sample's paragraphs that are Japanese."""
    paragraphs = [text for source in sample_sources() for text in source.paragraphs]
    return [text for text in paragraphs if sum(c > "\u3000" for c in text) > len(text) / 2]


@pytest.mark.parametrize("encoding", TOLD_APART)
@pytest.mark.parametrize("length", [4, 8, 20, 60, 1_000])
def test_japanese_is_told_apart(encoding: str, length: int) -> None:
    """Seeded samples, one line of 4 characters or more."""
    rng = random.Random(f"{encoding} {length}")
    text = "\n".join(japanese())
    wrong = []
    for _ in range(100):
        start = rng.randrange(len(text) - length)
        part = text[start : start + length].strip()
        if sum(c > "\u3000" for c in part) < 4:
            continue
        guess = guess_encoding(written_in(encoding, part + "\n"), whole=True)
        if guess.encoding != encoding:
            wrong.append((part, guess))
    assert wrong == []


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp"])
@pytest.mark.parametrize("seed", range(3))
def test_random_kana_and_kanji_are_told_apart(encoding: str, seed: int) -> None:
    """No real words are needed: 30 characters, a third hiragana, the rest kanji of level 1."""
    rng = random.Random(seed)
    kana = [chr(code) for code in range(0x3042, 0x3094)]
    kanji = [bytes([a, b]).decode("euc_jp") for a in range(0xB0, 0xCF) for b in range(0xA1, 0xFF)]
    for _ in range(100):
        text = "".join(rng.choice(kana if rng.random() < 1 / 3 else kanji) for _ in range(30))
        assert guess_encoding(written_in(encoding, text), whole=True).encoding == encoding


@pytest.mark.parametrize("encoding", TOLD_APART)
def test_a_long_text_is_told_from_its_beginning(encoding: str) -> None:
    """The sample may end inside a character."""
    data = written_in(encoding, "\n".join(japanese()) * 20)
    assert len(data) > SAMPLE_BYTES + 8
    for cut in range(SAMPLE_BYTES - 4, SAMPLE_BYTES + 4):
        assert guess_encoding(data[:cut]) == Guess(encoding)


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_mark_decides(mark: bytes, encoding: str) -> None:
    """And is skipped; in the middle of a text it is no mark."""
    data = mark + "人間".encode(encoding)
    guess = guess_encoding(data, whole=True)
    assert guess == Guess(encoding, len(mark))
    assert data[guess.mark_bytes :].decode(guess.encoding) == "人間"
    assert guess_encoding(mark, whole=True) == Guess(encoding, len(mark))
    assert guess_encoding(codecs.BOM_UTF8 + b"x\n", is_start=False).mark_bytes == 0


@pytest.mark.parametrize("text", ["", "\n", "plain ASCII\n", "0A0B0C0D", "a,b\t1\x1b[31m"])
def test_ascii_is_utf_8(text: str) -> None:
    """All encodings agree on it."""
    assert guess_encoding(text.encode(), whole=True) == Guess("utf-8")


def test_nul_characters_do_not_make_utf_16() -> None:
    """NULs in UTF-8 stay NULs; ASCII with a NUL beside every character is UTF-16."""
    assert guess_encoding("人\0間\n\0\n".encode(), whole=True).encoding == "utf-8"
    assert guess_encoding("plain\n".encode("utf-16-le"), whole=True).encoding == "utf-16-le"
    assert guess_encoding("plain\n".encode("utf-16-be"), whole=True).encoding == "utf-16-be"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("대한민국 서울의 인간 실격", "euc_kr"),
        ("汉语简体 人间失格 这是", "gb18030"),
        ("naïve résumé", "latin-1"),
    ],
)
def test_other_encodings_are_never_taken_for_sure(text: str, encoding: str) -> None:
    """What cannot be known is said to be unsure."""
    assert not guess_encoding(text.encode(encoding), whole=True).is_sure


def test_eucjp_of_windows_is_read() -> None:
    """Circled numbers are no standard EUC-JP; they are in files all the same."""
    text = "①番の人間が失格した。"
    data = text.encode("euc_jis_2004")
    with pytest.raises(UnicodeDecodeError):
        data.decode("euc_jp")
    assert decode(data, guess_encoding(data, whole=True).encoding) == text
    with pytest.raises(UnicodeDecodeError):
        decode(b"\xff", "euc_jp")


def test_a_name_is_taken_at_its_word() -> None:
    """Any text encoding of Python, under any of its names; the mark is skipped all the same."""
    assert named_encoding("Shift_JIS", b"") == Guess("shift_jis")
    assert named_encoding("latin1", "é".encode()) == Guess("iso8859-1")
    assert named_encoding("utf-8", codecs.BOM_UTF8 + b"x") == Guess("utf-8", 3)
    assert named_encoding("utf-8-sig", b"x") == Guess("utf-8")
    assert named_encoding("utf-16", "人間".encode("utf-16")) == Guess("utf-16-le", 2)
    assert named_encoding("utf-16", "人間".encode("utf-16-be")) == Guess("utf-16-be")
    assert named_encoding("utf-16-be", codecs.BOM_UTF16_BE) == Guess("utf-16-be", 2)
    assert named_encoding("utf-32", "人".encode("utf-32-le")) == Guess("utf-32-le")


@pytest.mark.parametrize(
    "name", ["", "utf-9", "rot13", "base64", "cp037", "punycode", "\0", "x" * 999]
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    """By name, with what to use instead."""
    with pytest.raises(UnknownEncoding, match="is no encoding that text can be loaded from: use"):
        check_encoding(name)


def tricky_files() -> list[Any]:
    """Return the files of which the right reading is known and can be told."""
    manifest = TRICKY / "manifest.jsonl"
    if not manifest.exists():
        return []
    entries = [json.loads(line) for line in manifest.read_text("utf-8").splitlines()]
    named_only = {"euc_kr", "gb18030", "big5", "latin-1", "binary"}
    return [entry for entry in entries if entry["encoding"] not in named_only]


def test_tricky_files_are_told_apart() -> None:
    """Where the corpora are: every file that is in a promised encoding."""
    for entry in tricky_files():
        check_file(entry)


def check_file(entry: dict[str, Any]) -> None:
    data = (TRICKY / entry["file"]).read_bytes()
    if entry["file"].endswith(".gz"):
        data = gzip.decompress(data)
    guess = guess_encoding(data, whole=True)
    expected = entry["encoding"].split()[0].removesuffix("-sig").replace("shift_jis", "cp932")
    assert guess.encoding.startswith(expected)
    if entry["expected_lines"]:
        text = decode(data[guess.mark_bytes :], guess.encoding)
        assert text.startswith(entry["expected_lines"][0])
