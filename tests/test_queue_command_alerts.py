"""`sakuin queue alerts`: every rule of the file with its state and its value now."""

from pathlib import Path

from command import Command
from sakuin.queue import create_schema, open_engine
from sakuin.queue.notices import evaluate_alerts, read_rules

RULES = """\
[alert.nobody]
when = "no_worker"
to = "mailto:you@example.org"

[alert.dead-letters]
when = "dead"
queue = "letters"
above = 3
to = "https://example.org/hook"
"""


def test_rules_are_shown_with_their_state(tmp_path: Path) -> None:
    (tmp_path / "alerts.toml").write_text(RULES)
    url = f"sqlite:///{tmp_path / 'q.db'}"
    engine = open_engine(url)
    create_schema(engine)
    (change,) = evaluate_alerts(engine, read_rules(tmp_path / "alerts.toml"))
    engine.dispose()
    assert change.rule.key == "nobody"
    sakuin = Command(tmp_path, {"SAKUIN_DATABASE_URL": url, "SAKUIN_ALERTS": "alerts.toml"})
    nobody, letters = sakuin.json("queue", "alerts")
    assert (nobody["key"], nobody["is_firing"], letters["is_firing"]) == ("nobody", True, False)
    assert (letters["queue"], letters["above"], letters["value"]) == ("letters", 3, 0)
    assert nobody["changed_at"] is not None
    shown = sakuin.run("queue", "alerts").splitlines()
    assert shown[1].split()[:2] == ["nobody", "no_worker"]
    assert "FIRES" in shown[1]
    assert "well" in shown[2]
    (tmp_path / "alerts.toml").write_text("[alert.x]\nwhen = 'late'\n")
    done = sakuin.finish("queue", "alerts")
    assert done.returncode == 78
    assert "[alert.x]" in done.stderr
