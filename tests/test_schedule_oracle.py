"""Schedules against brute force: every minute of UTC, what the clock shows, whether it matches."""

from datetime import datetime, timedelta
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Stress
from cron_oracle import (
    ANY_DAY,
    ANY_HOUR,
    ANY_MINUTE,
    ANY_MONTH,
    ANY_WEEKDAY,
    Fields,
    Minute,
    daily,
    minutes_of,
    runs_of,
    whole,
)
from sakuin.queue.recurring import BadSchedule, Cron, Every, Schedule

WINDOWS = (
    ("Europe/Berlin", "2027-03-27"),
    ("Europe/Berlin", "2027-10-30"),
    ("Asia/Tokyo", "2027-02-27"),
    ("Australia/Lord_Howe", "2027-04-03"),  # half an hour back
    ("Australia/Lord_Howe", "2027-10-02"),
    ("America/Havana", "2027-03-13"),  # midnight is jumped over
    ("America/Havana", "2027-11-06"),
    ("Antarctica/Troll", "2027-03-27"),  # two hours
    ("Pacific/Apia", "2011-12-29"),  # a whole day was left out
    ("Asia/Kathmandu", "2027-12-30"),  # 5:45 ahead
)
YEAR_ZONES = ("Europe/Berlin", "Asia/Tokyo", "Australia/Lord_Howe")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@cache
def window(number: int) -> list[Minute]:
    zone, day = WINDOWS[number]
    return list(minutes_of(zone, whole(day), whole(day) + timedelta(days=3)))


def runs_until(schedule: Schedule, start: datetime, end: datetime) -> list[datetime]:
    runs = []
    run = schedule.next_after(start)
    while run <= end:
        runs.append(run)
        run = schedule.next_after(run)
    return runs


def field(
    first: int, last: int, everything: frozenset[int]
) -> st.SearchStrategy[tuple[str, set[int]]]:
    """A field of a cron expression, with the set that it means."""
    one = st.integers(first, last).map(lambda value: (str(value), {value}))
    span = st.tuples(st.integers(first, last), st.integers(first, last), st.integers(1, 9)).map(
        lambda drawn: _span(min(drawn[:2]), max(drawn[:2]), drawn[2])
    )
    several = st.lists(st.one_of(one, span), min_size=2, max_size=3).map(
        lambda parts: (",".join(text for text, _ in parts), set().union(*(had for _, had in parts)))
    )
    star = st.just(("*", set(everything)))
    step = st.integers(1, 20).map(
        lambda n: (f"*/{n}", {value for value in everything if (value - first) % n == 0})
    )
    return st.one_of(one, star, step, span, several)


def _span(low: int, high: int, step: int) -> tuple[str, set[int]]:
    text = f"{low}-{high}" + f"/{step}" * (step > 1 and low < high)
    return text, set(range(low, high + 1, step))


@st.composite
def expressions(draw: st.DrawFn) -> Fields:
    minute = draw(field(0, 59, ANY_MINUTE))
    hour = draw(field(0, 23, ANY_HOUR))
    last_day = st.just(("L", {0}))
    day = draw(st.one_of(st.just(("*", set(ANY_DAY))), last_day, field(1, 31, ANY_DAY)))
    month = draw(st.one_of(st.just(("*", set(ANY_MONTH))), field(1, 12, ANY_MONTH)))
    names = st.integers(0, 6).map(lambda number: (WEEKDAYS[number], {number}))
    weekday = draw(st.one_of(st.just(("*", set(ANY_WEEKDAY))), names, field(0, 6, ANY_WEEKDAY)))
    parts = (minute, hour, day, month, weekday)
    sets = [frozenset(had) for _, had in parts]
    return Fields(" ".join(text for text, _ in parts), *sets)


@settings(max_examples=100, derandomize=True)
@given(fields=expressions(), number=st.integers(0, len(WINDOWS) - 1))
def test_cron_runs_when_the_clock_says_so(fields: Fields, number: int) -> None:
    """Any expression, around any jump of a clock, runs at the minutes that brute force finds."""
    minutes = window(number)
    try:
        schedule = Cron(fields.text, WINDOWS[number][0])
    except BadSchedule:
        assert not _can_be(fields)
        return
    start = minutes[0].at - timedelta(minutes=1)
    assert runs_until(schedule, start, minutes[-1].at) == runs_of(fields, minutes)


def _can_be(fields: Fields) -> bool:
    """Tell whether any day of 28 years (all weekdays of 29 February) is one of the expression."""
    quiet = Fields(fields.text, ANY_MINUTE, ANY_HOUR, fields.days, fields.months, fields.weekdays)
    day = whole("2001-01-01").replace(tzinfo=None)
    return any(quiet.matches(day + timedelta(days=number)) for number in range(28 * 366))


@pytest.mark.parametrize("zone", YEAR_ZONES)
def test_fixed_and_real_time_over_a_year(zone: str, stress: Stress) -> None:
    """A whole year minute by minute, or a seeded tenth of its days and the days of a jump."""
    hours = frozenset(range(0, 24, 2))
    expressions = (
        daily(2, 30),
        daily(2, 0),
        daily(0, 0),
        Fields("*/20 * * * *", frozenset({0, 20, 40}), ANY_HOUR, ANY_DAY, ANY_MONTH, ANY_WEEKDAY),
        Fields("0 */2 * * *", frozenset({0}), hours, ANY_DAY, ANY_MONTH, ANY_WEEKDAY),
        Fields(
            "15 1 L * *", frozenset({15}), frozenset({1}), frozenset({0}), ANY_MONTH, ANY_WEEKDAY
        ),
    )
    for start, end in _spans(stress):
        minutes = list(minutes_of(zone, start, end))
        for fields in expressions:
            found = runs_until(Cron(fields.text, zone), start, end)
            assert found == runs_of(fields, minutes), fields.text


def _spans(stress: Stress) -> list[tuple[datetime, datetime]]:
    new_year = whole("2027-01-01")
    if stress.is_whole:
        return [(new_year, new_year + timedelta(days=365))]
    jumps = ("2027-03-27", "2027-04-03", "2027-10-02", "2027-10-30")
    starts = [whole(day) for day in jumps]
    starts += [new_year + timedelta(days=stress.random().randrange(340))]
    return [(start, start + timedelta(days=3)) for start in starts]


@settings(max_examples=200, derandomize=True)
@given(
    seconds=st.integers(1, 604_800),
    moment=st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1)),  # noqa: DTZ001 - a wall clock
)
def test_every_so_many_seconds_in_real_time(seconds: int, moment: datetime) -> None:
    """The next time is later, at most one step away, and a whole number of steps since 1970."""
    moment = whole(moment.isoformat())
    found = Every(seconds).next_after(moment)
    assert timedelta(0) < found - moment <= timedelta(seconds=seconds)
    assert (found - whole("1970-01-01")) % timedelta(seconds=seconds) == timedelta(0)
