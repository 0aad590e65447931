"""The tools about dates and times of day, on the proleptic Gregorian calendar, without time zones."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from kimi_sdk.errors import Retry

DAY = 24 * 60  # minutes
DateText = Annotated[str, Field(description="YYYY-MM-DD")]


def shift_date(
    date: DateText,
    amount: Annotated[int, Field(description="Negative goes back")],
    unit: Literal["days", "weeks", "months", "years"],
) -> str:
    """Add to or subtract from a date."""
    start = _date(date)
    try:
        if unit in ("days", "weeks"):
            return (start + datetime.timedelta(days=amount * (7 if unit == "weeks" else 1))).isoformat()
        return _shift_months(start, amount * (12 if unit == "years" else 1)).isoformat()
    except (OverflowError, ValueError):
        raise Retry(
            f"{amount} {unit} from {date} leaves the calendar, which has the years 1 to 9999."
        ) from None


def days_between(start: DateText, end: DateText) -> int:
    """Count the days from one date to another."""
    return (_date(end) - _date(start)).days


def day_of_week(date: DateText) -> str:
    """Name the weekday of a date."""
    # Not strftime("%A"), which follows the machine's locale.
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return names[_date(date).weekday()]


def shift_time(
    time: Annotated[str, Field(description="HH:MM")],
    minutes: Annotated[int, Field(description="Negative goes back")],
) -> str:
    """Add minutes to a time of day."""
    match = re.fullmatch(r"\s*(\d{1,2}):(\d{2})(?::00)?\s*", time)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        raise Retry(f"{time!r} is not a time from 00:00 to 23:59, written HH:MM.")
    days, rest = divmod(int(match[1]) * 60 + int(match[2]) + minutes, DAY)
    return f"{rest // 60:02d}:{rest % 60:02d}{_days_off(days)}"


def clock(now: Callable[[], datetime.datetime] = datetime.datetime.now) -> Callable[[], str]:
    """The tool ``current_time``, reading the given clock."""

    def current_time() -> str:
        """Tell today's date and the time."""
        return now().strftime("%Y-%m-%d %H:%M")

    return current_time


def _date(text: str) -> datetime.date:
    match = re.fullmatch(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})\s*", text)
    if match is None:
        raise Retry(f"{text!r} is not a date written YYYY-MM-DD.")
    try:
        return datetime.date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        raise Retry(f"There is no date {text.strip()}.") from None


def _shift_months(start: datetime.date, months: int) -> datetime.date:
    """The same day of another month, or that month's last day where it is shorter."""
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError(year)
    return datetime.date(year, month + 1, min(start.day, calendar.monthrange(year, month + 1)[1]))


def _days_off(days: int) -> str:
    match days:
        case 0:
            return ""
        case 1:
            return " (next day)"
        case -1:
            return " (previous day)"
        case _:
            return f" ({abs(days)} days {'later' if days > 0 else 'earlier'})"
