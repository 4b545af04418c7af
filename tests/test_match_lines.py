"""Which rows become which lines: by content, for any old and new text."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sakuin.app.match_lines import Differences, Step, Stored, compare, in_steps, match
from sakuin.app.save import NewParagraph

# (text, how far behind the one before it): refused lines leave gaps.
TEXTS = st.lists(st.tuples(st.sampled_from("ABCDE"), st.sampled_from((1, 1, 1, 2))), max_size=12)
Text = list[tuple[str, int]]
Placed = dict[int, tuple[int, str]]
"""position → (id, text)"""


def placed(text: Text) -> dict[int, str]:
    return dict(zip(accumulate(gap for _, gap in text), (body for body, _ in text), strict=True))


def text_of(line: str) -> Text:
    return [(body, 1) for body in line]


class Table:
    """Rows in memory, and what is done to them; a position holds one row at any time."""

    def __init__(self, text: Text) -> None:
        bodies = placed(text)
        self.rows: Placed = {at: (number, bodies[at]) for number, at in enumerate(bodies, 1)}
        self.touched: set[int] = set()

    def update(self, text: Text, *, is_complete: bool = True, at_once: int = 1) -> None:
        texts: list[bytes] = []
        found = self._compare(text, texts)
        matched = match(found.rows, found.lines)
        if not is_complete:
            matched = matched.keeping_all(found.last)
        for row in matched.gone:
            assert self.rows.pop(row.position)[0] == row.id
            self.touched.add(row.id)
        for steps in in_steps(matched.pairs, found.last):
            for start in range(0, len(steps), at_once):
                self._take(steps[start : start + at_once], texts)
        for number, line in enumerate(matched.new, 1001):
            assert line.position not in self.rows
            self.rows[line.position] = number, texts[line.place].decode()

    def _compare(self, text: Text, texts: list[bytes]) -> Differences:
        def keep(data: bytes) -> int:
            texts.append(data)
            return len(texts) - 1

        rows = [Stored(at, *self.rows[at]) for at in sorted(self.rows)]
        lines = [NewParagraph("s", at, body) for at, body in placed(text).items()]
        return compare(rows, lines, keep, lambda: None)

    def _take(self, steps: Sequence[Step], texts: list[bytes]) -> None:
        taken = [(step, *self.rows.pop(step.start)) for step in steps]
        for step, number, body in taken:
            assert number == step.id
            assert step.end not in self.rows, "another row is in the way"
            edit = texts[step.edit.place].decode() if step.edit else body
            self.rows[step.end] = number, edit
            self.touched.add(number)


def ids(before: str, after: str) -> list[int]:
    """Return the ids of the new text's lines, 0 for new ones; the old ones' are 1, 2, …"""
    table = Table(text_of(before))
    table.update(text_of(after))
    return [number % 1001 if number <= 1000 else 0 for _, (number, _) in sorted(table.rows.items())]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("ABCD", "ACD", [1, 3, 4]),  # deleted
        ("ABCD", "XABCD", [0, 1, 2, 3, 4]),  # inserted on top
        ("ABCD", "AXCD", [1, 2, 3, 4]),  # edited in place
        ("ABCD", "YAXCD", [0, 1, 2, 3, 4]),  # edited, and inserted on top
        ("ABCD", "ACX", [1, 3, 4]),  # deleted before, edited behind
        ("ABCD", "DABC", [4, 1, 2, 3]),  # the last line moved to the top
        ("AABA", "AAA", [1, 2, 4]),
        ("ABA", "CBA", [1, 2, 3]),  # what stands still is no other's
        ("AAB", "XYB", [1, 2, 3]),
        ("", "AB", [0, 0]),
        ("AB", "", []),
    ],
)
def test_a_row_follows_its_text(before: str, after: str, expected: list[int]) -> None:
    assert ids(before, after) == expected


@settings(max_examples=400, derandomize=True, deadline=None)
@given(before=TEXTS, after=TEXTS, at_once=st.sampled_from((1, 2, 3, 100)))
@example(before=text_of("ABCDE"), after=text_of("BAEDC"), at_once=2)
@example(before=text_of("ABCDE"), after=text_of("EABCD"), at_once=3)
def test_any_text_becomes_any_other(before: Text, after: Text, at_once: int) -> None:
    """Equal to the new text; min(count) rows of every text stay; what stands still is untouched."""
    table = Table(before)
    old = dict(table.rows)
    table.update(after, at_once=at_once)
    assert {at: body for at, (_, body) in table.rows.items()} == placed(after)
    kept = Counter(body for _, body in set(old.values()) & set(table.rows.values()))
    both = Counter(body for body, _ in before) & Counter(body for body, _ in after)
    assert kept == both
    still = {old[at][0] for at, body in placed(after).items() if old.get(at, (0, ""))[1] == body}
    assert all(table.rows[at] == row for at, row in old.items() if row[0] in still)
    assert not still & table.touched


@settings(max_examples=200, derandomize=True, deadline=None)
@given(before=TEXTS, after=TEXTS)
def test_a_text_read_in_part_deletes_nothing(before: Text, after: Text) -> None:
    """What was read stands where it should; every row is there; between lines none moved."""
    table = Table(before)
    old = dict(table.rows)
    table.update(after, is_complete=False)
    now = table.rows
    assert {number for number, _ in old.values()} <= {number for number, _ in now.values()}
    lines = placed(after)
    assert {at: now[at][1] for at in lines} == lines
    assert all(
        now[at] == old.get(at) for at in now if at not in lines and at < max(lines, default=0)
    )


@pytest.mark.parametrize("after", ["BCDEFGHIJA", "JABCDEFGHI", "BADCFEHGJI"])
def test_each_ring_parks_one_row(after: str) -> None:
    """A move costs one step a row, and one more a ring."""
    table = Table(text_of("ABCDEFGHIJ"))
    found = table._compare(text_of(after), [])
    first, then = in_steps(match(found.rows, found.lines).pairs, 10)
    assert (len(first), len(then)) == (5 if after.startswith("BAD") else 1, 10)
