"""The values of the registry of processes. They do no I/O."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sakuin.queue.errors import BadMessage

_ROLE = re.compile(r"[a-z][a-z0-9_-]{0,19}")


@dataclass(frozen=True, slots=True)
class Process:
    """A registered process, as it was when it was read.

    `id` (8 bytes) is what it gives to its claims as `holder`, so that what it holds can be found.
    Times are aware, in UTC, by the database's clock; `age_seconds` is the age of its last beat.
    """

    id: bytes
    role: str
    host: str
    pid: int
    supervisor_id: bytes | None
    detail: Mapping[str, object]
    dead_after_seconds: float
    started_at: datetime
    beat_at: datetime
    age_seconds: float

    @property
    def is_dead(self) -> bool:
        """Whether it has not beaten for so long that others may take what it holds."""
        return self.age_seconds > self.dead_after_seconds


def check_role(role: str) -> str:
    """Return the role, or raise BadMessage."""
    if not _ROLE.fullmatch(role):
        raise BadMessage(f"role {role[:40]!r}: use 1 to 20 of a-z 0-9 _ -, a letter first")
    return role
