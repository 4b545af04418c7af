"""Sends waiting notices without a worker: else "no worker" would be told to nobody.

It claims and settles as any client does, so it may run beside workers, and several times.
"""

import time
from contextlib import suppress

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Engine

from sakuin.queue.bury import bury
from sakuin.queue.claim import claim
from sakuin.queue.errors import LeaseLost
from sakuin.queue.message import Message
from sakuin.queue.notices.errors import NoticeDelayed, NoticeRefused
from sakuin.queue.notices.notice import Letter
from sakuin.queue.notices.push_notice import NOTICE_KIND, NOTICE_QUEUE
from sakuin.queue.notices.send_notice import MOST_SECONDS, NOTICE_POLICY, Senders, send_notice
from sakuin.queue.settle import ack, fail


def deliver_notices(
    engine: Engine, senders: Senders, *, for_seconds: float = 10.0, holder: bytes | None = None
) -> int:
    """Send the notices that are ready, one after another; return how many were tried.

    None is begun after `for_seconds`, but one that is begun may take as long as its receiver's
    time-outs. Raises what `claim` raises.
    """
    until, tried = time.monotonic() + for_seconds, 0
    while time.monotonic() < until:
        messages = claim(
            engine,
            NOTICE_QUEUE,
            limit=1,
            lease_seconds=MOST_SECONDS,
            policy=NOTICE_POLICY,
            holder=holder,
        )
        if not messages:
            break
        tried += 1
        with suppress(LeaseLost):  # then another has it, and sends it again
            _deliver(engine, messages[0], senders)
    return tried


def _deliver(engine: Engine, message: Message, senders: Senders) -> None:
    try:
        send_notice(_letter(message), senders)
    except NoticeRefused as error:
        bury(engine, message, str(error))
    except NoticeDelayed as error:
        fail(engine, message, str(error), policy=NOTICE_POLICY)
    else:
        ack(engine, message)


def _letter(message: Message) -> Letter:
    if message.kind != NOTICE_KIND:
        raise NoticeRefused(f"kind {message.kind!r} in queue {NOTICE_QUEUE}: it holds notices only")
    try:
        return TypeAdapter(Letter).validate_json(message.data, strict=True)
    except ValidationError as error:
        raise NoticeRefused(f"the notice cannot be read: {error}") from None
