"""Alert rules as plain values: what is watched, from where on it is too much, who is told."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sakuin.queue.errors import BadMessage, QueueError
from sakuin.queue.limits import check_kind, check_queue
from sakuin.queue.notices.address import check_address

When = Literal[
    "failure_rate", "mean_seconds", "longest_seconds", "oldest_seconds", "dead", "no_worker"
]
OF_A_KIND = frozenset({"failure_rate", "mean_seconds", "longest_seconds"})
OF_A_QUEUE = frozenset({"oldest_seconds", "dead"})

LEAST_WINDOW_SECONDS, MOST_WINDOW_SECONDS = 60.0, 7 * 86400.0
MOST_DEAD = 10_000
MOST_ADDRESSES = 20
MOST_KEY = 100

Mistake = tuple[str, str]
"""A field and what is wrong with it."""


class BadRule(QueueError, ValueError):
    """A rule that cannot be; it names the rule's key, and for each mistake the field."""

    def __init__(self, key: str, mistakes: Sequence[Mistake]) -> None:
        self.key, self.mistakes = key, tuple(mistakes)
        told = "; ".join(f"{field}: {problem}" for field, problem in mistakes)
        super().__init__(f"alert {key!r}: {told}")


@dataclass(frozen=True, slots=True)
class Rule:
    """Tell `to` when a value rises above `above`, and again when it is no longer above.

    `failure_rate` (0 to 1), `mean_seconds` and `longest_seconds` are those of the runs of `kind`
    in the minutes that began within `window_seconds`; of fewer than `least_runs` nothing is said,
    which is as good as being all right. `oldest_seconds` is how long the longest waiting message
    of `queue` has been ready, `dead` how many of its messages are on the dead list (they are
    counted up to MOST_DEAD). `no_worker` has no `above`: it says that no process works on any
    queue. Raises BadRule that names every mistake.
    """

    key: str
    when: When
    to: tuple[str, ...]
    above: float | None = None
    kind: str | None = None
    queue: str | None = None
    window_seconds: float = 600.0
    least_runs: int = 1

    def __post_init__(self) -> None:
        if mistakes := list(self._mistakes()):
            raise BadRule(self.key, mistakes)

    def is_met(self, value: float | None) -> bool:
        """Tell whether that value (None: there is none) is one to be told of."""
        if self.when == "no_worker":
            return value == 0
        return value is not None and self.above is not None and value > self.above

    def _mistakes(self) -> Iterator[Mistake]:
        if not 1 <= len(self.key) <= MOST_KEY or not self.key.isprintable():
            yield "key", f"use 1 to {MOST_KEY} letters that can be printed"
        if self.when not in get_args(When):
            yield "when", f"{self.when!r} is unknown: use one of {', '.join(get_args(When))}"
        else:
            yield from self._mistakes_of_subject()
            yield from self._mistakes_of_above()
        if not LEAST_WINDOW_SECONDS <= self.window_seconds <= MOST_WINDOW_SECONDS:
            most = f"{MOST_WINDOW_SECONDS:.0f}"
            yield "window_seconds", f"use {LEAST_WINDOW_SECONDS:.0f} to {most}"
        if self.least_runs < 1:
            yield "least_runs", "use 1 or more"
        if not 1 <= len(self.to) <= MOST_ADDRESSES:
            yield "to", f"give 1 to {MOST_ADDRESSES} addresses"
        for address in self.to:
            try:
                check_address(address)
            except BadMessage as error:
                yield "to", str(error)

    def _mistakes_of_subject(self) -> Iterator[Mistake]:
        checks = (
            ("kind", self.kind, check_kind, OF_A_KIND),
            ("queue", self.queue, check_queue, OF_A_QUEUE),
        )
        for field, name, check, those in checks:
            if self.when not in those:
                if name is not None:
                    yield field, f"{self.when} is not of a {field}: leave it out"
            elif name is None:
                yield field, f"missing: {self.when} of which {field}?"
            else:
                try:
                    check(name)
                except BadMessage as error:
                    yield field, str(error)

    def _mistakes_of_above(self) -> Iterator[Mistake]:
        if self.when == "no_worker":
            if self.above is not None:
                yield "above", "no_worker has none: leave it out"
        elif self.above is None:
            yield "above", "missing: from which value on is it too much?"
        elif not (math.isfinite(self.above) and self.above >= 0):
            yield "above", f"{self.above}: use 0 or more"
        elif self.when == "failure_rate" and self.above >= 1:
            yield "above", f"{self.above}: a failure rate is never above 1; use 0.1 for 10 %"
        elif self.when == "dead" and self.above >= MOST_DEAD:
            yield "above", f"{self.above}: use less than {MOST_DEAD:,}"
