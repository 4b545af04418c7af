"""How a folded text is spelt in what was found: iPhone15, not iphone15."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from sakuin.indexer.document import Fields
from sakuin.indexer.engine import Hit
from sakuin.indexer.fold import Folding
from sakuin.indexer.locate import Located
from sakuin.indexer.phrases import starts
from sakuin.indexer.scripts import Script, script_of

LONGEST_TEXT: Final = 10_000
"""Characters of one text that are looked at, from its beginning."""


def spelling_in(hits: Iterable[Hit], folded: str, fields: Fields, field: str | None = None) -> str:
    """Return how most of these hits spell a folded text, in one field or in any; else itself."""
    names = (field,) if field else fields.searched
    texts = (hit.document.text[name][:LONGEST_TEXT] for hit in hits for name in names)
    spellings = Counter(filter(None, (_spelling(text, folded, fields.folding) for text in texts)))
    return spellings.most_common(1)[0][0] if spellings else folded


def _spelling(text: str, folded: str, folding: Folding) -> str | None:
    if folded in text and folded.upper() == folded:
        return folded  # letters without case, so as they are
    located = Located(text, folding)
    ends_in_word = script_of(folded[-1]) is Script.SPACED
    for at in starts(located.settled, folded):
        end = at + len(folded)
        following = located.settled[end : end + 1]
        if not (ends_in_word and following and script_of(following) is Script.SPACED):
            start, end = located.original_span(at, end)
            return " ".join(text[start:end].split())
    return None
