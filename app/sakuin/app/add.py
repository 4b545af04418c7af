"""Adding at the end of a source, whoever else does so at the same time."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError

from sakuin.app.save import WEB_SOURCE, Saved, add_paragraph
from sakuin.queue import DatabaseBusy, replay

_Result = TypeVar("_Result")
_TRIES = 20


def add_at_end(database: Engine, body: str, source: str = WEB_SOURCE) -> Saved:
    """Add one paragraph in a transaction of its own. Raises Refused for a bad value."""
    return replay_while_taken(database, lambda c: add_paragraph(c, body, source))


def replay_while_taken(database: Engine, work: Callable[[Connection], _Result]) -> _Result:
    """Run a transaction that takes the next free position, again when it was just taken.

    Raises DatabaseBusy when it was taken again and again.
    """
    for attempt in range(_TRIES):
        try:
            return replay(database, work)
        except IntegrityError:
            # Rivals for one position part by chance (no secret in it); nothing tells when it is
            # free, so the next try waits a moment.
            time.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 6)))  # noqa: S311
    raise DatabaseBusy("others took the next position of this source again and again")
