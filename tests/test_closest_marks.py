"""What is marked in documents that are close to a question."""

import pytest
from hypothesis import given

from any_text import TEXTS
from sakuin.indexer.closest_marks import MOST_MARKS, closest_marks
from sakuin.indexer.highlight import highlight
from sakuin.indexer.query import Nothing, Or
from small_index import BODY


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("宮沢賢治が生まれたのは?", "宮沢賢治は花巻で生まれた", ["宮沢賢治", "生ま"]),
        ("which library lends books?", "Libraries lend a book in a library", ["Libraries", "lend",
          "book", "library"]),
        ("データベースとは", "データとベース", ["データ", "ベース"]),
        ("は", "は", []),
    ],
)  # fmt: skip
def test_the_words_of_the_question_are_marked(question: str, text: str, marked: list[str]) -> None:
    pieces = highlight(text, closest_marks(question, BODY))
    assert [each.text for each in pieces if each.hit] == marked


@given(TEXTS)
def test_any_text_has_a_bounded_number_of_marks(text: str) -> None:
    query = closest_marks(text, BODY)
    assert isinstance(query, Or | Nothing)
    assert isinstance(query, Nothing) or 0 < len(query.children) <= MOST_MARKS
    highlight(text, query)
