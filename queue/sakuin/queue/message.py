"""The values that the queue hands out. They do no I/O."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Status = Literal["ready", "leased", "scheduled", "dead"]


@dataclass(frozen=True, slots=True)
class Message:
    """A leased message: ours until `locked_until`, as long as the row still holds `token`.

    `attempts` counts this delivery too, `errors` the failures before it; what is between them are
    deliveries that had no end. `kind` says what `data` is, if it was pushed with one. The lease is
    `lease_seconds` long. `has_job` is false where no job (`sakuin_jobs`) has it. It was
    ready for `waited_seconds` before the claim. Times are aware, in UTC, by the database's clock.
    """

    id: int
    queue: str
    priority: int
    token: bytes
    attempts: int
    data: bytes
    created_at: datetime
    locked_until: datetime
    kind: str | None = None
    errors: int = 0
    unique_key: bytes | None = None
    limit_key: bytes | None = None
    lease_seconds: float = 0.0
    has_job: bool = True
    waited_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class DeadMessage:
    """A message, or a part of one, that was given up, with the reason and the traceback if any.

    `id` numbers the dead list itself; `message_id` is the id that the push returned.
    """

    id: int
    message_id: int
    queue: str
    priority: int
    attempts: int
    data: bytes
    reason: str
    traceback: str | None
    created_at: datetime
    dead_at: datetime
    kind: str | None = None
    errors: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """Where a message is; `reason` is set for a dead one only."""

    status: Status
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many messages of one queue are in each state.

    `oldest_seconds` is how long the longest waiting ready message has been ready, if any is.
    """

    ready: int
    leased: int
    scheduled: int
    dead: int
    oldest_seconds: float | None
