"""What the search log holds and tells is what a plain dict would, on both databases."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from operator import itemgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine

from databases import KINDS, Servers, fresh_database
from sakuin.app.search_log_read import (
    AT_LEAST,
    ClickedDocument,
    LoggedSearch,
    clicked,
    frequent_searches,
    nothing_found,
    past_searches,
    unclicked,
)
from sakuin.app.search_log_rows import (
    MOST_DOCUMENTS,
    Click,
    Search,
    Times,
    add_clicks,
    add_searches,
    count_searches,
    forget_before,
    forget_least,
    today,
)
from sakuin.app.search_log_tables import create_search_log
from sakuin.queue import open_engine, replay

QUERIES = (
    "人間",
    "PDF",
    "ＰＤＦ",
    "pdf x",
    "a%b",
    "a_b",
    "a!b",
    "aXb",
    "人間 «mail»",
    "人間 …",
    "x",
)
STARTS = ("", "人", "人間 ", "ｐ", "PDF", "a%", "a_", "a!", "  pdf  ", "z")


@dataclass(slots=True)
class Row:
    """A row of the log as the model keeps it; `number` counts rows as they came."""

    number: int
    asked: int = 0
    total: int = 0
    documents: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    clicks: int = 0


@dataclass(slots=True)
class Model:
    """The log as a dict: (search, day) → row."""

    rows: dict[tuple[Search, date], Row] = field(default_factory=dict)
    count: int = 0

    def note(self, day: date, search: Search, times: Times) -> None:
        """Count a search."""
        if (search, day) not in self.rows:
            self.count += 1
            self.rows[search, day] = Row(self.count)
        row = self.rows[search, day]
        row.asked += times.asked
        row.total = times.total

    def click(self, day: date, click: Click, position: int) -> None:
        """Count a click for a row of that day or the day before."""
        for each in (day, day - timedelta(days=1)):
            row = self.rows.get((click.search, each))
            if row:
                row.clicks += 1
                if click.document in row.documents or len(row.documents) < MOST_DOCUMENTS:
                    known = row.documents[click.document]
                    known[:] = known[0] + 1, known[1] + position
                return

    def forget_before(self, oldest: date) -> None:
        """Forget days."""
        self.rows = {key: row for key, row in self.rows.items() if key[1] >= oldest}

    def forget_least(self, most: int) -> None:
        """Forget the rows of least use."""
        order = sorted(
            self.rows.items(),
            key=lambda each: (each[1].asked + each[1].clicks, each[0][1], each[1].number),
        )
        for key, _ in order[:most]:
            del self.rows[key]

    def searches(self, index: str, since: date) -> list[LoggedSearch]:
        """Return every search, the most frequent first."""
        groups = defaultdict(list)
        for (search, day), row in self.rows.items():
            if search.index == index and day >= since:
                groups[fold(search.query), search.mode].append((day, row.number, search, row))
        found = []
        for (folded, mode), group in groups.items():
            day, _, _, newest = max(group, key=itemgetter(0, 1))
            asked = sum(row.asked for *_, row in group)
            clicks = sum(row.clicks for *_, row in group)
            query = min(search.query for _, _, search, _ in group)
            logged = LoggedSearch(query, mode, asked, newest.total, clicks, day)
            found.append((-asked, folded, mode, logged))
        return [each[3] for each in sorted(found, key=itemgetter(0, 1, 2))]

    def clicked(self, index: str, since: date) -> list[ClickedDocument]:
        """Return every document that was opened, the most frequent first."""
        groups = defaultdict(list)
        for (search, day), row in self.rows.items():
            if search.index == index and day >= since:
                for document, (clicks, positions) in row.documents.items():
                    key = fold(search.query), search.mode, document
                    groups[key].append((search.query, clicks, positions))
        found = []
        for (folded, mode, document), group in groups.items():
            clicks, positions = sum(each[1] for each in group), sum(each[2] for each in group)
            query = min(each[0] for each in group)
            opened = ClickedDocument(query, mode, document, clicks, positions / clicks)
            found.append((-clicks, folded, mode, document, opened))
        return [each[4] for each in sorted(found, key=itemgetter(0, 1, 2, 3))]


def fold(text: str) -> str:
    """Fold as these few texts need it."""
    return unicodedata.normalize("NFKC", text).casefold()


@dataclass(frozen=True, slots=True)
class Step:
    """Notes or clicks of a day so many days ago, or what is forgotten."""

    ago: int
    notes: dict[Search, Times] = field(default_factory=dict)
    clicks: dict[Click, int] = field(default_factory=dict)
    forgets: str = ""


searches = st.builds(
    Search,
    st.sampled_from(("paragraphs", "articles")),
    st.sampled_from(QUERIES),
    st.sampled_from(("exact", "closest")),
)
ago = st.integers(0, 4)
small = st.integers(0, 12)
notes = st.dictionaries(searches, st.builds(Times, st.integers(1, 3), small), min_size=3)
documents = st.sampled_from(("1", "2", "a b", "東")) | small.map(str)
clicks = st.dictionaries(st.builds(Click, searches, documents), st.integers(1, 30), min_size=3)
noting, clicking = st.builds(Step, ago, notes=notes), st.builds(Step, ago, clicks=clicks)
forgetting = st.builds(Step, ago, forgets=st.sampled_from(("before", "least")))
histories = st.lists(noting | noting | clicking | clicking | forgetting, max_size=12)


@pytest.fixture(scope="module", params=KINDS)
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, servers: Servers
) -> Iterator[Engine]:
    """One database for all the histories; each is undone at its end."""
    with fresh_database(request.param, tmp_path_factory.mktemp("log"), servers) as url:
        engine = open_engine(url)
        replay(engine, create_search_log)
        yield engine
        engine.dispose()


@settings(max_examples=35, derandomize=True)
@given(history=histories)
def test_the_log_is_what_a_dict_would_be(database: Engine, history: list[Step]) -> None:
    """Counts, totals, clicks and what is forgotten; and every question about them."""
    with database.connect() as connection, connection.begin() as transaction:
        now = today(connection)
        model = Model()
        for step in history:
            do(connection, now, model, step)
        assert count_searches(connection) == len(model.rows)
        for index in ("paragraphs", "articles"):
            compare(connection, now, model, index)
        transaction.rollback()


def do(connection: Connection, now: date, model: Model, step: Step) -> None:
    """Do one step to both."""
    day = now - timedelta(days=step.ago)
    add_searches(connection, day, step.notes)
    for search in sorted(step.notes):
        model.note(day, search, step.notes[search])
    add_clicks(connection, day, step.clicks)
    for click in sorted(step.clicks):
        model.click(day, click, step.clicks[click])
    if step.forgets == "before":
        forget_before(connection, day)
        model.forget_before(day)
    elif step.forgets == "least":
        forget_least(connection, 3 * step.ago)
        model.forget_least(3 * step.ago)


def compare(connection: Connection, now: date, model: Model, index: str) -> None:
    """Ask both everything."""
    for days in (1, 3, 30):
        since = now - timedelta(days=days - 1)
        known = model.searches(index, since)
        nothing = [each for each in known if each.total == 0]
        assert list(nothing_found(connection, index, days, 4)) == nothing[:4]
        something = [each for each in known if each.total]
        assert list(frequent_searches(connection, index, days, 99)) == something
        ignored = [each for each in known if each.total >= 10 and not each.clicks]
        assert list(unclicked(connection, index, days, 99)) == ignored
        opened = model.clicked(index, since)
        assert list(clicked(connection, index, days, 99)) == opened
    for start in STARTS:
        begins = fold(" ".join(f"{start}.".split())[:-1])
        wanted = [
            each
            for each in model.searches(index, date.min)
            if fold(each.query).startswith(begins) and each.mode == "exact" and each.total
        ]
        wanted = [each for each in wanted if "«" not in each.query and "…" not in each.query]
        often = [each for each in wanted if each.asked >= AT_LEAST]
        assert list(past_searches(connection, index, start, 3)) == often[:3]


def test_many_documents_of_one_search_are_not_all_told_apart(database: Engine) -> None:
    """Whoever opens everything fills no table."""
    with database.connect() as connection, connection.begin() as transaction:
        now, search = today(connection), Search("paragraphs", "人間", "exact")
        add_searches(connection, now, {search: Times(1, 99)})
        add_clicks(connection, now, {Click(search, str(n)): 1 for n in range(MOST_DOCUMENTS + 9)})
        (logged,) = frequent_searches(connection, "paragraphs", 1, 9)
        assert logged.clicks == MOST_DOCUMENTS + 9
        assert len(clicked(connection, "paragraphs", 1, 99)) == MOST_DOCUMENTS
        transaction.rollback()
