"""Which runs are due, as plain values: the window, its edges, and the most at once."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from recurring import at
from sakuin.queue.recurring import Every
from sakuin.queue.recurring.due import MOST_RUNS, Due, due_runs

MINUTE = timedelta(minutes=1)


def test_the_edges_of_the_window() -> None:
    """A run is due from its very moment on, and until it is as old as the window, not longer."""
    start, run = at("2027-01-01 00:00"), at("2027-01-01 01:00")
    hourly = Every(3600)
    assert due_runs(hourly, start, run - timedelta(microseconds=1), 600) == Due(())
    assert due_runs(hourly, start, run, 600) == Due((run,))
    young = run + timedelta(seconds=600) - timedelta(microseconds=1)
    assert due_runs(hourly, start, young, 600) == Due((run,))
    old = run + timedelta(seconds=600)
    assert due_runs(hourly, start, old, 600) == Due((), left_out=run, left_out_until=run)
    assert due_runs(hourly, run, old, 600) == Due(())


@settings(max_examples=200, derandomize=True)
@given(
    planned=st.integers(0, 2000),
    now=st.integers(0, 2000),
    window=st.integers(1, 500),
    step=st.integers(1, 30),
)
def test_due_runs_are_those_of_brute_force(planned: int, now: int, window: int, step: int) -> None:
    """Every minute is looked at: a run is due, left out, or of the past; no other is named."""
    start = at("1970-01-01 00:00")  # where the steps are counted from
    runs = [minute for minute in range(planned + 1, now + 1) if minute % step == 0]
    young = [minute for minute in runs if minute > now - window][:MOST_RUNS]
    old = [minute for minute in runs if minute <= now - window]
    due = due_runs(Every(60 * step), start + planned * MINUTE, start + now * MINUTE, 60.0 * window)
    assert due.runs == tuple(start + minute * MINUTE for minute in young)
    assert due.left_out == (start + old[0] * MINUTE if old else None)
    assert due.left_out_until == (start + (now - window) * MINUTE if old else None)


def test_the_rest_of_many_runs_comes_next() -> None:
    """However many were missed, they come in parts, none twice, none forgotten."""
    start = at("2027-01-01 00:00")
    now, planned, runs = start + 250 * MINUTE, start, 0
    while due := due_runs(Every(60), planned, now, 86400).runs:
        assert len(due) <= MOST_RUNS
        runs, planned = runs + len(due), due[-1]
    assert (runs, planned) == (250, now)
