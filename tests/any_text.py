"""Texts that a query might be: pieces of every dialect's syntax, and anything at all."""

import random

from hypothesis import strategies as st

from sakuin.indexer.document import Fields, Filter, FilterKind

FIELDS = Fields(
    ("title", "body"),
    filters=(Filter("source", FilterKind.KEYWORD), Filter("pages", FilterKind.NUMBER)),
)
PIECES = [
    *(
        "AND",
        "OR",
        "NOT",
        "ＯＲ",
        "ANDNOT",
        "[BW]",
        "[EW]",
        "[RX]",
        "*D+ ",
        "*D- ",
        "*W1:2 ",
        "*SS ",
    ),
    *(" ", " ", "\u3000", "\n", "(", ")", "（", "）", '"', "＂", "“", "”", "-", "－", "+", "＋"),
    *(
        "*",
        "＊",
        ":",
        "：",
        "..",
        ">",
        "＞",
        "<",
        "=",
        "~",
        '"~5',
        "”～２ ",
        "title:",
        "body：",
        "source:",
        "id:",
    ),
    *(
        "pages:",
        "created:",
        "2024",
        "2024-01",
        "2024年1月",
        "T10:30",
        "Z",
        "１０",
        "-5",
        "99999999999",
    ),
    *(
        "a",
        "wom*n",
        "人間",
        "(x)",
        "f(",
        "\u200b",
        "\0",
        "\ud800",
        "。",
        "が",
        "\u0301",
        "é",
        "😀",
        "''",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join) | st.text(
    st.characters(), max_size=60
)


def long_text(seed: int, length: int = 1_000) -> str:
    """Make up a query of so many characters."""
    random_ = random.Random(seed)
    made = ""
    while len(made) < length:
        made += random_.choice(PIECES)
    return made[:length]
