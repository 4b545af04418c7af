"""Similar documents, by the index alone: those that hold the most telling tokens of one.

A token tells the more, the oftener it stands in the document and the fewer documents hold it:
tf-idf (Salton and Buckley, Term-weighting approaches in automatic text retrieval, 1988), with the
saturating tf and the idf of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework,
2009). Pairs with hiragana are left out: they are inflections and particles. The figures below are
those that found most passages of the same article (jsquad: 6.8 of the first 10; by chance 0.2).
"""

import math
from collections import Counter

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.engine import Hits, Order, Searcher
from sakuin.indexer.fold import fold
from sakuin.indexer.query import And, AnyOfTokens, Ids, Not, Nothing, Query, Token
from sakuin.indexer.scripts import Script, script_of
from sakuin.indexer.tokens import cut

_LONGEST_TEXT = 20_000  # characters of one field that are looked at
_MOST_WEIGHED, _MOST_TELLING = 600, 64
_MOST_ALONE = 16  # of the telling tokens may be in no other document
_USUAL, _USUAL_IN = 0.05, 20  # of all documents, and so many, hold what tells nothing
_FEW = 8  # tokens are too few to leave hiragana out, or what is usual
_SATURATION = 3.0
_LEAST = 2  # of the telling tokens a similar document holds, at least


def search_similar(
    searcher: Searcher,
    fields: Fields,
    document_id: str,
    *,
    within: Query | None = None,
    offset: int = 0,
    limit: int = 10,
) -> Hits:
    """Return the documents most like one of the index, itself left out, the nearest first.

    The total counts exactly what `similar_query` finds. Raises KeyError for an id that is not
    there, and as `search` does.
    """
    query = similar_query(searcher, fields, document_id, within=within)
    return searcher.search(query, order=Order.RELEVANCE, offset=offset, limit=limit)


def similar_query(
    searcher: Searcher, fields: Fields, document_id: str, *, within: Query | None = None
) -> Query:
    """Return the query for other documents with at least two of a document's most telling tokens.

    These are 64 at most. Raises KeyError for an id that is not there.
    """
    document = searcher.documents([document_id])[document_id]
    telling = telling_tokens(searcher, fields, document)
    if not telling:
        return Nothing()
    alike = AnyOfTokens(telling, min(_LEAST, len(telling)))
    return And((alike, Not(Ids((document_id,))), *([within] if within else [])))


def telling_tokens(searcher: Searcher, fields: Fields, document: Document) -> tuple[Token, ...]:
    """Return the tokens of a document that tell it best from others, with their weights."""
    counts = _counted(fields, document)
    weighed = sorted(counts, key=lambda token: -counts[token])[:_MOST_WEIGHED]
    held = searcher.frequencies(weighed)
    everything = searcher.document_count
    weights: dict[str, float] = {}
    worth: dict[str, float] = {}
    for token in weighed:
        documents = min(held.get(token, 0), everything)
        if documents:
            weights[token] = counts[token] * (1 + _SATURATION) / (counts[token] + _SATURATION)
            rarity = math.log1p((everything - documents + 0.5) / (documents + 0.5))
            worth[token] = weights[token] * rarity
    ranked = sorted(worth, key=lambda token: (-worth[token], token))
    shared = [token for token in ranked if held[token] > 1]
    usual = max(_USUAL_IN, _USUAL * everything)
    unusual = [token for token in shared if held[token] <= usual]
    shared = unusual if len(unusual) >= _FEW else shared[:_FEW]
    # Frequencies are the most of any field: elsewhere another document may hold the token.
    alone = [token for token in ranked if held[token] == 1] if len(fields.searched) > 1 else []
    best = [*alone[:_MOST_ALONE], *shared][:_MOST_TELLING]
    return tuple(Token(token, weights[token]) for token in best)


def _counted(fields: Fields, document: Document) -> dict[str, float]:
    """Return how often tokens that may tell something stand in a document, by weight of field."""
    counts: dict[str, float] = {}
    for name in fields.searched:
        text = fold(document.text[name][:_LONGEST_TEXT], fields.folding)
        for token, count in Counter(cut(text)).items():
            counts[token] = counts.get(token, 0.0) + count * fields.weight(name)
    pairs = {token: count for token, count in counts.items() if _may_tell(token)}
    telling = {token: count for token, count in pairs.items() if not _has_hiragana(token)}
    return telling if len(telling) >= _FEW else pairs


def _may_tell(token: str) -> bool:
    """Tell a word that is no number, or a pair of characters that are no signs."""
    scripts = {script_of(character) for character in token}
    if len(token) == 1 or Script.SIGN in scripts:
        return False
    return scripts != {Script.SPACED} or not token.isdigit()


def _has_hiragana(token: str) -> bool:
    return any(script_of(character) is Script.HIRAGANA for character in token)
