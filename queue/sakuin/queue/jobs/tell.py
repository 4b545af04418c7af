"""Whom to tell when something ends: addresses as a row holds them, and notices pushed to them.

Notices are sent by jobs, and jobs push notices: so that package is imported where it is needed.
"""

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from sakuin.queue.errors import BadMessage

MOST_ADDRESSES = 20


def addresses_as_stored(notify: Sequence[str]) -> str | None:
    """Return the addresses as a row holds them (JSON), or raise BadMessage that names one."""
    from sakuin.queue.notices.address import check_address

    if isinstance(notify, str):
        raise BadMessage(f"notify={notify[:120]!r}: give a list of addresses, not one text")
    if len(notify) > MOST_ADDRESSES:
        raise BadMessage(f"notify: {len(notify)} addresses; give at most {MOST_ADDRESSES}")
    return json.dumps([check_address(address) for address in notify]) if notify else None


def addresses_from(stored: str | None) -> tuple[str, ...]:
    """Return the addresses of a row."""
    return tuple(json.loads(stored)) if stored else ()


def tell_on(
    connection: Connection,
    stored: str | None,
    subject: str,
    text: str,
    facts: Mapping[str, str | int | None],
) -> None:
    """Push a notice to each address of a row, in the caller's transaction."""
    if stored is None:
        return
    from sakuin.queue.notices.notice import Notice
    from sakuin.queue.notices.push_notice import push_notices_on

    push_notices_on(connection, addresses_from(stored), Notice(subject, text, facts))
