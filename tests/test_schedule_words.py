"""Schedules in plain words: a sentence means what it was made from; others are refused."""

import string
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sakuin.queue.recurring import BadSchedule, Cron, Every, Schedule, describe, parse_schedule
from sakuin.queue.recurring.words_en import EXAMPLES as EXAMPLES_EN
from sakuin.queue.recurring.words_ja import EXAMPLES as EXAMPLES_JA

ZONE = "Asia/Tokyo"
Said = tuple[str, Schedule]
KANJI = "〇一二三四五六七八九"
DAYS_EN = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
DAYS_JA = "日月火水木金土"
ENDINGS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}


def cron(minute: int, hour: int | str, rest: str = "* * *") -> Cron:
    return Cron(f"{minute} {hour} {rest}", ZONE)


def kanji(number: int) -> str:
    """Write a number up to 59 as 二十三."""
    tens, ones = divmod(number, 10)
    if not number:
        return "零"
    return (KANJI[tens] if tens > 1 else "") + "十" * bool(tens) + KANJI[ones] * bool(ones)


NUMERALS: st.SearchStrategy[Callable[[int], str]] = st.sampled_from((str, kanji))


@st.composite
def times_en(draw: st.DrawFn) -> tuple[str, int, int]:
    hour, minute = draw(st.integers(0, 23)), draw(st.integers(0, 59))
    half, twelve = "am" if hour < 12 else "pm", (hour + 11) % 12 + 1
    blank = draw(st.sampled_from(("", " ")))
    forms = [(f"{hour}:{minute:02}", minute), (f"{hour:02}:{minute:02}", minute)]
    forms += [(f"{twelve}:{minute:02}{blank}{half}", minute), (f"{twelve}{blank}{half}", 0)]
    forms += [("noon", 0)] * (hour == 12) + [("midnight", 0)] * (hour == 0)
    text, said_minute = draw(st.sampled_from(forms))
    return text, hour, said_minute


@st.composite
def times_ja(draw: st.DrawFn) -> tuple[str, int, int]:
    hour, minute = draw(st.integers(0, 23)), draw(st.integers(0, 59))
    write = draw(NUMERALS)
    half = "午前" if hour < 12 else "午後"
    forms = [(f"{hour}:{minute:02}", minute), (f"{write(hour)}時", 0)]
    forms += [(f"{write(hour)}時{write(minute)}分", minute), (f"{write(hour)}時半", 30)]
    forms += [(f"{half}{write(hour % 12)}時{write(minute)}分", minute)]
    forms += [("正午", 0)] * (hour == 12) + [("真夜中", 0)] * (hour == 0)
    text, said_minute = draw(st.sampled_from(forms))
    return (
        draw(st.sampled_from(("", "の"))) + text + draw(st.sampled_from(("", "に"))),
        hour,
        (said_minute),
    )


@st.composite
def steps(draw: st.DrawFn) -> Said:
    count = draw(st.integers(2, 168))
    number, seconds = draw(st.sampled_from(((0, 1), (1, 60), (2, 3600))))
    unit = ("seconds", "minutes", "hours")[number]
    unit_ja = ("秒", "分", "時間")[number]
    ending = draw(st.sampled_from(("ごと", "毎", "おき", "ごとに")))
    text = draw(st.sampled_from((f"every {count} {unit}", f"{count}{unit_ja}{ending}")))
    return text, Every(count * seconds)


@st.composite
def sentences_en(draw: st.DrawFn) -> Said:
    time, hour, minute = draw(times_en())
    days = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True))
    names = [DAYS_EN[day] for day in days]
    listed = ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]
    day = draw(st.integers(1, 28))
    past = draw(st.integers(0, 59))
    week = ",".join(str(day) for day in sorted(days))
    said: tuple[Said, ...] = (
        (f"every day at {time}", cron(minute, hour)),
        (f"daily at {time}", cron(minute, hour)),
        (f"every weekday at {time}", cron(minute, hour, "* * 1-5")),
        (f"every {listed} at {time}", cron(minute, hour, f"* * {week}")),
        (
            f"every month on the {day}{ENDINGS.get(day, 'th')} at {time}",
            cron(minute, hour, f"{day} * *"),
        ),
        (f"every month on the last day at {time}", cron(minute, hour, "L * *")),
        (f"every hour at :{past:02}", cron(past, "*")),
        ("every day", cron(0, 0)),
        ("every minute", Every(60)),
    )
    return draw(st.sampled_from(said))


@st.composite
def sentences_ja(draw: st.DrawFn) -> Said:
    time, hour, minute = draw(times_ja())
    days = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True))
    names = [DAYS_JA[day] for day in days]
    between = draw(st.sampled_from(("・", "、", "と")))
    listed = draw(
        st.sampled_from(
            (
                between.join(names) + "曜",
                between.join(names) + "曜日",
                between.join(f"{name}曜日" for name in names),
                "".join(names) + "曜",
            )
        )
    )
    day, past = draw(st.integers(1, 28)), draw(st.integers(0, 59))
    write = draw(NUMERALS)
    week = ",".join(str(day) for day in sorted(days))
    said: tuple[Said, ...] = (
        (f"毎日{time}", cron(minute, hour)),
        (f"平日{time}", cron(minute, hour, "* * 1-5")),
        (f"毎週{listed}{time}", cron(minute, hour, f"* * {week}")),
        (f"毎月{write(day)}日{time}", cron(minute, hour, f"{day} * *")),
        (f"毎月末{time}", cron(minute, hour, "L * *")),
        (f"毎月末日{time}", cron(minute, hour, "L * *")),
        (f"毎時{write(past)}分", cron(past, "*")),
        ("毎日", cron(0, 0)),
        ("毎分", Every(60)),
    )
    return draw(st.sampled_from(said))


@settings(max_examples=200, derandomize=True)
@given(said=st.one_of(steps(), sentences_en(), sentences_ja()), dress=st.integers(0, 3))
def test_a_sentence_means_what_it_was_made_from(said: Said, dress: int) -> None:
    """However it is spelt (letter case, full-width forms, blanks), and back into words again."""
    text, expected = said
    if isinstance(expected, Cron) and expected.expression.endswith("* * 1,2,3,4,5"):
        expected = Cron(expected.expression.replace("1,2,3,4,5", "1-5"), ZONE)
    if dress & 1:
        text = text.upper()
    if dress & 2:
        text = f"  {text.translate(FULL_WIDTH)} "
    found = parse_schedule(text, ZONE)
    assert found == expected
    assert parse_schedule(describe(found, "en"), ZONE) == expected
    assert parse_schedule(describe(found, "ja"), ZONE) == expected


FULL_WIDTH = {
    ord(each): chr(ord(each) - 0x20 + 0xFF00) for each in string.digits + string.ascii_letters
}


def test_full_width_is_what_is_meant() -> None:
    assert unicodedata.normalize("NFKC", "ａ９".translate(FULL_WIDTH)) == "a9"


@pytest.mark.parametrize("example", EXAMPLES_EN + EXAMPLES_JA)
def test_every_example_that_a_refusal_shows_is_understood(example: str) -> None:
    schedule = parse_schedule(example, ZONE)
    assert parse_schedule(describe(schedule, "ja"), ZONE) == schedule


@settings(max_examples=150, derandomize=True)
@given(
    said=st.one_of(steps(), sentences_en(), sentences_ja()),
    place=st.integers(0, 60),
    other=st.sampled_from("xq?!夜次隔"),
)
def test_what_is_not_in_the_grammar_is_never_guessed(said: Said, place: int, other: str) -> None:
    """A letter that no sentence has, anywhere in one, is not passed over."""
    with pytest.raises(BadSchedule):
        parse_schedule(said[0][:place] + other + said[0][place:], ZONE)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("every day at 3", "'every day at 3am'"),
        ("every mondays at 3:00", "'every monday at 3:00'"),
        ("every week", "'every weekday at 9:00'"),
        ("every other day", "'every day'"),
        ("every minutes", "'every 5 minutes'"),
        ("毎晩8時", "'毎朝7時'"),
        ("毎週月", "'毎週月曜3時'"),
        ("毎日夜中", "'毎日正午'"),
        ("毎朝午後4時", "'毎朝7時'"),
        ("毎日三四十時", "'毎日3時'"),
        ("every month on the 2th", "'every month on the 1st at 3:00'"),
    ],
)
def test_a_refusal_shows_the_nearest_examples(text: str, near: str) -> None:
    with pytest.raises(BadSchedule) as refused:
        parse_schedule(text, ZONE)
    assert repr(text) in str(refused.value)
    assert near in str(refused.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("every day at 25:00", "25:00: use a time from 0:00 to 23:59"),
        ("every day at 13pm", "hour 13: in a half of the day use 1 to 12"),
        ("毎日午後12時", "hour 12: in a half of the day use 0 to 11"),
        ("毎日7:75", "7:75: use a time"),
        ("毎時75分", "minute 75: use 0 to 59"),
        ("every month on the 31st", "day 31 of a month: use 1 to 28"),
        ("毎月31日", "for the last day say"),
        ("every 0 minutes", "every 0 seconds: use 1 to 604800"),
        ("9999999時間ごと", "is not understood"),
        ("", "use 1 to 255"),
        ("x" * 256, "schedule of 256 letters: use 1 to 255"),
    ],
)
def test_a_number_that_cannot_be_is_named(text: str, problem: str) -> None:
    with pytest.raises(BadSchedule) as refused:
        parse_schedule(text, ZONE)
    assert problem in str(refused.value)


def test_the_schedules_of_other_programs() -> None:
    """cron(5)'s names for common schedules, and names of days and months."""
    assert parse_schedule("@Weekly", ZONE) == cron(0, 0, "* * 0")
    assert parse_schedule("0 9 * JAN Mon-Fri", ZONE) == cron(0, 9, "* jan mon-fri")
    assert parse_schedule(" ＊／５  * * * *", ZONE) == Cron("*/5 * * * *", ZONE)
