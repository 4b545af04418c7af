"""`sakuin queue alerts`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put_json, say, setting
from sakuin.app.commands.queue_opened import opened_queues
from sakuin.app.commands.queue_shown import put_table, short, time_json, time_shown
from sakuin.app.settings import read_settings
from sakuin.queue import read
from sakuin.queue.notices import Alert, alerts, read_rules


def list_alerts(
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    rules: Annotated[str | None, setting("alerts")] = None,
    as_json: AsJson = False,
) -> None:
    """Show every alert rule: whether it fires, since when, and its value now.

    Rules are evaluated by whoever tidies: `sakuin worker` or `sakuin queue run`.

    JSON: a list of {"key", "when", "kind", "queue", "above", "is_firing", "changed_at", "value"}.
    """
    path = read_settings({"alerts": rules}).alerts
    asked = read_rules(Path(path)) if path else ()
    with opened_queues(data_dir, database_url) as opened:
        found = read(opened.database, partial(alerts, rules=asked))
    if as_json:
        put_json([_json(one) for one in found])
        return
    if not found:
        say("No rule is known here: name their file, as `--alerts alerts.toml`, or by the setting.")
        return
    put_table(
        ("RULE", "WHEN", "OF", "ABOVE", "NOW", "", "SINCE"),
        [
            (
                short(one.rule.key, 40),
                one.rule.when,
                one.rule.kind or one.rule.queue or "",
                _number(one.rule.above),
                _number(one.value),
                "FIRES" if one.is_firing else "well",
                time_shown(one.changed_at) if one.changed_at else "",
            )
            for one in found
        ],
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _json(one: Alert) -> dict[str, Any]:
    return {
        "key": one.rule.key,
        "when": one.rule.when,
        "kind": one.rule.kind,
        "queue": one.rule.queue,
        "above": one.rule.above,
        "is_firing": one.is_firing,
        "changed_at": time_json(one.changed_at) if one.changed_at else None,
        "value": one.value,
    }
