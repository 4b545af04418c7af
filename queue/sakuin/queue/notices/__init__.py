"""Notices: e-mails and webhooks, sent from the queue; alerts, that push notices on a change."""

from sakuin.queue.notices.address import check_address
from sakuin.queue.notices.email_sender import MailServer, send_email
from sakuin.queue.notices.errors import NoticeDelayed, NoticeError, NoticeRefused
from sakuin.queue.notices.notice import Fact, Letter, Notice
from sakuin.queue.notices.push_notice import NOTICE_KIND, NOTICE_QUEUE, push_notices_on
from sakuin.queue.notices.send_notice import NOTICE_POLICY, Senders, send_notice
from sakuin.queue.notices.webhook_sender import Webhooks, send_webhook

__all__ = [
    "NOTICE_KIND",
    "NOTICE_POLICY",
    "NOTICE_QUEUE",
    "Fact",
    "Letter",
    "MailServer",
    "Notice",
    "NoticeDelayed",
    "NoticeError",
    "NoticeRefused",
    "Senders",
    "Webhooks",
    "check_address",
    "push_notices_on",
    "send_email",
    "send_notice",
    "send_webhook",
]
