"""The kind of job that sends notices, for an application's registry of jobs."""

from collections.abc import Callable

from sakuin.queue.jobs.kinds import Jobs
from sakuin.queue.notices.notice import Letter
from sakuin.queue.notices.push_notice import NOTICE_KIND, NOTICE_QUEUE
from sakuin.queue.notices.send_notice import MOST_SECONDS, NOTICE_POLICY, Senders, send_notice


def notice_jobs(senders: Callable[[], Senders]) -> Jobs:
    """Return a registry with the one kind "sakuin.notice", to be included in the application's.

    `senders` is asked for each letter, in the process that sends it.
    """
    jobs = Jobs()

    @jobs.job(NOTICE_KIND, queue=NOTICE_QUEUE, policy=NOTICE_POLICY, seconds=MOST_SECONDS)
    def tell(letter: Letter) -> None:
        send_notice(letter, senders())

    return jobs
