"""Reading texts as paragraphs: splitting, encodings on the way, refusals; nothing else is lost."""

import gzip
import io
import json
import lzma
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sakuin.app.decode_text import BadLine, Lines
from sakuin.app.encoding import SAMPLE_BYTES, UnknownEncoding
from sakuin.app.paragraph import MOST_BODY_BYTES
from sakuin.app.read_text import BrokenText, RefusedText, Split, TakenFor, TextReader
from sakuin.app.save import NewParagraph

TRICKY = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "tricky" / "files"
LINES = ["人間失格", "殺しの残酷な場面", "", "ガラスの破片", " \u3000", "ＡＢＣとabc", "終わり"]


def read(data: bytes, **how: Any) -> list[NewParagraph | RefusedText]:
    """Read bytes as standard input."""
    return list(TextReader(["-"], standard_input=io.BytesIO(data), **how))


def bodies(data: bytes, **how: Any) -> list[str]:
    """Read bytes of which nothing is refused; positions count from 1."""
    found = read(data, **how)
    paragraphs = [each for each in found if isinstance(each, NewParagraph)]
    assert len(paragraphs) == len(found)
    assert [each.position for each in paragraphs] == list(range(1, len(found) + 1))
    return [each.body for each in paragraphs]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "cp932", "euc_jp", "iso2022_jp", "utf-16", "utf-16-le", "utf-16-be"],
)
def test_every_line_is_a_paragraph(end: str, final: bool, encoding: str) -> None:
    """Three kinds of line ends, with or without the last, in every encoding; blanks skipped."""
    text = end.join(LINES) + (end if final else "")
    assert bodies(text.encode(encoding)) == [line for line in LINES if line.strip()]
    assert bodies(text.encode(encoding), encoding=encoding) == bodies(text.encode())


def test_only_line_ends_end_lines() -> None:
    """Form feeds and Unicode's separators are text."""
    assert bodies("a\fb\x0bc\x85d\u2028e\x1cf\ng".encode()) == ["a\fb\x0bc\x85d\u2028e\x1cf", "g"]


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\r\n", "\ufeff".encode(), "　\n \t\n".encode()])
@pytest.mark.parametrize("split", Split)
def test_nothing_but_blanks_gives_nothing(data: bytes, split: Split) -> None:
    """No paragraph, no error."""
    assert read(data, split=split) == []


def test_blocks_between_blank_lines() -> None:
    """split=blank: lines joined by LF, any number of blank lines between."""
    data = "\n\n一\r\n二\n \u3000\n\n三\n\n".encode()
    assert bodies(data, split=Split.BLANK) == ["一\n二", "三"]


def test_a_whole_file() -> None:
    """split=file: blank lines inside are kept, those around are not."""
    assert bodies("\n\n一\r\n\n\n二\n\n".encode(), split=Split.FILE) == ["一\n\n\n二"]


def test_bad_lines_are_told_and_keep_their_position() -> None:
    """File, line and reason; the neighbours are not lost and do not move when it is mended."""
    data = "一\n\n".encode() + b"\xff\xfe!\n" + "人\0間\n二\n".encode()
    assert read(data) == [
        NewParagraph("stdin", 1, "一"),
        RefusedText("standard input", 3, "the text is not utf-8: byte 0xFF at 0"),
        RefusedText("standard input", 4, "the text holds a NUL character at 1: remove it"),
        NewParagraph("stdin", 4, "二"),
    ]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_bad_units_spoil_their_line_only(encoding: str) -> None:
    """Half a surrogate pair, a number that is no character, and a file that ends too early."""
    unit = 4 if encoding.startswith("utf-32") else 2
    bad = {2: "\ud800".encode(encoding, "surrogatepass"), 4: b"\xff\xff\xff\x7f"}[unit]
    data = "\ufeff一\n".encode(encoding) + bad + "\n二\n三".encode(encoding)
    found = read(data[:-1])
    assert [each.line for each in found if isinstance(each, RefusedText)] == [2, 4]
    assert [each.body for each in found if isinstance(each, NewParagraph)] == ["一", "二"]
    assert isinstance(found[1], RefusedText)
    assert found[1].reason == f"the text is not {encoding}"


@pytest.mark.parametrize("split", [Split.BLANK, Split.FILE])
def test_one_bad_line_spoils_its_paragraph_only(split: Split) -> None:
    """The line that is named is the bad one."""
    found = read("一\n二\n".encode() + b"\xff\n\n" + "三".encode(), split=split)
    assert found[0] == RefusedText("standard input", 3, "the text is not utf-8: byte 0xFF at 0")
    assert found[1:] == ([NewParagraph("stdin", 2, "三")] if split is Split.BLANK else [])


@pytest.mark.parametrize("split", Split)
def test_exactly_a_mebibyte_fits(split: Split) -> None:
    """One byte more is refused with its line, whatever comes after it is not."""
    fits, over = "あ" * (MOST_BODY_BYTES // 3) + "x", "あ" * (MOST_BODY_BYTES // 3) + "xy"
    assert bodies(fits.encode(), split=split) == [fits]
    for huge in (over, "x" * (20 * MOST_BODY_BYTES)):
        found = read(f"一\n\n{huge}\n\n二".encode(), split=split)
        refused = [each for each in found if isinstance(each, RefusedText)]
        assert [each.line for each in refused] == [1 if split is Split.FILE and huge is over else 3]
        assert "bytes" in refused[0].reason
        assert len(found) == (1 if split is Split.FILE else 3)


def test_the_encoding_is_told_where_it_first_matters() -> None:
    """Ever so much ASCII before it, and the telling character at the end of a chunk."""
    for ascii_bytes in (0, SAMPLE_BYTES, (1 << 18) - 12, (1 << 20) + 1):
        head = ("x" * 79 + "\n") * (ascii_bytes // 80) + "x" * (ascii_bytes % 80) + "\n"
        for encoding in ("cp932", "euc_jp", "iso2022_jp", "utf-8"):
            data = head.encode() + "人間は失格した。それだけです。\n".encode(encoding) * 9
            reader = TextReader(["-"], standard_input=io.BytesIO(data))
            found = list(reader)
            assert reader.taken_for == [TakenFor("standard input", encoding, is_sure=True)]
            assert isinstance(found[-1], NewParagraph)
            assert found[-1].body == "人間は失格した。それだけです。"


@settings(derandomize=True, max_examples=400)
@given(
    st.lists(st.sampled_from(["a", "\n", "\r", "\r\n", "あ", " ", "bcd"]), max_size=30),
    st.integers(1, 5),
    st.integers(1, 6),
)
def test_lines_do_not_depend_on_chunks(parts: list[str], size: int, longest: int) -> None:
    """Against re.split-like counting: any chunking gives the same lines; long ones are bad."""
    data = "".join(parts).encode()
    whole = "".join(parts).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    expected = whole[:-1] if whole[-1] == "" else whole
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    found = list(Lines(chunks, longest, "utf-8"))
    assert len(found) == len(expected)
    for line, wanted in zip(found, expected, strict=True):
        too_long = len(wanted.encode()) > longest
        assert isinstance(line, BadLine) if too_long else line == wanted


@pytest.mark.parametrize("block", [b"x", "人".encode() * 5_000 + b"\n\n"])
@pytest.mark.parametrize("split", Split)
def test_memory_stays_bounded(block: bytes, split: Split) -> None:
    """64 MB take a fraction of that, whatever a paragraph is: a text is never read whole."""
    repeats = (64 << 20) // len(block)
    reader = TextReader(["-"], standard_input=io.BytesIO(block * repeats), split=split)
    tracemalloc.start()
    count = sum(1 for _ in reader)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == (1 if split is Split.FILE or block == b"x" else repeats)
    assert peak < 32 << 20


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bytes])
def test_progress_counts_bytes_on_disk(tmp_path: Path, compress: Any) -> None:
    """bytes_read ascends to bytes_total, compressed or not."""
    rng = random.Random(5)
    text = "\n".join(str(rng.random()) for _ in range(40_000))
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"x\n"))
    path = tmp_path / "b"
    path.write_bytes(compress(text.encode()))
    reader = TextReader([str(path), str(tmp_path / "a.txt.gz")])
    seen = [0]
    for _ in reader:
        assert reader.bytes_read >= seen[-1]
        seen.append(reader.bytes_read)
    assert (
        reader.bytes_read == reader.bytes_total == sum(f.stat().st_size for f in tmp_path.iterdir())
    )
    assert len(set(seen)) >= 3
    assert TextReader(["-"]).bytes_total is None


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_a_truncated_file_is_an_error_and_no_half_line_is_kept(
    tmp_path: Path, compress: Any
) -> None:
    """A typed error that names the file, after whole and right paragraphs only."""
    rng = random.Random(6)
    lines = [f"{rng.random()} 人間" for _ in range(30_000)]
    path = tmp_path / "cut.txt.gz" if compress is gzip.compress else tmp_path / "cut.txt.xz"
    path.write_bytes(compress("\n".join(lines).encode())[:-1000])
    found: list[Any] = []
    with pytest.raises(
        BrokenText, match=r"cut\.txt\..z: cannot be read to its end: .*end"
    ) as error:
        found.extend(iter(TextReader([str(path)])))
    assert error.value.path == str(path)
    kept = list(_until_broken(TextReader([str(path)])))
    assert 0 < len(kept) < len(lines)
    assert [each.body for each in kept] == lines[: len(kept)]


def _until_broken(reader: TextReader) -> Iterator[Any]:
    try:
        yield from reader
    except BrokenText:
        return


def test_an_unknown_encoding_is_refused_at_once() -> None:
    """Before anything is read."""
    with pytest.raises(UnknownEncoding):
        TextReader(["-"], encoding="utf-9")


def tricky_files() -> list[Any]:
    """Return the files whose lines are known."""
    manifest = TRICKY / "manifest.jsonl"
    if not manifest.exists():
        return []
    entries = [json.loads(line) for line in manifest.read_text("utf-8").splitlines()]
    return [entry for entry in entries if entry["expected_lines"] is not None]


def test_tricky_files_are_read_right() -> None:
    """Where the corpora are: the expected lines, told apart or with the encoding's name."""
    for entry in tricky_files():
        check_tricky(entry)


def check_tricky(entry: dict[str, Any]) -> None:
    told_apart = entry["encoding"] not in ("euc_kr", "gb18030", "big5", "latin-1")
    reader = TextReader(
        [str(TRICKY / entry["file"])], encoding=None if told_apart else entry["encoding"]
    )
    found = list(reader)
    expected = [line for line in entry["expected_lines"] if line.strip()]
    assert len(found) == len(expected)
    for each, line in zip(found, expected, strict=True):
        assert isinstance(each, RefusedText) if "\0" in line else getattr(each, "body", "") == line
    assert reader.blank_lines == len(entry["expected_lines"]) - len(expected)


def test_all_tricky_files_are_read_without_an_error(tmp_path: Path) -> None:
    """Random bytes, broken UTF-8, giant lines: every line is stored or told."""
    chance = random.Random(5)
    for number, length in enumerate((10, 1000, 100_000)):
        (tmp_path / f"{number}.txt").write_bytes(chance.randbytes(length) + b"\nplain\n\xff\n")
    (tmp_path / "giant.txt").write_bytes(b"x" * (9 << 20) + b"\n")
    paths = sorted([*tmp_path.iterdir(), *(TRICKY.iterdir() if TRICKY.exists() else ())])
    kinds = {type(each) for path in paths for each in TextReader([str(path)])}
    assert kinds == {NewParagraph, RefusedText}
