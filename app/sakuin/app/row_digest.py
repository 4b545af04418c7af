"""The digest of a row as a document: the same whichever loader reads the row."""

import hashlib
from collections.abc import Mapping


def row_digest(
    row_id: str, at: int, text: Mapping[str, str], values: Mapping[str, str | int]
) -> int:
    """Return 64 bits that differ when anything of a document differs."""
    parts = [row_id, str(at), *text.values(), *values, *map(str, values.values())]
    content = "\0".join(parts)
    if content.count("\0") >= len(parts):  # a text holds some: lengths tell the parts apart
        content += "\0".join(map(str, map(len, parts)))
    return int.from_bytes(
        hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    )
