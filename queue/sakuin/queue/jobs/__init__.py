"""Jobs: messages with a kind, that registered functions work on, and a life that is remembered."""

from sakuin.queue.jobs.batch import (
    Batch,
    BatchSealed,
    Callback,
    add_to_batch,
    batch_of,
    open_batch,
    push_to_batch,
)
from sakuin.queue.jobs.end_batches import end_batches
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
    requeue_jobs_on,
    retry_jobs_on,
    set_progress,
    wait_again_on,
)
from sakuin.queue.jobs.kind import (
    JOB_POLICY,
    BadKind,
    BadTarget,
    Kind,
    Nothing,
    Rules,
    UnknownKind,
)
from sakuin.queue.jobs.kinds import Jobs, load_jobs
from sakuin.queue.jobs.measures import KEEP_MEASURES_SECONDS, Measure, measures, measures_by_minute
from sakuin.queue.jobs.prune import Old, prune, prune_rows
from sakuin.queue.jobs.push_into_batch import push_into_batch
from sakuin.queue.jobs.push_job import push_job
from sakuin.queue.jobs.run import Run
from sakuin.queue.jobs.seal_batch import seal_batch
from sakuin.queue.jobs.settle_by_receipt import settle_by_receipt
from sakuin.queue.jobs.settle_orphans import free_left_jobs, settle_orphans
from sakuin.queue.jobs.worker import Worker

__all__ = [
    "JOB_POLICY",
    "KEEP_MEASURES_SECONDS",
    "KEEP_SECONDS",
    "MAX_RESULT_BYTES",
    "BadKind",
    "BadReceipt",
    "BadTarget",
    "Batch",
    "BatchSealed",
    "Callback",
    "Job",
    "JobStatus",
    "Jobs",
    "Kind",
    "Measure",
    "Nothing",
    "Old",
    "Progress",
    "Receipt",
    "Rules",
    "Run",
    "StaleReceipt",
    "UnknownKind",
    "Worker",
    "add_to_batch",
    "batch_of",
    "check_result",
    "end_batches",
    "fail_jobs_on",
    "finish_jobs_on",
    "free_left_jobs",
    "is_live",
    "job_of",
    "job_of_receipt",
    "jobs_page",
    "load_jobs",
    "measures",
    "measures_by_minute",
    "open_batch",
    "prune",
    "prune_rows",
    "push_into_batch",
    "push_job",
    "push_to_batch",
    "receive_jobs_on",
    "repoint_jobs_on",
    "requeue_jobs_on",
    "retry_jobs_on",
    "seal_batch",
    "set_progress",
    "settle_by_receipt",
    "settle_orphans",
    "wait_again_on",
]
