"""What a supervisor runs, as plain values that can be sent to its children."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sakuin.queue.errors import BadMessage
from sakuin.queue.limits import check_seconds
from sakuin.queue.processes.process import check_role
from sakuin.queue.processes.registry import DEAD_AFTER_SECONDS

_TARGET = re.compile(r"[^\s:]+:[^\s:]+")


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of child, and how many of it.

    `target`, "module:function", is called in the child with its `Duty`; it makes ready and
    returns what is then run. Whatever it raises, and every QueueError of what is run (a database
    that is away excepted), means that the role is set up wrongly. `options` are JSON.
    """

    name: str
    target: str
    options: Mapping[str, Any] = field(default_factory=dict)
    processes: int = 1

    def __post_init__(self) -> None:
        check_role(self.name)
        if not _TARGET.fullmatch(self.target):
            raise BadMessage(f"role {self.name}: target {self.target!r}: write module:function")
        if not 1 <= self.processes <= 1000:
            raise BadMessage(f"role {self.name}: processes={self.processes}: use 1 to 1000")


@dataclass(frozen=True, slots=True)
class Plan:
    """A supervisor's children.

    One that has not beaten for `dead_after_seconds` is dead. When the supervisor stops, a child
    that is not done after `stop_seconds` is killed, and what it held goes back.
    """

    database_url: str
    roles: tuple[Role, ...]
    dead_after_seconds: float = DEAD_AFTER_SECONDS
    stop_seconds: float = 30.0

    def __post_init__(self) -> None:
        check_seconds("dead_after_seconds", self.dead_after_seconds, positive=True)
        check_seconds("stop_seconds", self.stop_seconds)
        if not self.roles:
            raise BadMessage("a plan without roles: name what the supervisor has to run")
