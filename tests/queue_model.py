"""The queue as plain Python, in one thread and without SQL: what each verb should do."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from sakuin.queue import Message, RetryPolicy

POLICY = RetryPolicy(
    max_attempts=5, first_seconds=500, most_seconds=500, alone_after=2, max_crashes=3
)
REACH = 500


@dataclass(slots=True)
class Row:
    """What one message should be like. Times are `turns` of the model."""

    queue: str
    priority: int
    data: bytes
    kind: str | None = None
    key: str | None = None
    limit: str | None = None
    to: int = 1
    due: int | None = None
    place: int = 0
    state: str = "ready"
    attempts: int = 0
    errors: int = 0
    token: bytes | None = None
    is_expired: bool = False
    held: str | None = None
    """The unique key while another may take it."""
    slot: str | None = None
    """What the limit knows of it: nothing, or that it waits, is blocked, called or holds."""


@dataclass(frozen=True, slots=True)
class Dead:
    """An entry of the dead list."""

    number: int
    queue: str
    priority: int
    data: bytes
    attempts: int
    errors: int
    kind: str | None
    key: str | None
    limit: str | None
    to: int


@dataclass(slots=True)
class QueueModel:
    """Messages by id, entries of the dead list in the order in which they died, and pauses."""

    live: dict[int, Row] = field(default_factory=dict)
    died: list[Dead] = field(default_factory=list)
    paused: set[str] = field(default_factory=set)

    def waiting_under(self, queue: str, key: str | None) -> int | None:
        """Return the message that waits under this unique key."""
        for number, row in self.live.items():
            if key is not None and (row.queue, row.key) == (queue, key):
                return number
        return None

    def is_full(self, limit: str, to: int) -> bool:
        """Tell whether a push that would discard finds no room."""
        return sum(row.limit == limit and row.slot is not None for row in self.live.values()) >= to

    def is_ours(self, message: Message) -> bool:
        """Tell whether whoever claimed the message may still settle it."""
        row = self.live.get(message.id)
        return row is not None and row.token == message.token

    # Claims

    def claim(self, queue: str, limit: int) -> list[int]:
        """Return what a claim should give; what it does to others is done."""
        reach = limit
        while queue not in self.paused:
            ready = [
                n for n, row in self.live.items() if (row.queue, row.state) == (queue, "ready")
            ]
            ready.sort(key=lambda n: (self.live[n].priority, self.live[n].place, n))
            window = ready[:reach]
            spent = self._give_up(window)
            window = [number for number in window if number not in spent]
            chosen = self._company(window[:limit])
            refused = self._admit(chosen, window[len(chosen) :])
            chosen = [number for number in chosen if number not in refused]
            if chosen or not (spent or refused):
                return chosen
            reach = max(limit, REACH)
        return []

    def lease(self, message: Message) -> None:
        """Take one that `claim` gave, under the token that it really has."""
        row = self.live[message.id]
        row.state, row.token, row.attempts = "leased", message.token, row.attempts + 1
        row.key, row.held = None, row.key or row.held
        if row.limit is not None:
            row.slot = "holds"

    def _give_up(self, window: Sequence[int]) -> set[int]:
        reasons: dict[object, list[int]] = {}
        for number in window:
            row = self.live[number]
            if row.is_expired:
                reasons.setdefault("expired", []).append(number)
            elif row.attempts - row.errors >= 3:
                reasons.setdefault(row.attempts - row.errors, []).append(number)
            elif row.attempts >= 5:
                reasons.setdefault("spent", []).append(number)
        for numbers in reasons.values():
            self.die(numbers)
        return {number for numbers in reasons.values() for number in numbers}

    def _company(self, window: Sequence[int]) -> list[int]:
        def is_suspect(number: int) -> bool:
            return self.live[number].attempts - self.live[number].errors >= 2

        if window and is_suspect(window[0]):
            return [window[0]]
        return list(takewhile(lambda number: not is_suspect(number), window))

    def _admit(self, chosen: Sequence[int], behind: Sequence[int]) -> set[int]:
        refused: set[int] = set()
        for limit in sorted({self.live[n].limit for n in chosen} - {None}, key=str):
            ours = [number for number in chosen if self.live[number].limit == limit]
            others = [number for number in behind if self.live[number].limit == limit]
            taken = self._held(limit, {*ours, *others})
            for number in ours:
                if taken < self.live[number].to:
                    taken += 1
                    self.live[number].slot = "holds"
                else:
                    refused.add(number)
            refused.update(number for number in others if taken >= self.live[number].to)
        for number in refused:
            row = self.live[number]
            row.slot, row.state, row.token = "blocked", "blocked", None
        return refused

    # Limits

    def _held(self, limit: str | None, claiming: Iterable[int] = ()) -> int:
        """Count the holders; those whose lease ran out lose their token."""
        held = 0
        for number, row in self.live.items():
            if row.limit != limit or row.slot != "holds" or number in claiming:
                continue
            if row.state == "leased":
                held += 1
            else:
                row.slot, row.token = "waits", None
        return held

    def call_next(self, limit: str | None, *, passes_called: bool = False) -> int:
        """Make blocked messages ready for which there is room, and return how many."""
        taken = self._held(limit)
        mates = [(row.priority, n) for n, row in self.live.items() if row.limit == limit]
        if not passes_called:
            taken += sum(self.live[number].slot == "called" for _, number in mates)
        count = 0
        for _, number in sorted(mates):
            row = self.live[number]
            if row.slot == "blocked" and taken < row.to:
                taken, count = taken + 1, count + 1
                row.slot, row.state, row.place = "called", "ready", row.due or 0
        return count

    def free_stale_limits(self) -> int:
        """Call for every key that somebody is blocked at, if the oldest of them finds room."""
        oldest: dict[str | None, int] = {}
        for number in sorted(n for n, row in self.live.items() if row.slot == "blocked"):
            oldest.setdefault(self.live[number].limit, number)
        with_room = [
            limit
            for limit, number in oldest.items()
            if sum(
                (row.limit, row.slot, row.state) == (limit, "holds", "leased")
                for row in self.live.values()
            )
            < self.live[number].to
        ]
        return sum(self.call_next(one, passes_called=True) for one in sorted(with_room, key=str))

    # Ends

    def settle(self, batch: Sequence[Message], act: Callable[[Sequence[int]], None]) -> set[int]:
        """Act on what is ours of the batch, alike ones together; return the ids of the rest."""
        groups: dict[object, list[int]] = {}
        limits: dict[object, str] = {}
        lost = {one.id for one in batch if not self.is_ours(one)}
        for one in batch:
            if self.is_ours(one):  # an older lease of the same message may be in the batch, too
                row = self.live[one.id]
                like = (row.token, row.queue, row.attempts, row.errors, row.limit, row.held is None)
                groups.setdefault(like, []).append(one.id)
                limits[like] = row.limit or ""
        for group in sorted(groups, key=lambda like: limits[like]):
            act(sorted(set(groups[group])))
        return lost

    def ack(self, numbers: Sequence[int]) -> None:
        """They are done."""
        limit = self.live[numbers[0]].limit
        for number in numbers:
            del self.live[number]
        if limit is not None:
            self.call_next(limit)

    def extend(self, numbers: Sequence[int]) -> None:
        """Their leases run again."""
        for number in numbers:
            self.live[number].state = "leased"

    def release(self, numbers: Sequence[int]) -> None:
        """They wait again at their old places, as if they had not been delivered."""
        for number in numbers:
            self.live[number].attempts -= 1
        self._give_back(numbers, "ready")

    def fail(self, numbers: Sequence[int]) -> None:
        """An error each."""
        self._retry(numbers, error=1)

    def crash(self, numbers: Sequence[int]) -> None:
        """The death of a process each."""
        self._retry(numbers, error=0)

    def _retry(self, numbers: Sequence[int], error: int) -> None:
        row = self.live[numbers[0]]
        if row.attempts >= 5 or row.attempts - row.errors - error >= 3:
            self.die(numbers, error)
            return
        for number in numbers:
            self.live[number].errors += error
        self._give_back(numbers, "scheduled")

    def _give_back(self, numbers: Sequence[int], state: str) -> None:
        limit = self.live[numbers[0]].limit
        for number in numbers:
            row = self.live[number]
            if self.waiting_under(row.queue, row.held) is not None:
                del self.live[number]
                continue
            row.state, row.token, row.key, row.place = state, None, row.held, row.due or 0
            row.slot = "waits" if row.slot else None
        if limit is not None:
            self.call_next(limit)

    def die(self, numbers: Sequence[int], error: int = 0) -> None:
        """They go to the dead list."""
        limits: set[str] = set()
        for number in sorted(numbers):
            self.died.append(self._dead(number, error))
            row = self.live.pop(number)
            if row.limit is not None and row.slot:
                limits.add(row.limit)
        for limit in sorted(limits):
            self.call_next(limit)

    def die_in_part(self, number: int, data: bytes, rest: bytes | None) -> None:
        """A part goes to the dead list, and the rest, if any, stays leased."""
        if rest is None:
            self.live[number].data = data
            self.die([number], error=1)
        else:
            self.live[number].data = data
            self.died.append(self._dead(number, error=1))
            self.live[number].data = rest

    def requeue_held(self, holder: bytes) -> int:
        """What leases of this holder run on is ready again at its old place, under its key."""
        limits: set[str] = set()
        held = [
            row
            for _, row in sorted(self.live.items(), key=lambda entry: entry[0])
            if row.state == "leased" and row.token and row.token.startswith(holder)
        ]
        for row in held:
            limits.update([row.limit] if row.limit else [])
            if self.waiting_under(row.queue, row.held) is not None:
                self.live = {number: one for number, one in self.live.items() if one is not row}
                continue
            row.state, row.token, row.key, row.place = "ready", None, row.held, row.due or 0
            row.slot = "waits" if row.slot else None
        for limit in sorted(limits):
            self.call_next(limit)
        return len(held)

    def _dead(self, number: int, error: int) -> Dead:
        row = self.live[number]
        return Dead(
            number,
            row.queue,
            row.priority,
            row.data,
            row.attempts,
            row.errors + error,
            row.kind,
            row.key or row.held,
            row.limit,
            row.to,
        )
