"""Alerts on both databases: the values that rules watch, and each change told once."""

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from pydantic import TypeAdapter
from sqlalchemy import Connection, Engine

from aging import age
from cut_path import EVERYWHERE, Path, cut_path
from databases import Servers, claim_one, claimed, expire, push_all
from explained import explained
from sakuin.queue import bury, create_schema, read, replay
from sakuin.queue.dialect import dialect_of, execute
from sakuin.queue.notices import Letter, Rule, alerts, evaluate_alerts
from sakuin.queue.notices.evaluate import _change
from sakuin.queue.notices.rule_value import value_of
from sakuin.queue.processes import deregister, register

TO = ("mailto:neko@example.org", "https://hook.example.org/x")


@dataclass(frozen=True, slots=True)
class Minute:
    """What happened to a kind in a minute that began `ago` seconds ago."""

    kind: str
    ago: float
    runs: int
    failed: int
    seconds: float
    longest: float


def measure(engine: Engine, *minutes: Minute) -> None:
    sql = (
        "INSERT INTO sakuin_measures (at, kind, runs, failed, seconds, longest_seconds)"
        " VALUES ({later}, ?, ?, ?, ?, ?)"
    )

    def work(connection: Connection) -> None:
        for one in minutes:
            ago = dialect_of(connection).shift(-one.ago)
            values = (one.kind, one.runs, one.failed, one.seconds, one.longest)
            execute(connection, sql, ago, *values)

    replay(engine, work)


def forget_measures(engine: Engine) -> None:
    replay(engine, lambda connection: execute(connection, "DELETE FROM sakuin_measures"))


def letters(engine: Engine) -> list[Letter]:
    """Take the letters that were pushed since."""
    read_letter = TypeAdapter(Letter).validate_json
    return [read_letter(data, strict=True) for data in claimed(engine, "sakuin:notices")]


def told(engine: Engine) -> list[tuple[str, str]]:
    return [(letter.to, letter.subject) for letter in letters(engine)]


def look(engine: Engine, rule: Rule) -> float | None:
    return read(engine, lambda connection: value_of(connection, rule))


def plainly(minutes: list[Minute], rule: Rule) -> float | None:
    """The value by plain arithmetic."""
    mine = [one for one in minutes if one.kind == rule.kind and one.ago < rule.window_seconds]
    runs = sum(one.runs for one in mine)
    if runs < rule.least_runs:
        return None
    if rule.when == "longest_seconds":
        return max(one.longest for one in mine)
    if rule.when == "failure_rate":
        return sum(one.failed for one in mine) / runs
    return sum(one.seconds for one in mine) / runs


def test_values_of_runs_are_those_of_a_plain_computation(engine: Engine) -> None:
    """Windows, kinds and the least number of runs, right at their bounds and beyond."""
    chance = random.Random(5)
    minutes = []
    for kind in ("mail", "Mail"):
        for at in (0, 30, 90, 290, 310, 590, 610, 890, 910, 4000):
            runs = chance.randrange(1, 9)
            failed, longest = chance.randrange(runs + 1), chance.uniform(0.1, 9)
            minutes.append(Minute(kind, at, runs, failed, longest * runs * 0.7, longest))
    measure(engine, *minutes)
    checked = set()
    for when in ("failure_rate", "mean_seconds", "longest_seconds"):
        for window in (60, 300, 600, 900):
            in_window = [m for m in minutes if m.kind == "mail" and m.ago < window]
            runs = sum(one.runs for one in in_window)
            for least in (1, runs, runs + 1):
                rule = Rule(
                    "r", when, TO, above=0, kind="mail", window_seconds=window, least_runs=least
                )
                value = look(engine, rule)
                right = plainly(minutes, rule)
                assert value == pytest.approx(right)
                checked.add(right)
    assert None in checked
    assert len(checked) > 9
    unknown = Rule("r", "failure_rate", TO, above=0, kind="nobody")
    assert look(engine, unknown) is None


def test_each_condition_fires_and_recovers(engine: Engine) -> None:
    rules = (
        Rule("rate", "failure_rate", TO, above=0.5, kind="mail"),
        Rule("mean", "mean_seconds", TO, above=2, kind="mail"),
        Rule("longest", "longest_seconds", TO, above=7.5, kind="mail"),
        Rule("oldest", "oldest_seconds", TO, above=60, queue="q"),
        Rule("dead", "dead", TO, above=1, queue="q"),
        Rule("nobody", "no_worker", TO),
    )

    def firing() -> set[str]:
        return {one.rule.key for one in read(engine, lambda c: alerts(c, rules)) if one.is_firing}

    def changed() -> set[tuple[str, bool]]:
        return {(one.rule.key, one.is_firing) for one in evaluate_alerts(engine, rules)}

    worker = register(engine, "worker")
    assert changed() == set()
    assert all(one.changed_at is None for one in read(engine, lambda c: alerts(c, rules)))

    # At the bound, nothing fires yet.
    measure(engine, Minute("mail", 1, 10, 5, 20.0, 7.5))
    _, second, waiting = push_all(engine, "q", b"a", b"b", b"c")
    expire(engine, second, waiting, seconds=1000)  # scheduled ones do not wait
    bury(engine, claim_one(engine), "for good")
    expire(engine, second, seconds=-58)
    assert changed() == set()

    measure(engine, Minute("mail", 2, 1, 1, 3.0, 7.6))
    bury(engine, claim_one(engine), "for good")
    expire(engine, waiting, seconds=-61)
    age(engine, worker.id, 31)
    everyone = {rule.key for rule in rules}
    assert changed() == {(key, True) for key in everyone}
    assert firing() == everyone
    assert changed() == set()
    assert len(letters(engine)) == len(TO) * len(rules)

    forget_measures(engine)
    replay(engine, lambda connection: execute(connection, "DELETE FROM sakuin_dead"))
    claim_one(engine)
    index = register(engine, "index")
    assert changed() == {(key, False) for key in everyone}
    assert firing() == set()
    assert changed() == set()
    assert len(letters(engine)) == len(TO) * len(rules)

    deregister(engine, index.id)
    register(engine, "dispatcher")  # works on no queue
    assert changed() == {("nobody", True)}


def test_firing_and_recovered_are_both_told_with_the_facts(engine: Engine) -> None:
    rule = Rule("rate", "failure_rate", TO, above=0.5, kind="mail")
    measure(engine, Minute("mail", 1, 4, 3, 1, 1))
    (change,) = evaluate_alerts(engine, [rule])
    assert (change.rule, change.is_firing, change.value) == (rule, True, 0.75)
    first, second = letters(engine)
    assert (first.to, second.to) == TO
    assert first.id != second.id
    assert first.subject == "Alert rate: firing"
    assert first.facts["value"] == 0.75
    measure(engine, Minute("mail", 2, 4, 0, 1, 1))
    evaluate_alerts(engine, [rule])
    assert told(engine) == [(to, "Alert rate: recovered") for to in TO]
    (alert,) = read(engine, lambda connection: alerts(connection, [rule]))
    assert (alert.is_firing, alert.value) == (False, 0.375)
    assert alert.changed_at is not None


def test_several_at_once_tell_each_change_once(
    engine: Engine, database_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Once per change: four dispatchers look at the same moment, twenty times over."""
    rule = Rule("rate", "failure_rate", TO, above=0.5, kind="mail")
    engines = [open_database(database_url) for _ in range(4)]
    together = threading.Barrier(len(engines))

    def evaluate(own: Engine) -> int:
        together.wait()
        return len(evaluate_alerts(own, [rule]))

    with ThreadPoolExecutor(len(engines)) as pool:
        for number in range(20):
            is_bad = number % 2 == 0
            forget_measures(engine)
            measure(engine, Minute("mail", 1, 4, 4 if is_bad else 0, 1, 1))
            assert sum(pool.map(evaluate, engines)) == 1
            state = "firing" if is_bad else "recovered"
            assert told(engine) == [(to, f"Alert rate: {state}") for to in TO]


def test_a_crash_in_between_tells_nothing_and_loses_nothing(engine: Engine) -> None:
    """Once per change: state and notices are one transaction."""
    rule = Rule("rate", "failure_rate", TO, above=0.5, kind="mail")
    measure(engine, Minute("mail", 1, 4, 4, 1, 1))
    with engine.connect() as connection, connection.begin() as transaction:
        assert _change(connection, rule) is not None
        transaction.rollback()
    assert told(engine) == []
    assert len(evaluate_alerts(engine, [rule])) == 1
    assert len(told(engine)) == 2


def test_who_looked_long_ago_decides_by_what_is_now(engine: Engine) -> None:
    """Once per change: a dispatcher that was frozen between its look and its change."""
    rule = Rule("rate", "failure_rate", TO, above=0.5, kind="mail")
    measure(engine, Minute("mail", 1, 4, 4, 1, 1))
    assert rule.is_met(look(engine, rule))  # and now it sleeps, while things get better
    forget_measures(engine)
    assert replay(engine, lambda connection: _change(connection, rule)) is None
    assert told(engine) == []


@pytest.fixture
def path(servers: Servers) -> Iterator[Path]:
    with cut_path(servers) as path:
        yield path


def test_a_connection_lost_during_commit_is_no_second_notice(path: Path) -> None:
    """Once per change, whether the COMMIT arrived or not (Q6)."""
    rule = Rule("rate", "failure_rate", TO, above=0.5, kind="mail")
    for number, where in enumerate(EVERYWHERE):
        is_bad = number % 2 == 0
        forget_measures(path.whole)
        measure(path.whole, Minute("mail", 1, 4, 4 if is_bad else 0, 1, 1))
        path.proxy.cut(where)
        (change,) = evaluate_alerts(path.cut, [rule])
        assert change.is_firing == is_bad
        assert path.proxy.cuts == number + 1
        assert len(told(path.whole)) == len(TO)


def test_runs_are_read_by_the_key_of_their_table(
    mariadb_url: str, open_database: Callable[[str], Engine]
) -> None:
    """Bounded: of one kind, of one window, however long the history of all kinds is."""
    engine = open_database(mariadb_url)
    create_schema(engine)
    measure(engine, *(Minute(f"k{n % 50}", 60 * n, 1, 0, 1, 1) for n in range(1000)))
    rule = Rule("r", "failure_rate", TO, above=0, kind="k7", window_seconds=3600)
    (step,) = explained(engine, lambda connection: value_of(connection, rule))
    assert (step["key"], step["type"]) == ("PRIMARY", "range")
    assert int(step["rows"]) < 20
