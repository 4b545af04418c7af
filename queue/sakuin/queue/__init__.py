"""A durable message queue in SQL: MariaDB, MySQL or SQLite, in the tables beside your own.

Push in your transaction; claim, work, ack. Delivery is at least once.
"""

from sakuin.queue.bury import bury, bury_part, shrink
from sakuin.queue.claim import claim
from sakuin.queue.connect import open_engine
from sakuin.queue.dead import dead_messages, discard_dead, retry_dead
from sakuin.queue.dead_filter import (
    DeadFilter,
    FoundDead,
    count_dead,
    discard_found,
    find_dead,
    retry_found,
)
from sakuin.queue.errors import (
    BadMessage,
    DatabaseAway,
    DatabaseBusy,
    DatabaseRefused,
    GiveUp,
    LeaseLost,
    LimitReached,
    OutcomeUnknown,
    PayloadError,
    PayloadUndeclared,
    QueueError,
    SchemaMismatch,
)
from sakuin.queue.free_limits import free_stale_limits, tidy_limits
from sakuin.queue.inspect_queue import queue_counts, state_of, waiting_count
from sakuin.queue.keep_lease import Lease, keep_lease
from sakuin.queue.limit import Limit
from sakuin.queue.limits import MAX_MESSAGE_BYTES
from sakuin.queue.message import Counts, DeadMessage, Message, State
from sakuin.queue.pause import is_paused, pause, paused_queues, resume
from sakuin.queue.payloads import Payload, Payloads, Protocol
from sakuin.queue.peek import PeekedMessage, PeekPlace, peek
from sakuin.queue.push import push, push_many
from sakuin.queue.queue_names import check_patterns, matching, queue_names
from sakuin.queue.queue_stats import (
    KindStats,
    QueueStats,
    all_stats,
    kind_stats,
    known_queues,
    queue_stats,
)
from sakuin.queue.replay import read, replay
from sakuin.queue.requeue import requeue_held, requeue_held_on
from sakuin.queue.retry import RetryPolicy
from sakuin.queue.schema import (
    create_schema,
    create_schema_on,
    drop_schema_on,
    is_schema_current,
    schema_sql,
)
from sakuin.queue.settle import ack, crash, extend, fail, release

__all__ = [
    "MAX_MESSAGE_BYTES",
    "BadMessage",
    "Counts",
    "DatabaseAway",
    "DatabaseBusy",
    "DatabaseRefused",
    "DeadFilter",
    "DeadMessage",
    "FoundDead",
    "GiveUp",
    "KindStats",
    "Lease",
    "LeaseLost",
    "Limit",
    "LimitReached",
    "Message",
    "OutcomeUnknown",
    "Payload",
    "PayloadError",
    "PayloadUndeclared",
    "Payloads",
    "PeekPlace",
    "PeekedMessage",
    "Protocol",
    "QueueError",
    "QueueStats",
    "RetryPolicy",
    "SchemaMismatch",
    "State",
    "ack",
    "all_stats",
    "bury",
    "bury_part",
    "check_patterns",
    "claim",
    "count_dead",
    "crash",
    "create_schema",
    "create_schema_on",
    "dead_messages",
    "discard_dead",
    "discard_found",
    "drop_schema_on",
    "extend",
    "fail",
    "find_dead",
    "free_stale_limits",
    "is_paused",
    "is_schema_current",
    "keep_lease",
    "kind_stats",
    "known_queues",
    "matching",
    "open_engine",
    "pause",
    "paused_queues",
    "peek",
    "push",
    "push_many",
    "queue_counts",
    "queue_names",
    "queue_stats",
    "read",
    "release",
    "replay",
    "requeue_held",
    "requeue_held_on",
    "resume",
    "retry_dead",
    "retry_found",
    "schema_sql",
    "shrink",
    "state_of",
    "tidy_limits",
    "waiting_count",
]
