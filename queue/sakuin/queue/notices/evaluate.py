"""Looks whether alert rules are met, and tells of each change once, whoever else looks.

The change of a rule's state and the notices of it are one transaction, under the lock of the
rule's row, with the value read anew under it: of several that look at once one sees the change,
and one that dies in between has neither changed nor told anything.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import execute, moment
from sakuin.queue.notices.alert_notice import alert_notice
from sakuin.queue.notices.push_notice import push_notices_on
from sakuin.queue.notices.rule import Rule
from sakuin.queue.notices.rule_value import value_of
from sakuin.queue.replay import read, replay

_STATE = "SELECT is_firing, changed_at FROM sakuin_alerts WHERE rule_key = ?"
_ENTER = "INSERT INTO sakuin_alerts (rule_key) VALUES (?) {on_duplicate} rule_key = rule_key"
_SET = "UPDATE sakuin_alerts SET is_firing = ?, changed_at = {now} WHERE rule_key = ?"


@dataclass(frozen=True, slots=True)
class Alert:
    """A rule and its state: whether it fires, since when (None: it never changed), its value now.

    The state is that of the last evaluation: the value may have changed since.
    """

    rule: Rule
    is_firing: bool
    changed_at: datetime | None
    value: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """A rule that began to fire, or ended, at this value."""

    rule: Rule
    is_firing: bool
    value: float | None


def evaluate_alerts(engine: Engine, rules: Iterable[Rule]) -> tuple[Change, ...]:
    """Look at every rule, push the notices of what changed, and return the changes made here.

    Costs a few short reads for each rule, and writes only where something changed.
    """
    found = (_evaluate(engine, rule) for rule in rules)
    return tuple(change for change in found if change is not None)


def alerts(connection: Connection, rules: Iterable[Rule]) -> tuple[Alert, ...]:
    """Return the state of every rule, in their order."""
    return tuple(_alert(connection, rule) for rule in rules)


def _alert(connection: Connection, rule: Rule) -> Alert:
    row = execute(connection, _STATE, rule.key).one_or_none()
    value = value_of(connection, rule)
    if row is None:
        return Alert(rule, is_firing=False, changed_at=None, value=value)
    return Alert(rule, bool(row.is_firing), moment(row.changed_at), value)


def _evaluate(engine: Engine, rule: Rule) -> Change | None:
    seen = read(engine, lambda connection: _alert(connection, rule))
    if rule.is_met(seen.value) == seen.is_firing:
        return None

    def is_made(connection: Connection, change: Change | None) -> bool:
        if change is None:
            return True
        row = execute(connection, _STATE + " {lock}", rule.key).one_or_none()
        return row is not None and bool(row.is_firing) == change.is_firing

    return replay(engine, lambda connection: _change(connection, rule), committed=is_made)


def _change(connection: Connection, rule: Rule) -> Change | None:
    execute(connection, _ENTER, rule.key)
    was_firing = bool(execute(connection, _STATE + " {lock}", rule.key).one().is_firing)
    value = value_of(connection, rule)
    change = Change(rule, rule.is_met(value), value)
    if change.is_firing == was_firing:
        return None
    execute(connection, _SET, int(change.is_firing), rule.key)
    push_notices_on(connection, rule.to, alert_notice(rule, value, is_firing=change.is_firing))
    return change
