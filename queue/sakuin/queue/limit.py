"""How many messages of a kind may be worked on at once, as a plain value."""

from dataclasses import dataclass
from typing import Literal

from sakuin.queue.errors import BadMessage
from sakuin.queue.limits import MAX_KEY_BYTES, check_seconds

MOST_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `to` messages with this `group` and `key` are leased at once.

    `key` says which messages count together, `group` across which kinds of them. A place is held
    as long as the message's lease; `seconds` is the length of that lease (None: as the worker
    wishes), so that a holder that was killed frees its place within it. Who finds no place is
    blocked until one is free, or, with `on_conflict="discard"`, is not pushed at all. Raises
    BadMessage for what cannot be.
    """

    key: str
    to: int = 1
    seconds: float | None = None
    group: str = ""
    on_conflict: Literal["block", "discard"] = "block"

    def __post_init__(self) -> None:
        if not 1 <= self.to <= MOST_AT_ONCE:
            raise BadMessage(f"limit to={self.to}: use 1 to {MOST_AT_ONCE:,}")
        if self.seconds is not None:
            check_seconds("limit seconds", self.seconds, positive=True)
        if self.on_conflict not in ("block", "discard"):
            raise BadMessage(f"limit on_conflict={self.on_conflict!r}: use 'block' or 'discard'")
        if not 1 < len(self.stored_key) <= MAX_KEY_BYTES:
            raise BadMessage(
                f"limit key of {len(self.stored_key)} bytes with its group: use 1 to "
                f"{MAX_KEY_BYTES - 1}"
            )

    @property
    def stored_key(self) -> bytes:
        """The key as the message table holds it: the group, a slash, the key."""
        return f"{self.group}/{self.key}".encode("utf-8", "surrogatepass")
