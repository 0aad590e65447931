"""convert_units, and the tools about dates and times."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_sdk.errors import Retry
from kimi_sdk.tools.dates import clock, day_of_week, days_between, shift_date, shift_time
from kimi_sdk.tools.units import EXACT, convert_units

CONVERSIONS = [
    (20, "km", "miles", "12.4274 miles"),
    (5, "lbs", "kg", "2.268 kg"),
    (5, "pounds", "kilograms", "2.268 kilograms"),
    (1, "Kilometres", "m", "1000 m"),
    (100, "C", "F", "212 F"),
    (98.6, "degrees Fahrenheit", "celsius", "37 celsius"),
    (0, "°C", "K", "273.15 K"),
    (-40, "F", "C", "-40 C"),
    (3, "sq. ft", "m²", "0.278709 m²"),
    (1, "square miles", "acres", "640 acres"),
    (5, "GB", "MB", "5000 MB"),
    (5, "MB", "Mb", "40 Mb"),
    (1, "GiB", "bytes", "1073741824 bytes"),
    (60, "miles per hour", "km/h", "96.5606 km/h"),
    (10, "meters per second", "kilometers per hour", "36 kilometers per hour"),
    (6, "feet", "m", "1.8288 m"),
    (1, "century", "years", "100 years"),
    (2.5, "hours", "minutes", "150 minutes"),
    (3, "cups", "ml", "709.7647 ml"),
    (1, "kWh", "kJ", "3600 kJ"),
    (1, "inches", "cm", "2.54 cm"),
    (0, "kg", "lb", "0 lb"),
    (1e308, "km", "m", "1e+311 m"),
    (0.001, "mm", "km", "1e-9 km"),
]


@pytest.mark.parametrize(("value", "source", "target", "text"), CONVERSIONS)
def test_conversions(value: float, source: str, target: str, text: str) -> None:
    assert convert_units(value, source, target) == text


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((5, "kg", "km"), "kg is a mass and km is a length: they cannot be converted."),
        ((5, "smoots", "km"), "The unit 'smoots' is not known"),
        ((5, "km", ""), "The unit '' is not known"),
        ((-300, "C", "F"), "-300 C is below absolute zero."),
        ((math.inf, "km", "m"), "inf is not a number"),
        ((math.nan, "km", "m"), "nan is not a number"),
    ],
)
def test_refused_conversions(args: tuple[Any, ...], text: str) -> None:
    with pytest.raises(Retry, match=text.replace("(", r"\(")):
        convert_units(*args)


@given(st.sampled_from(sorted(EXACT)), st.sampled_from(sorted(EXACT)), st.floats(300, 10**6))
@settings(max_examples=150, deadline=None)
def test_there_and_back(source: str, target: str, value: float) -> None:
    if EXACT[source].kind != EXACT[target].kind:
        with pytest.raises(Retry):
            convert_units(value, source, target)
        return
    there = float(convert_units(value, source, target).split(" ")[0])
    back = float(convert_units(there, target, source).split(" ")[0])
    scale = float(EXACT[target].factor / EXACT[source].factor)
    assert math.isclose(back, value, rel_tol=1e-5, abs_tol=1e-4 * max(1, scale))


@pytest.mark.parametrize(
    ("args", "date"),
    [
        (("2026-01-31", 1, "months"), "2026-02-28"),
        (("2024-02-29", 1, "years"), "2025-02-28"),
        (("2024-02-29", -4, "years"), "2020-02-29"),
        (("2026-11-29", -10, "days"), "2026-11-19"),
        (("2026-12-31", 1, "weeks"), "2027-01-07"),
        (("2026-03-31", -13, "months"), "2025-02-28"),
        (("2026-1-5", 0, "days"), "2026-01-05"),
    ],
)
def test_shifted_dates(args: Any, date: str) -> None:
    assert shift_date(*args) == date


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("2026-13-01", 1, "days"), "There is no date 2026-13-01."),
        (("2026-02-30", 1, "days"), "There is no date"),
        (("tomorrow", 1, "days"), "'tomorrow' is not a date written YYYY-MM-DD."),
        (("2026-01-01", 10**12, "weeks"), "leaves the calendar"),
        (("2026-01-01", -(10**12), "years"), "leaves the calendar"),
        (("9999-12-31", 1, "months"), "leaves the calendar"),
    ],
)
def test_refused_dates(args: Any, text: str) -> None:
    with pytest.raises(Retry, match=text):
        shift_date(*args)


def test_days_and_weekdays() -> None:
    assert days_between("2026-01-01", "2026-12-25") == 358
    assert days_between("2026-12-25", "2026-01-01") == -358
    assert day_of_week("2026-11-29") == "Sunday"
    assert day_of_week("2000-02-29") == "Tuesday"
    with pytest.raises(Retry):
        day_of_week("29.11.2026")


@pytest.mark.parametrize(
    ("time", "minutes", "text"),
    [
        ("09:05", 55, "10:00"),
        ("9:05", 5, "09:10"),
        ("23:50", 20, "00:10 (next day)"),
        ("00:10", -20, "23:50 (previous day)"),
        ("10:00", 3000, "12:00 (2 days later)"),
        ("10:00", -3000, "08:00 (2 days earlier)"),
        ("12:00:00", 1, "12:01"),
    ],
)
def test_shifted_times(time: str, minutes: int, text: str) -> None:
    assert shift_time(time, minutes) == text


@pytest.mark.parametrize("time", ["24:00", "12:60", "noon", "", "12"])
def test_refused_times(time: str) -> None:
    with pytest.raises(Retry, match="is not a time"):
        shift_time(time, 1)


def test_the_clock_can_be_given() -> None:
    assert clock(lambda: datetime.datetime(2026, 11, 29, 14, 5))() == "2026-11-29 14:05"
    datetime.datetime.strptime(clock()(), "%Y-%m-%d %H:%M")
