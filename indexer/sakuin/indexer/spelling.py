"""How a folded text is spelt in what was found: iPhone15, not iphone15."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Hit
from sakuin.indexer.locate import Located
from sakuin.indexer.phrases import starts
from sakuin.indexer.scripts import Script, script_of

_LONGEST_TEXT: Final = 10_000  # characters of one text, from its beginning


def texts_of(hits: Iterable[Hit], fields: Fields, field: str | None = None) -> Iterator[Located]:
    """Yield the texts of one searched field, or of all, as searches see them; long ones cut."""
    for hit in hits:
        for name in (field,) if field else fields.searched:
            yield Located(hit.document.text[name][:_LONGEST_TEXT], fields.folding)


def spelling_in(texts: Iterable[Located], folded: str) -> str:
    """Return how most of these texts spell a folded text where it first stands; else itself."""
    spellings = Counter(filter(None, (_spelling(text, folded) for text in texts)))
    return spellings.most_common(1)[0][0] if spellings else folded


def _spelling(text: Located, folded: str) -> str | None:
    if folded in text.original and folded.upper() == folded:
        return folded  # letters without case, so as they are
    ends_in_word = script_of(folded[-1]) is Script.SPACED
    for at in starts(text.settled, folded):
        end = at + len(folded)
        following = text.settled[end : end + 1]
        if not (ends_in_word and following and script_of(following) is Script.SPACED):
            start, end = text.original_span(at, end)
            return " ".join(text.original[start:end].split())
    return None
