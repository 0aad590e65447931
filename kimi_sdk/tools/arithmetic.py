"""The tool ``calculate``: exact arithmetic on fractions, by recursive descent, in bounded time and memory."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from kimi_sdk.errors import Retry

LONGEST = 500  # characters of an expression
DEEPEST = 50  # brackets and signs inside one another
LARGEST = 1024  # bits of a numerator or denominator
PLACES = 10  # decimals shown of a number that has more

TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d{1,4})?|\.\d+(?:[eE][+-]?\d{1,4})?)|([A-Za-z]+)|(\*\*|//|.))"
)
GROUPED = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d,])")
SPELLINGS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")"})
CONSTANTS = {"pi": Fraction(math.pi), "e": Fraction(math.e)}


def calculate(expression: Annotated[str, Field(description="Such as (2 + 3) * 4")]) -> str:
    """Compute an arithmetic expression."""
    if len(expression) > LONGEST:
        raise Retry(f"The expression is too long: at most {LONGEST} characters.")
    if not expression.strip():
        raise Retry("The expression is empty.")
    return number(_Parser(expression).result())


def number(value: Fraction) -> str:
    """Digits of an exact value: an integer as one, else ``PLACES`` decimals at most, more for a tiny one."""
    if value.denominator == 1:
        return str(value.numerator)
    places = PLACES
    if abs(value) < 1:
        places += max(0, int(-math.log10(abs(value)))) if abs(value) > Fraction(1, 10**300) else 300
    rounded = rounding(value * 10**places)
    if rounded == 0:
        return "0"
    if places > 16:
        return significant(value)
    whole, part = divmod(abs(rounded), 10**places)
    digits = f"{whole}.{part:0{places}d}".rstrip("0").rstrip(".")
    return f"-{digits}" if rounded < 0 else digits


def significant(value: Fraction) -> str:
    """Six significant digits, with an exponent where that is shorter."""
    rounded = Decimal(f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}")
    return f"{rounded.normalize():g}"


def rounding(value: Fraction) -> int:
    """The nearest integer; halves go away from zero, as taught in schools."""
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


class _Parser:
    """Reads one expression. Grammar, loosest first: sum, product, sign, power, percent, atom."""

    def __init__(self, expression: str) -> None:
        text = re.sub(r"\s*\bpercent\b", "%", expression.translate(SPELLINGS))
        if not re.search(r"[A-Za-z]\s*\(", text):  # inside a call a comma parts arguments
            text = GROUPED.sub(lambda match: match.group().replace(",", ""), text)
        self.tokens: list[str] = []
        self.spaced: list[bool] = []  # whether a blank stands before the token
        for match in TOKEN.finditer(text):
            self.tokens.append(match.group(match.lastindex or 0))
            self.spaced.append(match.group() != self.tokens[-1])
        if self.tokens and not self.tokens[-1].strip():
            self.tokens.pop()
        self.at = 0
        self.depth = 0

    def result(self) -> Fraction:
        value = self.sum()
        if self.peek() == "=" and self.at == len(self.tokens) - 1:
            return value
        if self.peek():
            raise Retry(f"{self.peek()!r} is not expected there; use numbers, + - * / // % ** and brackets.")
        return value

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def sum(self) -> Fraction:
        value = self.product()
        while self.peek() in ("+", "-"):
            sign = self.take()
            other = self.product()
            value = _bounded(value + other if sign == "+" else value - other)
        return value

    def product(self) -> Fraction:
        value = self.sign()
        while self.peek() in ("*", "/", "//", "%", "x", "of"):
            operator = self.take()
            value = _bounded(_multiply(value, operator, self.sign()))
        return value

    def sign(self) -> Fraction:
        if self.peek() not in ("+", "-"):
            return self.power()
        self.enter()
        negative = self.take() == "-"
        value = self.sign()
        self.depth -= 1
        return -value if negative else value

    def power(self) -> Fraction:
        base = self.percent()
        if self.peek() not in ("**", "^"):
            return base
        self.take()
        self.enter()
        exponent = self.sign()  # binds to the right: 2 ** 3 ** 2 is 2 ** 9
        self.depth -= 1
        return _power(base, exponent)

    def percent(self) -> Fraction:
        value = self.atom()
        while self.peek() == "%" and not self.is_remainder():
            self.take()
            value = _bounded(value / 100)
        return value

    def is_remainder(self) -> bool:
        """Whether the "%" here divides: "17 % 5" does, "15% of 80", "50% - 1" and "(20%)" do not."""
        following = self.peek(1)
        if following in ("+", "-"):
            return self.spaced[self.at]
        return following == "(" or following[:1].isdecimal() or following[:1] == "." or following in FUNCTIONS

    def atom(self) -> Fraction:
        token = self.take()
        if token[:1].isdecimal() or (token[:1] == "." and len(token) > 1):
            return _bounded(Fraction(token))
        if token == "(":
            self.enter()
            value = self.sum()
            self.close()
            return value
        if token.lower() in FUNCTIONS and self.peek() == "(":
            return self.call(token.lower())
        if token.lower() in CONSTANTS:
            return CONSTANTS[token.lower()]
        if not token:
            raise Retry("The expression ends too early.")
        if token[:1].isalpha():
            raise Retry(f"{token!r} is not known; functions are {', '.join(FUNCTIONS)}.")
        raise Retry(f"{token!r} is not expected there; a number is.")

    def call(self, name: str) -> Fraction:
        self.take()
        self.enter()
        values = [self.sum()]
        while self.peek() == ",":
            self.take()
            values.append(self.sum())
        self.close()
        return _bounded(FUNCTIONS[name](values))

    def enter(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Retry(f"The expression is nested too deeply: at most {DEEPEST} levels.")

    def close(self) -> None:
        if self.take() != ")":
            raise Retry("A bracket is not closed.")
        self.depth -= 1


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= LARGEST:
        return value
    if abs(value) >= 2 ** (LARGEST // 2):
        raise Retry("The result is too large.")
    # A long chain of divisions: keep what a float would show, not an ever longer fraction.
    return Fraction(rounding(value * 10**60), 10**60)


def _multiply(left: Fraction, operator: str, right: Fraction) -> Fraction:
    if operator in ("*", "x", "of"):
        return left * right
    if right == 0:
        raise Retry("Division by zero.")
    if operator == "/":
        return left / right
    return Fraction(left // right) if operator == "//" else left % right


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if base == 0 and exponent < 0:
        raise Retry("Division by zero.")
    if exponent.denominator != 1:
        if base < 0:
            raise Retry("A negative number has no real power with a fraction as exponent.")
        return (
            _root(base) if exponent == Fraction(1, 2) else _from_float(lambda: float(base) ** float(exponent))
        )
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if base not in (0, 1, -1) and (size - 1) * abs(exponent) > LARGEST:
        raise Retry("The result is too large, or too close to zero.")
    if base in (0, 1, -1):
        return Fraction(base ** int(exponent % 2 + (2 if exponent else 0)))
    return _bounded(Fraction(base ** int(exponent)))


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise Retry("A negative number has no real square root.")
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if above**2 == value.numerator and below**2 == value.denominator:
        return Fraction(above, below)
    return Fraction(math.isqrt(value.numerator * 10**60 // value.denominator), 10**30)


def _from_float(compute: Callable[[], float]) -> Fraction:
    try:
        return Fraction(compute())
    except (OverflowError, ValueError):
        raise Retry("The result is too large.") from None


def _one(values: list[Fraction], name: str) -> Fraction:
    if len(values) != 1:
        raise Retry(f"{name} takes one number, not {len(values)}.")
    return values[0]


def _round(values: list[Fraction]) -> Fraction:
    if len(values) == 1:
        return Fraction(rounding(values[0]))
    if len(values) != 2 or values[1].denominator != 1 or not 0 <= values[1] <= 100:
        raise Retry("round takes a number and, if wanted, how many decimals to keep, from 0 to 100.")
    scale = 10 ** int(values[1])
    return Fraction(rounding(values[0] * scale), scale)


FUNCTIONS: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "sqrt": lambda values: _root(_one(values, "sqrt")),
    "abs": lambda values: abs(_one(values, "abs")),
    "round": _round,
    "min": min,
    "max": max,
}
