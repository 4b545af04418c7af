"""Addresses /search/<words>: + is a space, %2B a plus, %252F a slash (design §8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sakuin.app.search_path import path_of, words_of


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"%E4%BA%BA%E9%96%93", "人間"),
        (b"a+b", "a b"),
        (b"C%2B%2B", "C++"),
        (b"and%252For", "and/or"),
        (b"and/or", "and/or"),
        (b"100%25", "100%"),
        (b"100%", "100%"),
        (b"%ff", "\ufffd"),
        (b"", ""),
    ],
)
def test_words_are_read_from_the_raw_path(raw: bytes, words: str) -> None:
    assert words_of(raw) == words


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_written_is_read_back(words: str) -> None:
    path = path_of(words)
    assert "/" not in path
    assert words_of(path.encode("ascii")) == words
