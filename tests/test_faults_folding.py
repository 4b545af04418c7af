"""Texts that other programs folded or marked wrongly: each test is named after the fault.

The numbers are those of the collected reports (reference §3).
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Engine
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.fold import DEFAULT_FOLDING, Folding
from sakuin.indexer.highlight import highlight, snippet
from sakuin.indexer.query import And, Not, Or, Phrase, Query, prefix
from small_index import build, change, document, documents, found_ids

KANA = Folding(kana=True)
Find = Callable[..., list[int]]


@pytest.fixture(params=ENGINE_NAMES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


@pytest.fixture
def find(engine: Engine, tmp_path: Path) -> Find:
    """Index texts, search, and return the numbers of those found."""
    used = iter(range(1_000))

    def find_in(texts: list[str], query: str, folding: Folding = DEFAULT_FOLDING) -> list[int]:
        fields = Fields(("body",), folding=folding)
        directory = build(engine, tmp_path / str(next(used)), documents(texts), fields=fields)
        searcher = engine.open_searcher(directory, fields)
        found = sorted(map(int, found_ids(searcher, Phrase(query))))
        searcher.close()
        return found

    return find_in


def marked(text: str, *words: str, folding: Folding = DEFAULT_FOLDING) -> str:
    query: Query = Or(tuple(Phrase(word) for word in words))
    pieces = highlight(text, query, folding=folding)
    return "".join(f"[{each.text}]" if each.hit else each.text for each in pieces)


def test_kanji_are_not_taken_for_chinese_after_another_document(
    engine: Engine, tmp_path: Path
) -> None:
    """3: no language is guessed, so another document never changes what is found."""
    before = build(engine, tmp_path, documents(["東京", "東京都庁"]))
    after = change(engine, before, [document(2, "北京大学"), document(3, "これは日本語です")], ())
    for directory in (before, after):
        searcher = engine.open_searcher(directory, Fields(("body",)))
        assert sorted(found_ids(searcher, Phrase("東京"))) == ["0", "1"]
        searcher.close()


def test_a_reading_is_no_spelling(find: Find) -> None:
    """4: 健 and 見 are both read けん."""
    assert find(["健康", "見学"], "健") == [0]


def test_what_is_written_so_is_found_so(find: Find) -> None:
    """6: the exact word ヴィーガン, whichever folding of kana; 魈, which has no common reading."""
    texts = ["ヴィーガン料理", "ウ\u3099ィーガン", "魈魅魍魎", "ビーガン"]
    for folding in (DEFAULT_FOLDING, KANA, Folding(long_vowels=True)):
        assert find(texts, "ヴィーガン", folding) == [0, 1]
        assert find(texts, "魈", folding) == [2]


def test_a_small_tsu_before_a_blank_is_found(find: Find) -> None:
    """9: with kana as one, パニック before a blank; ゔ as one code point and as two."""
    for folding in (DEFAULT_FOLDING, KANA):
        assert find(["パニック 映画", "パニッ ク"], "パニック", folding) == [0]
        assert find(["う\u3099", "ゔ"], "ゔ", folding) == [0, 1]
        assert find(["う\u3099", "ゔ"], "う\u3099", folding) == [0, 1]
    assert find(["パニック 映画"], "ぱにっく　映画", KANA) == [0]


def test_old_forms_and_forms_of_names_are_one(find: Find) -> None:
    """10: 髙 = 高 and old forms, both ways; ゐ and ゑ stay apart: a decision."""
    texts = ["髙橋", "高橋", "舊字體", "旧字体"]
    assert find(texts, "高橋") == find(texts, "髙橋") == [0, 1]
    assert find(texts, "旧字体") == find(texts, "舊字體") == [2, 3]
    assert find(["ゐのしし", "いのしし"], "ゐ") == [0]


def test_a_squared_month_is_indexed_and_makes_no_false_word(find: Find) -> None:
    """11: ㋀ is 1月; no token 日月 is made of 日㋀, and nothing goes backwards."""
    texts = ["今日㋀の暦", "日月"]
    assert find(texts, "1月") == [0]
    assert find(texts, "日月") == [1]
    assert marked(texts[0], "月の暦") == "今日[㋀の暦]"
    assert marked(texts[0], "日1月") == "今[日㋀]の暦"


def test_full_width_blanks_shift_no_mark() -> None:
    """13: the mark covers ＭｙＳＱＬ, not the blank before it."""
    assert marked("a　　ＭｙＳＱＬ　b", "mysql") == "a　　[ＭｙＳＱＬ]　b"


def test_a_folding_that_changes_lengths_breaks_no_highlight() -> None:
    """14: ligatures, squared words, marks apart and dropped characters before the place."""
    text = "㌕ﬁ㍿ｶﾞ\u200bİß\ufdfaか\u3099、needle。"
    for folding in (DEFAULT_FOLDING, KANA, Folding(long_vowels=True), Folding(variants=False)):
        assert marked(text, "needle", folding=folding) == text.replace("needle", "[needle]")
        for width in range(1, 40):
            snippet(text * 20, Phrase("needle"), width, folding=folding)


def test_a_snippet_is_cut_between_characters_beyond_the_first_plane() -> None:
    """15: 𠮷, emoji and flags are never cut, at whatever width."""
    text = "𠮷野家👩\u200d👩\u200d👧🇯🇵" * 40
    for width in range(1, 60):
        for query in (Phrase("野"), Phrase("無")):
            for fragment in snippet(text, query, width).fragments:
                shown = "".join(piece.text for piece in fragment.pieces)
                assert shown
                assert shown[0] in "𠮷野家👩🇯"
                assert shown[-1] in "𠮷野家👧🇵"


def test_overlapping_terms_print_the_text_once() -> None:
    """16: MULTIPLICAULTIPLICATL…: pieces join to the text, however the terms overlap."""
    parts = [text for n in range(2, 6) for text in ("multiplication"[i : i + n] for i in range(9))]
    query = Or(tuple(Phrase(part, open_start=True, open_end=True) for part in parts))
    pieces = highlight("MULTIPLICATION table", query)
    assert "".join(piece.text for piece in pieces) == "MULTIPLICATION table"
    assert pieces[0].text == "MULTIPLICATIO"
    assert marked("京都の東京都庁", "東京", "京都", "都庁") == "[京都]の[東京都庁]"


def test_a_degree_sign_shifts_no_mark() -> None:
    """17: ℃ is two characters when folded."""
    assert marked("20℃と30℃です", "です") == "20℃と30℃[です]"
    assert marked("20℃と30℃です", "°cと") == "20[℃と]30℃です"


@pytest.mark.parametrize("word", ["<b>", "a.*b", "(", "[x", "$&", "\\1", "%s", "&amp;", "a|b"])
def test_a_term_is_no_expression_and_no_markup(word: str) -> None:
    """18: the term is looked for as it is written; pieces are text, whatever is in them."""
    text = f"axxb <i>{word}</i> &lt;"
    assert marked(text, word) == f"axxb <i>[{word}]</i> &lt;"


def test_what_is_excluded_is_not_marked() -> None:
    """And a prefix marks only what was typed."""
    query = And((prefix("cat"), Not(Phrase("dog"))))
    pieces = highlight("catalog dog", query)
    assert [(piece.text, piece.hit) for piece in pieces] == [("cat", True), ("alog dog", False)]
