"""Texts to test with: the corpora beside the checkout, or the same amount made up from a seed."""

import gzip
import json
import os
import random
from pathlib import Path

STRESS = os.environ.get("SAKUIN_STRESS") == "1"
"""Set by `make stress`: whole corpora, all queries."""

_CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
_FILES = {
    "aozora_10k": ("aozora/aozora_10k.txt.gz",),
    "jsquad": ("jsquad/passages.txt.gz",),
    "drcd_test": ("drcd_test/passages.txt.gz",),
    "xquad_th": ("xquad_th/passages.txt.gz",),
    "korean": ("korean/nsmc_3k.txt.gz", "korean/debian_handbook_ko.txt.gz"),
    "mixed_tech": ("mixed_tech/debian_handbook_ja.txt.gz",),
}
_WORD_LISTS = {"korean": "nsmc_3k", "mixed_tech": "debian_handbook_ja"}
_ROWS = {"aozora_10k": 10_000, "jsquad": 2_304, "drcd_test": 1_000, "xquad_th": 240,
         "korean": 3_251, "mixed_tech": 3_991}  # fmt: skip
_LETTERS = {
    "aozora_10k": "人間失格先生東京私はがのにをでとたるいしてーカタ々",
    "jsquad": "日本世界現在時代年月日は、がのにをでフランス共産",
    "drcd_test": "中國國家地區政府世紀年是在的與為之歷史",
    "xquad_th": "กขคงจชดตถทนบปผพฟมยรลวสหอฮะาำิีึืุูเแโใไ่้์",
    "korean": "영화연기최고평점스토리내용드라마재미하는이가을를",
    "mixed_tech": "ファイル設定の場合にパッケージシステムをインストール",
}
_PLAIN = [
    "Debian",
    "apt-get",
    "iPhone15",
    "2024",
    "C++",
    "(x)",
    "「",
    "」",
    "100%",
    "é",
    "😀",
    "Ｗeb",
]

# A few tricky cases of our own: text, probe, the weakest folding that finds it.
_WRITTEN = (
    ("人間失格", "間", "exact"),
    ("か\u3099き", "がき", "nfc"),
    ("ﾊﾝｶﾞｰ", "ハンガー", "nfkc"),
    ("㌕の米", "キログラム", "nfkc"),
    ("Straße", "STRASSE", "nfkc_casefold"),
    ("東\u200b京", "東京", "nfkc_casefold_ignorables_removed"),
    ("カタカナ", "かたかな", "nfkc_casefold_ignorables_removed_kana_folded"),
    ("リング", "クリンク", "none"),
)

NAMES = tuple(_FILES)


def paragraphs(name: str) -> list[str]:
    """Return the paragraphs of a corpus, in order."""
    if not all((_CORPORA / file).exists() for file in _FILES[name]):
        return made_up(name)
    lines: list[str] = []
    for file in _FILES[name]:
        with gzip.open(_CORPORA / file, "rt", encoding="utf-8", newline="\n") as opened:
            lines += [line.rstrip("\n") for line in opened]
    return lines


def articles() -> list[tuple[str, str]]:
    """Return passages of articles, as (title, text), those of one article together."""
    file = _CORPORA / "jsquad" / "passages.jsonl.gz"
    if not file.exists():
        return _made_up_articles()
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        return [(row["title"], row["text"]) for row in map(json.loads, opened)]


def _made_up_articles() -> list[tuple[str, str]]:
    """Make up articles of 25 passages, of which each has words of the article and of all."""
    random_ = random.Random("articles")
    usual = made_up("jsquad")
    made = []
    for number in range(80):
        own = ["".join(chr(random_.randrange(0x4E00, 0x9FA0)) for _ in range(3)) for _ in range(12)]
        for _ in range(25):
            said = random_.sample(own, 6)
            made.append((f"article {number}", "は".join(said) + random_.choice(usual)))
    return made


def words(name: str) -> list[str]:
    """Return the frequent, medium and rare benchmark words of a corpus."""
    lists = _CORPORA / "benchmark_words.json"
    if not lists.exists():
        return made_up(name)[0].split()
    chosen = json.loads(lists.read_text(encoding="utf-8"))[_WORD_LISTS.get(name, name)]
    return [entry["w"] for key in ("top30", "mid30", "rare30") for entry in chosen.get(key, ())]


def tricky() -> list[dict[str, object]]:
    """Return the tricky cases: `text`, and `probes` that do or do not stand in it."""
    file = _CORPORA / "tricky" / "tricky.jsonl.gz"
    if not file.exists():
        return [
            {"id": text, "text": text, "probes": [{"q": probe, "first_level_matching": level}]}
            for text, probe, level in _WRITTEN
        ]
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        return [json.loads(line) for line in opened]


def made_up(name: str) -> list[str]:
    """Return as many made-up paragraphs of the same script, the same ones every time."""
    random_ = random.Random(name)
    vocabulary = [
        "".join(random_.choices(_LETTERS[name], k=1 + n % 4)) for n in range(400)
    ] + _PLAIN
    weights = [1 / (1 + rank) for rank in range(len(vocabulary))]
    random_.shuffle(vocabulary)
    lines = []
    for _ in range(_ROWS[name]):
        parts = random_.choices(vocabulary, weights, k=random_.randint(1, 60))
        lines.append(
            "".join(part + random_.choice(["", "", "", " ", "　", "。"]) for part in parts)
        )
    return lines


def substrings(lines: list[str], count: int, seed: int) -> list[str]:
    """Return random substrings of 1 to 8 characters: blanks, punctuation and halves included."""
    random_ = random.Random(seed)
    filled = [line for line in lines if line]
    found = []
    for _ in range(count):
        line = random_.choice(filled)
        length = random_.randint(1, 8)
        start = random_.randint(0, max(0, len(line) - length))
        found.append(line[start : start + length])
    return found
