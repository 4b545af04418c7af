"""Tells the jobs of messages what became of these, in the transaction in which it does.

The package of jobs builds on the verbs of messages: so it is imported where it is needed, and
`import sakuin.queue` stays light.
"""

from collections.abc import Iterable

from sqlalchemy import Connection


def tell_dead(connection: Connection, message_ids: Iterable[int], reason: str) -> None:
    """They went to the dead list: their jobs failed."""
    from sakuin.queue.jobs.end_job import fail_jobs_on

    fail_jobs_on(connection, message_ids, reason)


def tell_merged(connection: Connection, message_id: int, newer_id: int) -> None:
    """It was removed, since a newer one of its unique key does its work."""
    from sakuin.queue.jobs.job_life import repoint_jobs_on

    repoint_jobs_on(connection, message_id, newer_id)


def tell_waiting(connection: Connection, message_ids: Iterable[int]) -> None:
    """They were dead and wait again."""
    from sakuin.queue.jobs.job_life import wait_again_on

    wait_again_on(connection, message_ids)


def tell_requeued(connection: Connection, message_ids: Iterable[int], holder: bytes) -> None:
    """The process that held them is dead, and they wait again."""
    from sakuin.queue.jobs.job_life import requeue_jobs_on

    requeue_jobs_on(connection, message_ids, holder)
