"""The terms of a question, their weights, and the order that they give (promise S4)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sakuin.indexer.closest_question import MOST_TERMS, Question, weigh
from sakuin.indexer.closest_rank import rank
from sakuin.indexer.closest_recipe import DEFAULT_RECIPE
from sakuin.indexer.closest_terms import lone_characters, terms_of
from sakuin.indexer.closest_words import word_forms
from sakuin.indexer.fold import BLANK, fold
from sakuin.indexer.tokens import cut

WORD = DEFAULT_RECIPE.word


def shares(question: str) -> dict[str, float]:
    return {term.text: round(term.share, 3) for term in terms_of(fold(question))}


def test_runs_of_one_script_are_worth_their_square_root() -> None:
    assert shares("東京タワー") == {
        "東京": 1.0,
        "京タ": DEFAULT_RECIPE.mixed,
        "タワ": round(1 / 2**0.5, 3),
        "ワー": round(1 / 2**0.5, 3),
    }
    assert shares("日本国憲法")["国憲"] == 0.5
    assert shares("それは") == {"それ": DEFAULT_RECIPE.mixed, "れは": DEFAULT_RECIPE.mixed}
    assert shares("ไทย") == {"ไท": 1.0, "ทย": 1.0}
    assert shares("서울시") == {"서울": 1.0, "울시": 1.0}
    assert shares("iPhone15 の") == {"iphone15": WORD}


def test_words_that_ask_count_only_where_nothing_else_does() -> None:
    assert list(shares("What are the symptoms of ARDS?")) == ["symptoms", "ards"]
    assert list(shares("What is it?")) == ["what", "is", "it"]
    assert list(shares("who is who")) == ["who", "is"]
    assert terms_of("") == ()


def test_forms_of_one_word_are_one_term() -> None:
    assert list(shares("causes, caused and cause")) == ["causes"]
    assert terms_of("a cat")[-1].forms[0] == "cat"


@pytest.mark.parametrize(
    "forms",
    [
        {"treat", "treats", "treated", "treating"},
        {"cause", "causes", "caused", "causing"},
        {"study", "studies", "studying"},
        {"diagnose", "diagnosed", "diagnosing"},
        {"gene", "genes"},
        {"box", "boxes"},
    ],
)
def test_a_form_of_a_word_leads_to_the_others(forms: set[str]) -> None:
    for form in forms:
        found = word_forms(form)
        assert found[0] == form
        assert forms <= set(found), form


def test_an_s_that_is_no_plural_stays() -> None:
    assert "viruses" in word_forms("virus")
    assert not {"viru", "virue"} & set(word_forms("virus"))


@pytest.mark.parametrize("word", ["is", "as", "京都", "straße", "iphone15", "12", "ss"])
def test_other_words_have_one_form(word: str) -> None:
    assert word_forms(word) == (word,)


def test_pairs_of_hiragana_find_only_where_nothing_else_does() -> None:
    def finding(text: str) -> set[str]:
        terms = terms_of(fold(text))
        question = weigh(text, terms, {term.text: 1 for term in terms}, 10)
        return {token.text for token in question.tokens}

    assert finding("水はどこ?") == {"水は"}
    assert finding("それはどこ?") == {"それ", "れは", "はど", "どこ", "こ?"}
    assert finding("Perl とは?") == {"perl"}


def test_characters_alone_make_no_term() -> None:
    assert lone_characters("木") == ("木",)
    assert lone_characters("木 abc 林 木") == ("木", "林")
    assert lone_characters("木林") == ()
    assert terms_of("木 林") == ()


@settings(derandomize=True, max_examples=150)
@given(text=st.text(max_size=60))
def test_every_term_is_a_token_of_its_text(text: str) -> None:
    """An index holds what is asked for, and a term says where it stands in the question."""
    folded = fold(text).strip()
    tokens = set(cut(folded)) - {BLANK}
    for term in terms_of(folded):
        assert term.text in tokens
        assert term.share > 0
        assert len(term.text) > 255 or folded.startswith(term.text, term.at)


def test_rare_terms_are_worth_more_and_unknown_ones_nothing() -> None:
    frequencies = {"東京": 900, "大阪": 3, "cause": 10, "caused": 40}
    question = weigh("東京 大阪 京都 causes", terms_of("東京 大阪 京都 causes"), frequencies, 1_000)
    worths = {each.term.text: each.worth for each in question.terms}
    assert list(worths) == ["東京", "大阪", "causes"]
    assert worths["大阪"] > worths["causes"] > 20 * worths["東京"] > 0
    boosts = {token.text: token.weight for token in question.tokens}
    assert boosts["大阪"] == boosts["東京"] == 1
    assert boosts["cause"] < boosts["caused"] < WORD  # together as rare as one word of 50
    assert dict(question.kanji).keys() == set("東京大阪")


def test_of_many_terms_those_worth_most_are_asked() -> None:
    text = " ".join(f"w{n}" for n in range(200))
    frequencies = {f"w{n}": n + 1 for n in range(200)}
    question = weigh(text, terms_of(text), frequencies, 1_000)
    assert {token.text for token in question.tokens} == {f"w{n}" for n in range(MOST_TERMS)}


def asked(text: str) -> Question:
    """Weigh a question as if every token were equally rare."""
    terms = terms_of(fold(text))
    return weigh(text, terms, {term.text: 5 for term in terms}, 100)


def best(text: str, *texts: str) -> int:
    scores = rank(asked(text), [fold(each) for each in texts])
    assert len(scores) == len(texts)
    return scores.index(max(scores))


def test_more_terms_are_better() -> None:
    assert best("red green blue", "red red red red red", "red green", "red blue green") == 2
    assert rank(asked("red"), []) == []


def test_one_sentence_with_all_is_better_than_many_with_some() -> None:
    scattered = "東京は夜である。雨が大阪に降る。名古屋は晴れ。"
    together = "東京と大阪と名古屋は晴れである。雨は夜に降る。"
    assert best("東京 大阪 名古屋", scattered, together) == 1
    assert (
        best("red green", "a red car. the green tea is old", "a red and green car is an old") == 1
    )


def test_neighbours_are_better_apart_from_that_equal() -> None:
    assert best("heart failure", "failure x of heart", "x of heart failure") == 1
    assert best("heart failure", "x of heart failure", "failure x of heart") == 0


def test_the_beginning_of_a_text_is_better() -> None:
    filler = "other words of a text " * 3
    assert best("amnesia", f"{filler} amnesia.", f"amnesia {filler}.") == 1


def test_what_all_first_hits_have_tells_them_apart_less() -> None:
    """The subject of a question is in all of them; what is asked about it is not."""
    subject = ["rio is rio and rio"] * 9
    assert best("rio population", *subject, "population of it is large") == 9


def test_words_have_edges() -> None:
    assert rank(asked("art"), ["a part of artists", "art"])[0] == 0
    assert rank(asked("art"), ["東京art東京", "x"])[0] > 0


@settings(derandomize=True, max_examples=100)
@given(question=st.text(max_size=20), texts=st.lists(st.text(max_size=40), max_size=4))
def test_scores_are_never_negative(question: str, texts: list[str]) -> None:
    scores = rank(asked(question), [fold(each) for each in texts])
    assert all(score >= 0 for score in scores)
    assert len(scores) == len(texts)
