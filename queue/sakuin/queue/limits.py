"""What may be pushed and asked for; everything else is refused by name before any SQL runs."""

import math
import re
from datetime import datetime

from sakuin.queue.errors import BadMessage

QUEUE_NAME = re.compile(r"[A-Za-z0-9_:+-]{1,100}")
KIND = re.compile(r"[A-Za-z0-9_:+.-]{1,100}")
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""At most this much data in one message: larger things belong in a table of their own."""

MAX_KEY_BYTES = 255
MAX_PRIORITY = 255
MAX_SECONDS = 10 * 365 * 86400.0
MAX_CLAIM = 10_000


def check_queue(queue: str) -> str:
    """Return the name, or raise BadMessage."""
    if not QUEUE_NAME.fullmatch(queue):
        raise BadMessage(
            f"queue name {queue[:120]!r}: use 1 to 100 of the characters A-Z a-z 0-9 _ - : +"
        )
    return queue


def check_data(data: bytes) -> bytes:
    """Return the data, or raise BadMessage."""
    if not isinstance(data, bytes):
        raise BadMessage(f"message data must be bytes, not {type(data).__name__}")
    if len(data) > MAX_MESSAGE_BYTES:
        raise BadMessage(
            f"message of {len(data):,} bytes: the limit is {MAX_MESSAGE_BYTES:,} bytes "
            "(MAX_MESSAGE_BYTES); keep the large part in a table and push its id"
        )
    return data


def check_priority(priority: int) -> int:
    """Return the priority, or raise BadMessage."""
    if not 0 <= priority <= MAX_PRIORITY:
        raise BadMessage(f"priority {priority}: use 0 (most urgent) to {MAX_PRIORITY}")
    return priority


def check_seconds(name: str, seconds: float, *, positive: bool = False) -> float:
    """Return the duration, or raise BadMessage that names it."""
    if not math.isfinite(seconds) or not 0 <= seconds <= MAX_SECONDS or (positive and not seconds):
        raise BadMessage(f"{name}={seconds}: use {'more than ' * positive}0 to {MAX_SECONDS:.0f}")
    return float(seconds)


def check_moment(name: str, moment: datetime) -> datetime:
    """Return the time, or raise BadMessage that names it."""
    if moment.tzinfo is None:
        raise BadMessage(
            f"{name}={moment.isoformat()}: say its time zone, as 12:00+09:00 or 03:00Z"
        )
    if not -1 < (moment.year - 1970) / 1000 < 1:
        raise BadMessage(f"{name}={moment.isoformat()}: use a year from 1970 to 2969")
    return moment


def check_kind(kind: str | None) -> str | None:
    """Return the kind, or raise BadMessage."""
    if kind is not None and not KIND.fullmatch(kind):
        raise BadMessage(
            f"kind {kind[:120]!r}: use 1 to 100 of the characters A-Z a-z 0-9 _ - : + ."
        )
    return kind


def check_unique_key(key: str | None) -> bytes | None:
    """Return the key as stored, or raise BadMessage."""
    if key is None:
        return None
    stored = key.encode("utf-8", "surrogatepass")
    if not 1 <= len(stored) <= MAX_KEY_BYTES:
        raise BadMessage(f"unique_key of {len(stored)} bytes: use 1 to {MAX_KEY_BYTES}")
    return stored


def check_claim_limit(limit: int) -> int:
    """Return the number of messages to claim, or raise BadMessage."""
    if not 1 <= limit <= MAX_CLAIM:
        raise BadMessage(f"limit={limit}: claim 1 to {MAX_CLAIM:,} messages at a time")
    return limit
