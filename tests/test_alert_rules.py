"""Alert rules: what cannot be is refused by key and field; the file says every mistake."""

from pathlib import Path

import pytest

from sakuin.queue.notices import BadAlertFile, BadRule, Rule, read_rules
from sakuin.queue.notices.alert_notice import alert_notice

MAIL = "mailto:neko@example.org"
GOOD = """\
[alert.mail-fails]
when = "failure_rate"
kind = "mail"
above = 0.1
least_runs = 20
window_seconds = 900
to = ["mailto:neko@example.org", "https://hook.example.org/x"]

[alert.slow]
when = "mean_seconds"
kind = "report"
above = 2
to = "mailto:neko@example.org"

[alert."待ち"]
when = "oldest_seconds"
queue = "index:paragraphs"
above = 60.5
to = "mailto:neko@example.org"

[alert.nobody]
when = "no_worker"
to = "mailto:neko@example.org"
"""
BAD = """\
[alert.a]
when = "failure_rates"
kind = "mail"
above = 0.1
to = "mailto:neko@example.org"

[alert.b]
when = "failure_rate"
above = 1.5
to = "mailto:ne ko"

[alert.c]
when = "dead"
queue = "no blanks"
above = -1
too = 3
window_seconds = 60
to = []

[alert.d]
when = "failure_rate"
kind = "mail"
above = "much"
least_runs = true
to = [3]

[alert.e]
when = "no_worker"
above = 1
queue = "q"
to = ["mailto:neko@example.org", "nobody"]

[alert.f]
when = "longest_seconds"
kind = "mail"
above = 1
window_seconds = 1
least_runs = 0
to = "https://user:secret@hook.example.org/"

[other]
[alert]
g = 3
"""
SAID = """\
[other]: unknown; write [alert.other]
[alert.a] when: 'failure_rates' is unknown: use one of failure_rate, mean_seconds, longest_seconds
[alert.b] kind: missing: failure_rate of which kind?
[alert.b] above: 1.5: a failure rate is never above 1; use 0.1 for 10 %
[alert.b] to: address 'ne ko': use one plain address
[alert.c] too: unknown; known: when, to, above, kind, queue, window_seconds, least_runs
[alert.c] window_seconds: is for failure_rate, longest_seconds, mean_seconds only: leave it out
[alert.d] above: 'much': use a number
[alert.d] least_runs: True: use a number
[alert.d] to: [3]: use a text or a list of texts
[alert.e] queue: no_worker is not of a queue: leave it out
[alert.e] above: no_worker has none: leave it out
[alert.e] to: address 'nobody': use mailto:somebody@example.org
[alert.f] window_seconds: use 60 to 604800
[alert.f] least_runs: use 1 or more
[alert.f] to: address 'https://…@hook.example.org/': it may hold no user
[alert.g] is no table
A table looks like this:
"""


def test_a_good_file(tmp_path: Path) -> None:
    path = tmp_path / "alerts.toml"
    path.write_text(GOOD, encoding="utf-8")
    fails, slow, waits, nobody = read_rules(path)
    assert fails == Rule(
        key="mail-fails",
        when="failure_rate",
        kind="mail",
        above=0.1,
        least_runs=20,
        window_seconds=900,
        to=(MAIL, "https://hook.example.org/x"),
    )
    assert slow == Rule("slow", "mean_seconds", (MAIL,), above=2, kind="report")
    assert waits == Rule("待ち", "oldest_seconds", (MAIL,), above=60.5, queue="index:paragraphs")
    assert nobody == Rule("nobody", "no_worker", (MAIL,))


def test_every_mistake_is_named_with_key_and_field(tmp_path: Path) -> None:
    path = tmp_path / "alerts.toml"
    path.write_text(BAD, encoding="utf-8")
    with pytest.raises(BadAlertFile) as caught:
        read_rules(path)
    lines = str(caught.value).split("\n")
    for line, start in zip(lines, SAID.splitlines(), strict=False):
        assert line.removeprefix(f"{path}: ").startswith(start)
    assert len(lines) > len(SAID.splitlines())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[alert.x\n", "no TOML: "),
        (b"\xff\xfe", "cannot be read"),
        (b"alert = 3\n", "alert: is no table"),
        (b"#" * (1 << 20) + b"#", "larger than 1 MiB"),
        (b"a=" + b"[" * 100_000, "no TOML"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "alerts.toml"
    path.write_bytes(content)
    with pytest.raises(BadAlertFile, match=said):
        read_rules(path)
    with pytest.raises(BadAlertFile, match="cannot be read"):
        read_rules(tmp_path / "missing.toml")


def test_an_empty_file_has_no_rules(tmp_path: Path) -> None:
    path = tmp_path / "alerts.toml"
    path.write_bytes(b"")
    assert read_rules(path) == ()


def test_a_rule_in_code_is_checked_alike() -> None:
    with pytest.raises(BadRule, match=r"alert 'x': kind: missing.*; above: missing") as caught:
        Rule("x", "failure_rate", (MAIL,))
    assert [field for field, _ in caught.value.mistakes] == ["kind", "above"]
    for key in ("", "x" * 101, "x\ny"):
        with pytest.raises(BadRule, match="key: use 1 to 100"):
            Rule(key, "no_worker", (MAIL,))
    with pytest.raises(BadRule, match="above: nan"):
        Rule("x", "dead", (MAIL,), above=float("nan"), queue="q")
    with pytest.raises(BadRule, match="above: 10000: use less than 10,000"):
        Rule("x", "dead", (MAIL,), above=10_000, queue="q")
    with pytest.raises(BadRule, match="to: give 1 to 20 addresses"):
        Rule("x", "no_worker", (MAIL,) * 21)


def test_above_means_above() -> None:
    rule = Rule("x", "dead", (MAIL,), above=3, queue="q")
    assert [rule.is_met(value) for value in (None, 0, 3, 3.1)] == [False, False, False, True]
    nobody = Rule("y", "no_worker", (MAIL,))
    assert [nobody.is_met(value) for value in (0.0, 1.0, 7.0)] == [True, False, False]


def test_what_is_told() -> None:
    rule = Rule("fails", "failure_rate", (MAIL,), above=0.5, kind="sendMail")
    notice = alert_notice(rule, 0.62, is_firing=True)
    assert notice.subject == "Alert fails: firing"
    assert notice.text == (
        "The failure rate of sendMail is 0.62.\nThe alert fires above 0.5.\n"
        "Runs of the last 600 seconds are counted."
    )
    assert notice.facts["value"] == 0.62
    assert notice.facts["state"] == "firing"
    calm = alert_notice(rule, None, is_firing=False)
    assert calm.subject == "Alert fails: recovered"
    assert "unknown: there were too few runs" in calm.text
