"""Sends one letter by the way that its address says."""

from dataclasses import dataclass

from sakuin.queue.notices.email_sender import MailServer, send_email
from sakuin.queue.notices.errors import NoticeRefused
from sakuin.queue.notices.notice import Letter
from sakuin.queue.notices.webhook_sender import Webhooks, send_webhook
from sakuin.queue.retry import RetryPolicy

NOTICE_POLICY = RetryPolicy(
    max_attempts=17, first_seconds=10.0, most_seconds=4 * 3600.0, max_crashes=3
)
"""Tries for about a day: 10 s after the first, twice that after the next, at last each 4 hours."""

MOST_SECONDS = 180.0
"""What one letter may take in all, whatever the time-outs say."""


@dataclass(frozen=True, slots=True)
class Senders:
    """The ways out that the operator has set; None: not set."""

    mail: MailServer | None = None
    webhooks: Webhooks | None = None


def send_notice(letter: Letter, senders: Senders) -> None:
    """Send it, and return when the receiver has taken it. Raises NoticeRefused or NoticeDelayed.

    It may arrive twice, where the answer got lost; its id is the same then.
    """
    if letter.to.startswith("mailto:"):
        if senders.mail is None:
            raise NoticeRefused(f"notice to {letter.to[:120]}: no mail server is set")
        send_email(letter, senders.mail)
    else:
        if senders.webhooks is None:
            raise NoticeRefused(f"notice to {letter.to[:120]}: no secret for webhooks is set")
        send_webhook(letter, senders.webhooks)
