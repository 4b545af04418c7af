"""Notices: e-mails and webhooks, sent from the queue; alerts, that push notices on a change."""

from sakuin.queue.notices.address import check_address
from sakuin.queue.notices.alert_file import BadAlertFile, read_rules
from sakuin.queue.notices.deliver import deliver_notices
from sakuin.queue.notices.email_sender import MailServer, send_email
from sakuin.queue.notices.errors import NoticeDelayed, NoticeError, NoticeRefused
from sakuin.queue.notices.evaluate import Alert, Change, alerts, evaluate_alerts
from sakuin.queue.notices.notice import Fact, Letter, Notice
from sakuin.queue.notices.notice_jobs import notice_jobs
from sakuin.queue.notices.push_notice import NOTICE_KIND, NOTICE_QUEUE, push_notices_on
from sakuin.queue.notices.rule import BadRule, Rule
from sakuin.queue.notices.send_notice import NOTICE_POLICY, Senders, send_notice
from sakuin.queue.notices.webhook_sender import Webhooks, send_webhook

__all__ = [
    "NOTICE_KIND",
    "NOTICE_POLICY",
    "NOTICE_QUEUE",
    "Alert",
    "BadAlertFile",
    "BadRule",
    "Change",
    "Fact",
    "Letter",
    "MailServer",
    "Notice",
    "NoticeDelayed",
    "NoticeError",
    "NoticeRefused",
    "Rule",
    "Senders",
    "Webhooks",
    "alerts",
    "check_address",
    "deliver_notices",
    "evaluate_alerts",
    "notice_jobs",
    "push_notices_on",
    "read_rules",
    "send_email",
    "send_notice",
    "send_webhook",
]
