"""Signs webhooks in the manner of Standard Webhooks: HMAC-SHA256 over id, time and body."""

import base64
import binascii
import hashlib
import hmac

from sakuin.queue.errors import BadMessage

PREFIX = "whsec_"
LEAST_BYTES, MOST_BYTES = 24, 64


def secret_bytes(secret: str) -> bytes:
    """Return the key that a secret (`whsec_` and base64) stands for, or raise BadMessage."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not LEAST_BYTES <= len(key) <= MOST_BYTES:
        raise BadMessage(
            f"webhook secret: use {PREFIX} and the base64 of {LEAST_BYTES} to {MOST_BYTES} random"
            " bytes"
        )
    return key


def sign(key: bytes, letter_id: str, seconds: int, body: bytes) -> str:
    """Return one signature of a body sent at that time (seconds since 1970)."""
    content = f"{letter_id}.{seconds}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
