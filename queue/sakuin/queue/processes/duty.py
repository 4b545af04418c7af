"""What a child process is given to do its role with."""

import importlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from sakuin.queue.processes.heartbeat import Heartbeat


class NotReady(Exception):
    """A role cannot be done as it is set up; the message says why."""


@dataclass(frozen=True, slots=True)
class Duty:
    """The engine, the event that ends the work, the own heartbeat, and the options of the role.

    `heart.id` is the holder to claim with; `heart.detail` and `heart.is_well` may be set.
    """

    engine: Engine
    stop: threading.Event
    heart: Heartbeat
    options: Mapping[str, Any]


Target = Callable[[Duty], Callable[[], object]]
"""Makes ready, and returns what runs until the duty's `stop` is set."""


def load(target: str) -> Any:
    """Return what "module:name" names. Raises NotReady, whatever goes wrong."""
    module, _, name = target.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:
        raise NotReady(f"{target} cannot be loaded: {type(error).__name__}: {error}") from error
