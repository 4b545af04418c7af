"""Every error of the queue, in one tree.

QueueError
├── DatabaseRefused     the address, the driver, the account or the server will not do: change it
│   └── SchemaMismatch  the tables are missing, or belong to a newer version
├── DatabaseAway        the database cannot be reached now: try later
├── DatabaseBusy        the transaction lost against others too many times: try later
├── OutcomeUnknown      the connection was lost during COMMIT: it may have happened or not
├── LeaseLost           the message is no longer ours
├── BadMessage          what was to be pushed breaks a limit (a ValueError too)
├── LimitReached        it was pushed with a limit that discards what finds no place
├── GiveUp              raised by a handler: trying again changes nothing
└── PayloadError        data that does not fit its declared type
    └── PayloadUndeclared   a type, or a name, that nobody declared
"""


class QueueError(Exception):
    """The root: anything that this package raises on purpose."""


class DatabaseRefused(QueueError):
    """The database cannot be used as it is set up; the message names the remedy."""


class SchemaMismatch(DatabaseRefused):
    """The tables are missing, or were made by a newer version."""


class DatabaseAway(QueueError):
    """The database cannot be reached; nothing was changed. Worth trying again later."""


class DatabaseBusy(QueueError):
    """The transaction was replayed as often as is sensible and still lost; nothing was changed."""


class OutcomeUnknown(QueueError):
    """The connection was lost while COMMIT was under way: look before doing it again."""


class LeaseLost(QueueError):
    """The lease ran out and the message is no longer ours; nothing was changed."""

    def __init__(self, message_id: int, queue: str) -> None:
        super().__init__(
            f"message {message_id} of queue {queue}: its lease ran out and it was taken or settled"
            " by another"
        )


class BadMessage(QueueError, ValueError):
    """A queue name, option or size that the queue does not take; nothing was pushed."""


class LimitReached(QueueError):
    """As many as the limit allows wait or are worked on; nothing was pushed, as was asked for."""


class GiveUp(QueueError):
    """Raised by the handler of a job: its message goes to the dead list, without another try."""


class PayloadError(QueueError):
    """Data that does not fit the declared type; the message names the field."""


class PayloadUndeclared(PayloadError):
    """A type that has no declared shape, or a name that was never registered."""
