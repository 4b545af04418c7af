"""Stops a queue for a while: messages can be pushed and settled, but none is claimed."""

from sqlalchemy import Connection, Engine

from sakuin.queue.dialect import execute
from sakuin.queue.limits import check_queue
from sakuin.queue.replay import replay

_THERE = "SELECT 1 FROM sakuin_pauses WHERE queue = ?"
_RESUME = "DELETE FROM sakuin_pauses WHERE queue = ?"


def pause(engine: Engine, queue: str) -> bool:
    """Let nothing more be claimed from the queue; tell whether that is new."""
    name = check_queue(queue)

    def work(connection: Connection) -> bool:
        if is_paused(connection, name):
            return False
        sql = "INSERT INTO sakuin_pauses (queue) VALUES (?) {on_duplicate} queue = queue"
        execute(connection, sql, name)
        return True

    return replay(engine, work, committed=lambda connection, _: is_paused(connection, name))


def resume(engine: Engine, queue: str) -> bool:
    """Let the queue be claimed from again; tell whether it was paused."""
    name = check_queue(queue)

    def work(connection: Connection) -> bool:
        return execute(connection, _RESUME, name).rowcount == 1

    return replay(engine, work, committed=lambda connection, _: not is_paused(connection, name))


def is_paused(connection: Connection, queue: str) -> bool:
    """Tell whether the queue is paused."""
    return bool(execute(connection, _THERE, queue).all())


def paused_queues(connection: Connection) -> tuple[str, ...]:
    """Return the names of the paused queues, in order."""
    found = execute(connection, "SELECT queue FROM sakuin_pauses ORDER BY queue")
    return tuple(found.scalars())
