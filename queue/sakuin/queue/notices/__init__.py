"""Notices: e-mails and webhooks, sent from the queue; alerts, that push notices on a change."""

from sakuin.queue.notices.address import check_address
from sakuin.queue.notices.errors import NoticeDelayed, NoticeError, NoticeRefused
from sakuin.queue.notices.notice import Fact, Letter, Notice
from sakuin.queue.notices.push_notice import NOTICE_KIND, NOTICE_QUEUE, push_notices_on

__all__ = [
    "NOTICE_KIND",
    "NOTICE_QUEUE",
    "Fact",
    "Letter",
    "Notice",
    "NoticeDelayed",
    "NoticeError",
    "NoticeRefused",
    "check_address",
    "push_notices_on",
]
