"""The page helper (design §6): numbers, neighbours, window, and what it asks of a source."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sakuin.app.page import (
    MOST_PAGE,
    MOST_PER_PAGE,
    BadPage,
    Page,
    paginate,
    read_page,
    read_per_page,
)


class Numbers:
    """A source of 0, 1, 2 … that notes what it is asked."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.asked: list[object] = []

    def rows(self, offset: int, limit: int) -> Sequence[int]:
        self.asked.append((offset, limit))
        return range(self.total)[offset : offset + limit]

    def count(self) -> int:
        self.asked.append("count")
        return self.total


@pytest.mark.parametrize("total", [*range(45), 100, 101])
@pytest.mark.parametrize("per_page", [1, 2, 7, 10, 100])
def test_the_pages_of_a_list_are_the_list(total: int, per_page: int) -> None:
    """Following next_page from page 1 gives every row once, in order, and back again."""
    numbers: list[int] = []
    page = paginate(Numbers(total), 1, per_page)
    while True:
        assert (page.total, page.offset) == (total, len(numbers))
        assert page.previous_page == (page.page - 1 if page.page > 1 else None)
        assert not page.out_of_range
        numbers += page.items
        if page.next_page is None:
            break
        assert page.next_page == page.page + 1
        page = paginate(Numbers(total), page.next_page, per_page)
    assert numbers == list(range(total))
    assert page.page == page.total_pages


@pytest.mark.parametrize("total", [0, 1, 10, 25])
@pytest.mark.parametrize("page", [4, 99, MOST_PAGE])
def test_a_page_beyond_the_last_is_empty_and_leads_back(total: int, page: int) -> None:
    """No error and no silent clamp; the source is not asked for rows that cannot be there."""
    source = Numbers(total)
    found = paginate(source, page)
    assert (found.items, found.page, found.total, found.out_of_range) == ((), page, total, True)
    assert found.previous_page == found.total_pages == max(1, (total + 9) // 10)
    assert found.next_page is None
    assert found.window() == Page(items=(), page=found.total_pages, total=total).window()
    assert source.asked == ["count"]


def test_page_one_of_nothing_is_in_range() -> None:
    """An empty list has one empty page."""
    page = paginate(Numbers(0))
    assert (page.total_pages, page.out_of_range, page.window()) == (1, False, (1,))
    assert (page.previous_page, page.next_page) == (None, None)


def test_counting_is_left_out_where_it_tells_nothing() -> None:
    """A given total, and a first page that is not full, need no count."""
    for source, total, asked in (
        (Numbers(95), 95, [(20, 10)]),
        (Numbers(95), None, ["count", (20, 10)]),
    ):
        assert paginate(source, 3, total=total).items == tuple(range(20, 30))
        assert source.asked == asked
    short, full = Numbers(9), Numbers(10)
    assert paginate(short).total == 9
    assert short.asked == [(0, 10)]
    assert paginate(full).total == 10
    assert full.asked == [(0, 10), "count"]


def test_a_list_that_shrinks_between_two_questions_still_makes_a_page() -> None:
    """The total is never less than what the page shows."""

    class Shrinking(Numbers):
        def count(self) -> int:
            return 3

    page = paginate(Shrinking(50))
    assert (len(page.items), page.total) == (10, 10)


@pytest.mark.parametrize("page", [0, -1, MOST_PAGE + 1, 10**30])
def test_page_numbers_out_of_bounds_are_named(page: int) -> None:
    """A typed error with field and bounds, before the source is asked."""
    source = Numbers(5)
    with pytest.raises(BadPage, match=r"^page must be a whole number from 1 to") as error:
        paginate(source, page)
    assert (error.value.field, error.value.value) == ("page", page)
    assert (error.value.least, error.value.most) == (1, MOST_PAGE)
    assert source.asked == []
    with pytest.raises(BadPage):
        Page(items=(), page=page, total=0)


@pytest.mark.parametrize("per_page", [0, -1, 101, 10**9])
def test_page_sizes_out_of_bounds_are_named(per_page: int) -> None:
    """1 to 100 rows, by name."""
    with pytest.raises(BadPage, match=r"^per_page must be a whole number from 1 to 100,") as error:
        paginate(Numbers(5), 1, per_page)
    assert (error.value.field, error.value.most) == ("per_page", MOST_PER_PAGE)


@pytest.mark.parametrize(
    ("text", "number"), [("1", 1), ("３", 3), ("１2", 12), (" 7\u3000", 7), ("007", 7)]
)
def test_numbers_as_people_type_them(text: str, number: int) -> None:
    """ASCII and full-width digits."""
    assert read_page(text) == read_per_page(text) == number
    assert read_page(str(MOST_PAGE)) == MOST_PAGE


NO_NUMBERS = ["0", "-1", "x", "", " ", "1.5", "1e3", "+1", "1_0", "٣", "²", "3index.php", "0x1"]
NO_NUMBERS += ["\0", "１．５", "1" + "0" * 30, "9" * 5_000, "\ud800"]


@pytest.mark.parametrize("text", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_what_is_no_page_number_is_refused(text: str) -> None:
    """Bad numbers are told by name and never clamped, and no length of them is a crash."""
    with pytest.raises(BadPage, match=r"^page must be") as error:
        read_page(text)
    assert error.value.value == text
    with pytest.raises(BadPage, match=r"^per_page must be"):
        read_per_page(text)


WINDOWS = {
    (1, 1): "1",
    (1, 11): "1 2 3 4 5 6 7 8 9 10 11",
    (1, 12): "1 2 3 4 5 6 7 8 9 … 11 12".replace("…", "10"),
    (1, 13): "1 2 3 4 5 6 7 8 9 … 12 13",
    (8, 15): "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
    (9, 17): "1 2 … 5 6 7 8 9 10 11 12 13 … 16 17",
    (50, 99): "1 2 … 46 47 48 49 50 51 52 53 54 … 98 99",
    (99, 99): "1 2 … 91 92 93 94 95 96 97 98 99",
}


@pytest.mark.parametrize(("page", "last"), WINDOWS)
def test_the_default_window(page: int, last: int) -> None:
    """inner=4, outer=1, as readers know it."""
    shown = Page(items=(), page=page, total=last * 10).window()
    text = " ".join("…" if number is None else str(number) for number in shown)
    assert text == WINDOWS[page, last]


@settings(derandomize=True, max_examples=1000)
@given(st.integers(1, 90), st.integers(1, 80), st.integers(0, 6), st.integers(0, 4))
def test_a_window_is_exactly_the_numbers_it_should_hold(
    page: int, last: int, inner: int, outer: int
) -> None:
    """Against sets: edges + surroundings of full width, and no gap that hides just one page."""
    centre = min(page, last)
    near = sorted(range(1, last + 1), key=lambda n: abs(n - centre))
    nearest = set(range(centre - inner, centre + inner + 1)) & set(range(1, last + 1))
    for number in near:  # near an edge the other side gets what is missing
        if len(nearest) < min(last, 2 * inner + 1):
            nearest.add(number)
    wanted = nearest | {n for n in range(1, last + 1) if n <= outer + 1 or n >= last - outer}
    lonely = {n for n in set(range(1, last + 1)) - wanted if {n - 1, n + 1} <= wanted}
    window = Page(items=(), page=page, total=last * 10).window(inner, outer)
    numbers = [number for number in window if number is not None]
    assert numbers == sorted(wanted | lonely)
    for before, at, after in zip(window, window[1:], window[2:], strict=False):
        if at is None:
            assert before is not None
            assert after is not None
            assert after - before > 2
    for one, other in pairwise(window):
        assert one is None or other is None or other == one + 1
