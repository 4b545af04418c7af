"""Schedules and zones that cannot be are refused by name; jumps of the clock, one by one."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from cron_oracle import whole
from sakuin.queue.recurring import BadSchedule, Cron, Every, Schedule, parse_schedule


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0 0 31 2 *", "no such day in any year"),
        ("0 0 31 4,6 *", "no such day in any year"),
        ("0 0 */31 2 MON#5", "no such day in any year"),
        ("61 * * * *", "cannot read the minute, '61'"),
        ("0 24 * * *", "cannot read the hour, '24'"),
        ("0 0 0 * *", "cannot read the day of month, '0'"),
        ("0 0 * foo *", "cannot read the month, 'foo'"),
        ("0 0 * * 8", "cannot read the day of week, '8'"),
        ("*/0 * * * *", "cannot read the minute, '*/0'"),
        ("5-3 * * * *", "cannot read the minute, '5-3'"),
        ("3-3/5 * * * *", "cannot read the minute, '3-3/5'"),
        ("0 3 * *", "use five fields"),
        ("*/10 * * * * *", "for seconds write 'every 30 seconds'"),
        ("0 3 * * ٣", "use five fields"),
        ("0 0 * * 1 " + "1" * 300, "use 1 to 255"),
    ],
)
def test_impossible_and_nonsense_cron_is_refused(text: str, problem: str) -> None:
    """The message names the schedule and the field, and shows expressions that can be."""
    with pytest.raises(BadSchedule) as refused:
        parse_schedule(text, "UTC")
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("zone", "hint"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("asia/tokyo", "Asia/Tokyo"),
        ("Europe", "Europe/"),
        ("", "Asia/Tokyo"),
        ("../../etc/passwd", "UTC"),
        ("/etc/localtime", "use one such as"),
        ("localtime", "use one such as"),
        ("right/Europe/Berlin", "Europe/Berlin"),
        ("X\0Y", "use one such as"),
        ("x" * 5000, "use one such as"),
    ],
)
def test_unknown_zones_are_refused(zone: str, hint: str) -> None:
    with pytest.raises(BadSchedule, match=r"time zone .* is not known") as refused:
        Cron("0 3 * * *", zone)
    assert hint in str(refused.value)
    with pytest.raises(BadSchedule, match=r"time zone .* is not known"):
        parse_schedule("every 5 minutes", zone)


@pytest.mark.parametrize("seconds", [0, -5, 604_801])
def test_every_of_no_time_or_too_much_is_refused(seconds: int) -> None:
    with pytest.raises(BadSchedule, match=f"every {seconds} seconds: use 1 to 604800"):
        Every(seconds)


@settings(max_examples=300, derandomize=True)
@given(st.text(alphabet="0123456789*/,-#LW @MONJAN毎日時分　every", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything but BadSchedule, and what is read has a next time."""
    try:
        schedule = parse_schedule(text, "Europe/Berlin")
    except BadSchedule:
        return
    moment = whole("2027-03-28 00:59")
    assert schedule.next_after(moment) > moment


def following(schedule: Schedule, start: str, count: int) -> list[str]:
    """Return the next times, as the clock of the zone shows them."""
    moment, zone = whole(start), ZoneInfo(getattr(schedule, "zone", "UTC"))
    found = []
    for _ in range(count):
        moment = schedule.next_after(moment)
        found.append(moment.astimezone(zone).isoformat(timespec="minutes")[5:])
    return found


def test_fixed_times_run_once_over_a_jump() -> None:
    """In a gap right after it, together once; in a fold the first time only; from within it too."""
    half_past = Cron("0,30 2 * * *", "Europe/Berlin")
    assert following(half_past, "2027-03-27 02:00", 2) == ["03-28T03:00+02:00", "03-29T02:00+02:00"]
    half_past = Cron("30 2 * * *", "Europe/Berlin")
    assert following(half_past, "2027-10-30 12:00", 2) == ["10-31T02:30+02:00", "11-01T02:30+01:00"]
    assert following(half_past, "2027-10-31 01:10", 1) == ["11-01T02:30+01:00"]


def test_the_library_alone_misses_runs_where_clocks_jump_by_half_an_hour() -> None:
    """Why cronsim is asked about wall clocks only: on Lord Howe Island it passes over 2:00 and
    4:00, as it steps by whole hours over a jump of half an hour."""
    zone = "Australia/Lord_Howe"
    start = datetime(2027, 4, 4, 0, 30, tzinfo=ZoneInfo(zone))
    assert next(CronSim("0 */2 * * *", start)).hour == 4
    ours = Cron("0 */2 * * *", zone)
    assert following(ours, "2027-04-03 13:30", 2) == ["04-04T02:00+10:30", "04-04T04:00+10:30"]


def test_real_time_shows_the_hour_twice_and_skips_what_there_is_not() -> None:
    quarter = Cron("*/30 * * * *", "Europe/Berlin")
    assert following(quarter, "2027-10-31 00:00", 4) == [
        "10-31T02:30+02:00",
        "10-31T02:00+01:00",
        "10-31T02:30+01:00",
        "10-31T03:00+01:00",
    ]
    assert following(quarter, "2027-03-28 00:30", 2) == ["03-28T03:00+02:00", "03-28T03:30+02:00"]


def test_a_leap_day_and_the_last_day() -> None:
    assert following(Cron("0 0 29 2 *", "UTC"), "2027-01-01", 2) == [
        "02-29T00:00+00:00",
        "02-29T00:00+00:00",
    ]
    ends = following(Cron("0 0 L * *", "UTC"), "2028-01-31", 2)
    assert ends == ["02-29T00:00+00:00", "03-31T00:00+00:00"]


def test_parts_of_a_second_do_not_repeat_a_run() -> None:
    """The next time is later than the moment, whatever the fraction; never the same again."""
    for schedule in (Cron("0 3 * * *", "UTC"), Cron("*/5 * * * *", "UTC"), Every(60)):
        run = schedule.next_after(whole("2027-01-01 02:59:59.999999"))
        assert run == whole("2027-01-01 03:00")
        assert schedule.next_after(run) > run
        assert schedule.next_after(whole("2027-01-01 03:00:00.000001")) > run
