"""What may come of sending a notice.

NoticeError (a QueueError)
├── NoticeRefused   it will never arrive as it is: for the dead list, with the reason
└── NoticeDelayed   it may arrive later: to be tried again
"""

from sakuin.queue.errors import GiveUp, QueueError


class NoticeError(QueueError):
    """The notice did not arrive."""


class NoticeRefused(NoticeError, GiveUp):
    """The address, the receiver or a setting refuses it for good; trying again changes nothing."""


class NoticeDelayed(NoticeError):
    """The receiver is away, busy or in trouble; the same notice may arrive later."""
