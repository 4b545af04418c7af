"""Which files a load reads, and what it says of paths it cannot read."""

import gzip
import lzma
import os
from pathlib import Path

import pytest

from sakuin.app.find_text import TextFile, UnreadableText, find_texts
from sakuin.app.read_text import TextReader
from sakuin.app.save import NewParagraph


def sources(paths: list[Path], source: str | None = None) -> list[str]:
    return [file.source for file in find_texts([str(path) for path in paths], source)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of texts, among other things."""
    root = tmp_path / "books"
    (root / "sub" / ".hidden").mkdir(parents=True)
    for name in ("b.txt", "a.md", "sub/c.TXT", ".secret.txt", "sub/.hidden/d.txt", "x.pdf", "y"):
        (root / name).write_text("人間\n", "utf-8")
    (root / "sub" / "d.txt.gz").write_bytes(gzip.compress("人間\n".encode()))
    (root / "sub" / "e.md.xz").write_bytes(lzma.compress("人間\n".encode()))
    (root / "z.gz").write_bytes(gzip.compress(b"no text by its name\n"))
    return root


NAMES = ["a.md", "b.txt", "sub/c.TXT", "sub/d.txt.gz", "sub/e.md.xz"]


def test_a_folder_is_its_texts(folder: Path) -> None:
    """.txt and .md, also compressed, at any depth, sorted; hidden ones and others are not."""
    names = [f"{folder}/{name}" for name in NAMES]
    assert sources([folder]) == names
    paragraphs = list(TextReader([str(folder)]))
    assert paragraphs == [NewParagraph(name, 1, "人間") for name in names]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (".", "a.md"),
        ("./", "a.md"),
        ("a.md", "a.md"),
        ("./sub//../a.md", "a.md"),
        ("../books", "../books/a.md"),
        ("../books/", "../books/a.md"),
        ("..//books/./a.md", "../books/a.md"),
    ],
)
def test_a_source_is_the_path_as_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch, path: str, source: str
) -> None:
    """Normalised, so that the folder and its file name one source, and loading again updates."""
    monkeypatch.chdir(folder)
    found = [file.source for file in find_texts([path])]
    assert found[0] == source
    if not path.endswith(".md"):
        assert found == [source.removesuffix("a.md") + name for name in NAMES]


def test_files_of_one_name_are_two_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2023/memo.txt and 2024/memo.txt: neither replaces the other."""
    monkeypatch.chdir(tmp_path)
    paths = [Path("2023/memo.txt"), Path("2024/memo.txt")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("x")
    assert sources(paths) == ["2023/memo.txt", "2024/memo.txt"]
    assert sources([path.absolute() for path in paths]) == [str(p.absolute()) for p in paths]


def test_a_file_is_read_whatever_its_name(folder: Path) -> None:
    """A given source holds all files, positions going on."""
    paths = [folder / "y", folder / "sub" / "d.txt.gz"]
    assert sources(paths) == [str(path) for path in paths]
    reader = TextReader([str(folder / "y"), str(folder)], source="all")
    assert reader.sources == ("all",)
    assert [(p.source, p.position) for p in reader if isinstance(p, NewParagraph)] == [
        ("all", number) for number in range(1, 7)
    ]


def test_an_empty_file_is_a_source_of_nothing(tmp_path: Path) -> None:
    """So that loading an emptied text deletes what it held."""
    (tmp_path / "empty.txt").touch()
    path = str(tmp_path / "empty.txt")
    reader = TextReader([path])
    assert (reader.sources, list(reader.read(path))) == ((path,), [])


def test_compression_is_told_from_the_bytes(tmp_path: Path) -> None:
    """A gzip file without its ending is read all the same."""
    (tmp_path / "odd").write_bytes(gzip.compress("人間\n".encode()) + gzip.compress(b"two\n"))
    odd = str(tmp_path / "odd")
    found = list(TextReader([odd]))
    assert found == [NewParagraph(odd, 1, "人間"), NewParagraph(odd, 2, "two")]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("missing.txt", None, "No such file"),
        ("plain.gz", b"plain text", "is not a gz file"),
        ("plain.txt.XZ", b"plain text", "is not a xz file"),
        ("empty.gz", b"", "is not a gz file"),
        ("paper.pdf", b"%PDF-1.7\n", "is a PDF file, not text"),
        ("letter.docx", b"PK\x03\x04....", "is a ZIP archive or an office document"),
        ("n" * 300, None, "name too long"),
        ("\0", None, "no file can have this name"),
        ("s" * 252 + ".txt", None, "name too long"),
    ],
)
def test_what_cannot_be_read_is_named_before_anything_is(
    tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    """Though it comes last: the error names the path and what is wrong with it."""
    (tmp_path / "good.txt").write_text("x")
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableText) as error:
        TextReader([str(tmp_path / "good.txt"), str(path)])
    assert reason.lower() in str(error.value).lower()
    assert name[:8].replace("\0", "\\x00") in error.value.path


def test_a_folder_without_texts_is_an_error(tmp_path: Path) -> None:
    """Not a load of nothing."""
    (tmp_path / "x.pdf").touch()
    with pytest.raises(UnreadableText, match=r"holds no \.txt and no \.md"):
        find_texts([str(tmp_path)])


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    """The system's own reason, with the path."""
    path = tmp_path / "locked.txt"
    path.touch(mode=0)
    own = os.geteuid()
    if own == 0:
        os.seteuid(65534)  # root may read everything: be nobody for a moment
    try:
        with pytest.raises(UnreadableText, match=r"locked\.txt: Permission denied"):
            find_texts([str(path)])
    finally:
        os.seteuid(own)


def test_a_file_that_comes_twice_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One source cannot be loaded twice at once."""
    monkeypatch.chdir(folder.parent)
    with pytest.raises(UnreadableText, match=r"comes twice, as source 'books/a\.md': name it once"):
        find_texts(["books", "./books/a.md"])
    with pytest.raises(UnreadableText, match="comes twice"):
        find_texts(["-", "-"])


def test_a_name_that_is_no_text_needs_a_source(tmp_path: Path) -> None:
    """A file name of arbitrary bytes can be printed, and read under another name."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")
    Path(path).write_text("人間", "utf-8")
    for given in (path, str(tmp_path)):
        with pytest.raises(UnreadableText, match=r"not UTF-8, .* give --source") as error:
            find_texts([given])
        assert str(error.value).encode()
    assert list(TextReader([path], source="s")) == [NewParagraph("s", 1, "人間")]


def test_a_pipe_is_read_once_and_to_its_end(tmp_path: Path) -> None:
    """As `sakuin load <(command)` gives it: no size, nothing taken before the reading."""
    reading, writing = os.pipe()
    os.write(writing, "人間\n".encode())
    os.close(writing)
    reader = TextReader([f"/dev/fd/{reading}"], source="pipe")
    assert reader.bytes_total is None
    assert list(reader) == [NewParagraph("pipe", 1, "人間")]
    os.close(reading)


def test_files_are_plain_values(tmp_path: Path) -> None:
    """A file knows its size on disk."""
    (tmp_path / "a.txt").write_bytes(b"abc")
    assert find_texts([str(tmp_path / "a.txt"), "-"]) == (
        TextFile(tmp_path / "a.txt", str(tmp_path / "a.txt"), 3),
        TextFile(None, "stdin", None),
    )
