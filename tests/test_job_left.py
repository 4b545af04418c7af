"""Jobs whose message nobody holds any more: they wait, and say so."""

from sqlalchemy import Engine

from databases import expire
from sakuin.queue import ack, claim, extend, pause, read, replay
from sakuin.queue.jobs import finish_jobs_on, free_left_jobs, job_of, push_job, receive_jobs_on


def status(engine: Engine, job_id: int) -> tuple[str, bool]:
    job = read(engine, lambda one: job_of(one, job_id))
    assert job is not None
    return job.status, job.receipt is not None


def test_a_job_that_nobody_holds_is_not_in_the_making_for_ever(engine: Engine) -> None:
    """A handle present means received: not so where the holder died and nobody can claim again.
    Whose lease runs, or ran out a moment ago, is let alone; a late end still ends the job."""
    job_id = replay(engine, lambda one: push_job(one, "q", b"x"))
    (message,) = claim(engine, "q", limit=1, lease_seconds=600, also=receive_jobs_on)
    pause(engine, "q")
    assert free_left_jobs(engine) == 0
    expire(engine, message.id)
    assert free_left_jobs(engine) == 0
    extend(engine, message, 600)
    expire(engine, message.id, seconds=-90)
    assert status(engine, job_id) == ("making", True)
    assert free_left_jobs(engine) == 1
    assert status(engine, job_id) == ("waiting", False)
    assert free_left_jobs(engine) == 0
    ack(engine, message, also=finish_jobs_on)
    assert status(engine, job_id) == ("finished", False)
