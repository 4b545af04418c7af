"""What stands in the way of attaching a table; every message names the remedy."""


class AttachError(Exception):
    """A table cannot be attached or detached as asked."""


class NotAttached(AttachError):
    """No table is attached under this name."""


class NotAllowed(AttachError):
    """The database account lacks a privilege; the message holds the statement that gives it."""
