"""Addresses of the form /search/<words>, read from the raw path and made for it.

A + is a space, %2B a plus, and %252F a slash (many servers and proxies refuse %2F in a path).
Pure text, no web framework.
"""

import re
from urllib.parse import quote_plus, unquote_plus

_TWICE = re.compile(r"%(25|2[Ff])")


def words_of(raw: bytes) -> str:
    """Return the words that the raw path segment after /search/ stands for."""
    once = unquote_plus(raw.decode("utf-8", "replace"))
    return _TWICE.sub(lambda found: "%" if found[1] == "25" else "/", once)


def path_of(words: str) -> str:
    """Return the path segment for these words; `words_of` reads it back."""
    return quote_plus(words.replace("%", "%25").replace("/", "%2F"), errors="replace")
