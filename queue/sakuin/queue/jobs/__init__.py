"""Jobs: messages with a kind, that registered functions work on, and a life that is remembered."""

from sakuin.queue.jobs.end_job import fail_jobs_on, finish_jobs_on
from sakuin.queue.jobs.job import (
    KEEP_SECONDS,
    MAX_RESULT_BYTES,
    BadReceipt,
    Job,
    JobStatus,
    Progress,
    Receipt,
    StaleReceipt,
    check_result,
)
from sakuin.queue.jobs.job_life import (
    is_live,
    job_of,
    job_of_receipt,
    jobs_page,
    receive_jobs_on,
    repoint_jobs_on,
    retry_jobs_on,
    set_progress,
    wait_again_on,
)
from sakuin.queue.jobs.push_job import push_job
from sakuin.queue.jobs.settle_by_receipt import settle_by_receipt

__all__ = [
    "KEEP_SECONDS",
    "MAX_RESULT_BYTES",
    "BadReceipt",
    "Job",
    "JobStatus",
    "Progress",
    "Receipt",
    "StaleReceipt",
    "check_result",
    "fail_jobs_on",
    "finish_jobs_on",
    "is_live",
    "job_of",
    "job_of_receipt",
    "jobs_page",
    "push_job",
    "receive_jobs_on",
    "repoint_jobs_on",
    "retry_jobs_on",
    "set_progress",
    "settle_by_receipt",
    "wait_again_on",
]
