"""Engines against the oracle on small sets of hostile text (promises S1, S2)."""

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import corpus
from oracle import has_edges, matching_ids, oracle_fold, settle
from sakuin.indexer.engines import ENGINE_NAMES, engine_named
from sakuin.indexer.query import And, Everything, Not, Nothing, Or, Phrase, Query, Wildcard, prefix
from small_index import BODY, build, documents, found_ids

ALPHABETS = (
    "東京都 \n",
    "ab1 \n",
    "東a 。\n\u3000",
    "かがｶﾞﾊﾟー゛゜\u3099\u309a々〇〆",
    "a\u0301\u0323\u0345éßΣςİſ ",
    "😀👍🏽\u200d\ufe0f🇯🇵a東",
    "กข็ำ่ 한ᄒ\u1161\u11ab漢",
    "〜～~-‐ー−.,!「」（）()*\"' \t\n\u3000\u00a0",
    "𠮷𝒜Ⅷ㌕㍿①ﬁ½\u00ad\u200b\ufdd0\uffffñ \u2028",
    "عربي Привет νέα नी ",
)  # fmt: skip

letters = st.one_of(*(st.sampled_from(alphabet) for alphabet in ALPHABETS))
alphabets = st.one_of(
    *(st.just(st.sampled_from(alphabet)) for alphabet in ALPHABETS), st.just(letters)
)
texts = alphabets.flatmap(lambda alphabet: st.text(alphabet, max_size=12))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], list[Query]]:
    """A few documents over one alphabet, and queries cut from them or made from the alphabet."""
    alphabet = draw(alphabets)
    bodies = draw(st.lists(st.text(alphabet, max_size=12), min_size=1, max_size=8))
    leaves: list[Query] = []
    for _ in range(draw(st.integers(5, 25))):
        body = draw(st.sampled_from(bodies))
        start = draw(st.integers(0, len(body)))
        piece = body[start : start + draw(st.integers(1, 5))]
        text = draw(st.one_of(st.just(piece), st.text(alphabet, max_size=4)))
        if draw(st.integers(0, 3)):
            leaves.append(Phrase(text, None, draw(st.booleans()), draw(st.booleans())))
        else:
            gaps = draw(st.lists(st.integers(0, len(text)), min_size=1, max_size=3).map(sorted))
            cuts = [0, *gaps, len(text)]
            pieces = tuple(text[a:b] for a, b in pairwise(cuts))
            if any(map(oracle_fold, pieces)) and all(map(has_edges, oracle_fold(text))):
                leaves.append(Wildcard(pieces))
    trees: st.SearchStrategy[Query] = st.recursive(
        st.sampled_from([*leaves, Everything(), Nothing()]),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda some: And(tuple(some))),
            st.lists(inner, max_size=3).map(lambda some: Or(tuple(some))),
            inner.map(Not),
        ),
        max_leaves=5,
    )
    return bodies, [*leaves, *draw(st.lists(trees, max_size=6))]


def check(engine_name: str, bodies: Sequence[str], queries: Sequence[Query], batch: int) -> None:
    engine = engine_named(engine_name)
    settled = {str(number): [settle(body)] for number, body in enumerate(bodies)}
    # tantivy may still be removing a file of its own.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        searcher = engine.open_searcher(
            build(engine, Path(root) / "index", documents(bodies), batch=batch), BODY
        )
        for query in queries:
            assert set(found_ids(searcher, query)) == matching_ids(query, settled), query
        searcher.close()


@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
@settings(
    max_examples=2_000 if corpus.STRESS else 60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],  # which a busy machine is
)
@given(case=cases(), batch=st.sampled_from((8, 3)))
def test_any_query_finds_what_the_oracle_finds(
    engine_name: str, case: tuple[list[str], list[Query]], batch: int
) -> None:
    check(engine_name, *case, batch)


@pytest.mark.parametrize("engine_name", ENGINE_NAMES)
def test_tricky_texts(engine_name: str) -> None:
    cases = corpus.tricky()
    bodies = [str(case["text"]) for case in cases]
    probes = [str(probe["q"]) for case in cases for probe in case["probes"]]  # type: ignore[attr-defined]
    whole = [body for body in bodies if len(body) <= 200]
    bodies = [body for body in bodies if not any("\ud800" <= c <= "\udfff" for c in body)]
    queries = [Phrase(text) for text in probes + whole] + [prefix(text) for text in probes[::5]]
    check(engine_name, bodies, queries, 100)
