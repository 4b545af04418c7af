"""How a change of an alert is told."""

from sakuin.queue.notices.notice import Notice
from sakuin.queue.notices.rule import OF_A_KIND, Rule

_WHAT = {
    "failure_rate": "the failure rate of {kind}",
    "mean_seconds": "the mean duration of {kind}, in seconds,",
    "longest_seconds": "the longest duration of {kind}, in seconds,",
    "oldest_seconds": "the age of the oldest ready message of {queue}, in seconds,",
    "dead": "the number of dead messages of {queue}",
    "no_worker": "the number of processes that work",
}


def alert_notice(rule: Rule, value: float | None, *, is_firing: bool) -> Notice:
    """Return the notice that a rule has begun to fire, or has ended."""
    state = "firing" if is_firing else "recovered"
    what = _WHAT[rule.when].format(kind=rule.kind, queue=rule.queue)
    lines = [f"{what[0].upper()}{what[1:]} is {_told(rule, value)}."]
    if rule.above is not None:
        lines.append(f"The alert fires above {rule.above:g}.")
    if rule.when in OF_A_KIND:
        lines.append(f"Runs of the last {rule.window_seconds:g} seconds are counted.")
    return Notice(
        subject=f"Alert {rule.key}: {state}",
        text="\n".join(lines),
        facts={
            "alert": rule.key,
            "state": state,
            "when": rule.when,
            "value": value,
            "above": rule.above,
            "kind": rule.kind,
            "queue": rule.queue,
        },
    )


def _told(rule: Rule, value: float | None) -> str:
    if value is not None:
        return f"{value:.6g}"
    return "unknown: there were too few runs" if rule.when in OF_A_KIND else "nothing: none waits"
