"""Pushes notices in the caller's transaction: they are sent if, and only if, it commits."""

from collections.abc import Iterable

from sqlalchemy import Connection

from sakuin.queue.notices.notice import Letter, Notice
from sakuin.queue.push import push

NOTICE_QUEUE = "sakuin:notices"
NOTICE_KIND = "sakuin.notice"


def push_notices_on(connection: Connection, to: Iterable[str], notice: Notice) -> list[int]:
    """Push one message for each address (none twice), in order, and return their ids.

    It does not judge the addresses: `check_address` does where they are given, and the sender
    does again.
    """
    letters = [Letter.of(notice, address) for address in dict.fromkeys(to)]
    return [push(connection, NOTICE_QUEUE, letter.data(), kind=NOTICE_KIND) for letter in letters]
