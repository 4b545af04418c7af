"""The ways out for notices, as the settings give them: e-mail and webhooks."""

from urllib.parse import unquote, urlsplit

from sakuin.app.settings import Settings, SettingsError, read_settings
from sakuin.queue import BadMessage
from sakuin.queue.notices import MailServer, Senders, Webhooks

_SECURITY = {"smtp": "none", "smtp+starttls": "starttls", "smtps": "tls"}
_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}


def senders() -> Senders:
    """Return the ways out, by the settings of this process. Raises SettingsError."""
    return senders_of(read_settings())


def senders_of(settings: Settings) -> Senders:
    """Return the ways out that are set. Raises SettingsError that names the setting."""
    return Senders(mail=_mail(settings), webhooks=_webhooks(settings))


def _mail(settings: Settings) -> MailServer | None:
    if not settings.mail_url:
        return None
    try:
        url = urlsplit(settings.mail_url)
        port = url.port
    except ValueError as error:
        raise SettingsError(f"mail_url (SAKUIN_MAIL_URL) cannot be read: {error}") from None
    if url.scheme not in _SECURITY or url.path.strip("/") or url.query:
        raise SettingsError(
            "mail_url (SAKUIN_MAIL_URL): write smtp+starttls://user:password@host:587, "
            "smtps://user:password@host:465 or smtp://host:25"
        )
    if not settings.mail_from:
        raise SettingsError("mail_from (SAKUIN_MAIL_FROM) is empty: name the sender of e-mail")
    try:
        return MailServer(
            host=url.hostname or "",
            port=port or _PORTS[url.scheme],
            security=_SECURITY[url.scheme],  # type: ignore[arg-type]
            sender=settings.mail_from,
            user=None if url.username is None else unquote(url.username),
            password=None if url.password is None else unquote(url.password),
        )
    except BadMessage as error:
        raise SettingsError(f"mail_url, mail_from (SAKUIN_MAIL_…): {error}") from None


def _webhooks(settings: Settings) -> Webhooks | None:
    if not settings.webhook_secret:
        return None
    try:
        return Webhooks(
            secrets=(settings.webhook_secret,), allow=frozenset(settings.webhook_allow.split())
        )
    except BadMessage as error:
        raise SettingsError(f"webhook_secret, webhook_allow (SAKUIN_WEBHOOK_…): {error}") from None
