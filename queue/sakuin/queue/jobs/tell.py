"""Pushes notices: messages that a worker sends out as an e-mail or to a web address."""

import json
from collections.abc import Mapping

from sqlalchemy import Connection

from sakuin.queue.jobs.job import addresses_from
from sakuin.queue.push import push

NOTICE_QUEUE = "sakuin:notices"
NOTICE_KIND = "sakuin.notice"


def tell_on(
    connection: Connection,
    stored_addresses: str | None,
    subject: str,
    text: str,
    facts: Mapping[str, str | int | None],
) -> None:
    """Push a notice to each address of a row, in the caller's transaction."""
    for address in addresses_from(stored_addresses):
        notice = {"to": address, "subject": subject, "text": text, "facts": dict(facts)}
        push(connection, NOTICE_QUEUE, json.dumps(notice).encode(), kind=NOTICE_KIND)
