"""Which chores a dispatcher does, and how often."""

from sqlalchemy import Engine

from sakuin.queue.processes.dispatcher import Chore
from sakuin.queue.processes.prune_dead import Touch, prune_dead

PRUNE_SECONDS = 2.0


def every_chore() -> tuple[Chore, ...]:
    """Return the chores of one dispatcher."""
    return (prune_chore(PRUNE_SECONDS),)


def prune_chore(every_seconds: float) -> Chore:
    """Return the chore that gives back what dead processes held."""
    touch = Touch(3 * every_seconds)

    def prune(engine: Engine) -> object:
        return prune_dead(engine, touch)

    return Chore("prune dead processes", every_seconds, prune)
