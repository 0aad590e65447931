"""Values of the fields of domains: as they stand in a text, and as they go into JSON."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from training.data import words
from training.data.split import value_held

JOBS = [
    "teacher",
    "nurse",
    "baker",
    "pilot",
    "farmer",
    "lawyer",
    "painter",
    "driver",
    "singer",
    "cook",
    "engineer",
    "gardener",
    "dentist",
    "carpenter",
    "plumber",
    "writer",
    "doctor",
    "actor",
    "clerk",
    "waiter",
    "tailor",
    "chemist",
    "judge",
    "sailor",
    "miner",
    "florist",
    "butcher",
    "barber",
    "librarian",
    "designer",
    "programmer",
    "accountant",
    "journalist",
    "musician",
    "photographer",
    "translator",
    "electrician",
    "mechanic",
]
DEPARTMENTS = [
    "sales",
    "marketing",
    "finance",
    "research",
    "support",
    "logistics",
    "legal",
    "design",
    "production",
    "security",
    "training",
]
ITEMS = [
    "apples",
    "chairs",
    "books",
    "lamps",
    "pens",
    "shirts",
    "bottles",
    "tables",
    "plates",
    "phones",
    "bikes",
    "boxes",
    "candles",
    "socks",
    "tickets",
    "mugs",
    "keys",
    "bananas",
    "eggs",
    "cameras",
    "towels",
    "bags",
    "shoes",
    "pencils",
    "cables",
    "screws",
    "brushes",
    "batteries",
    "laptops",
    "carpets",
    "blankets",
    "hats",
]
FOODS = [
    "milk",
    "eggs",
    "flour",
    "sugar",
    "butter",
    "rice",
    "salt",
    "pepper",
    "onions",
    "garlic",
    "tomatoes",
    "cheese",
    "bread",
    "apples",
    "carrots",
    "beans",
    "oil",
    "honey",
    "lemons",
    "potatoes",
    "pasta",
    "cream",
    "yeast",
    "spinach",
    "mushrooms",
    "basil",
    "chicken",
    "fish",
    "nuts",
    "oats",
    "tea",
    "coffee",
]
COLOURS = [
    "red",
    "green",
    "blue",
    "yellow",
    "orange",
    "purple",
    "pink",
    "brown",
    "black",
    "white",
    "gray",
    "silver",
    "golden",
]
UNITS = ["kWh", "bar", "liters", "degrees", "volts", "percent", "ppm", "watts", "meters", "kg"]
Value = tuple[str, Any, dict[str, Any]]
STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}


def open_or(rng: random.Random, held: bool, closed: list[str], chance: float = 0.45) -> str:
    """A value of a list that people expect, or any word."""
    if rng.random() < chance:
        side = [value for value in closed if value_held(value) == held] if held else closed
        if side:
            return words.pick(rng, side, held)
    return words.word(rng, held)


def _text(value: str) -> Value:
    return value, value, STRING


def _count(rng: random.Random, low: int, high: int) -> Value:
    number = rng.randint(low, high)
    written = words.SPOKEN[number] if number in words.SPOKEN and rng.random() < 0.15 else str(number)
    return written, number, INTEGER


def _big(rng: random.Random, held: bool) -> Value:
    number = words.integer(rng, held)
    return words.spell(rng, number), number, INTEGER


def _money(rng: random.Random, held: bool) -> Value:
    whole = rng.random() < 0.5
    number: int | float = (
        words.integer(rng, held)
        if whole
        else round(words.integer(rng, held) % 5000 + rng.randint(1, 99) / 100, 2)
    )
    shape = rng.choice(
        ("{} euros", "{} dollars", "${}", "€{}", "{} EUR", "{} USD", "{}", "{} francs", "{} pounds")
    )
    digits = (
        f"{number:,}"
        if number >= 1000 and rng.random() < 0.3
        else f"{number:.2f}"
        if not whole and rng.random() < 0.3
        else str(number)
    )
    return shape.format(digits), number, NUMBER


def _decimal(rng: random.Random, held: bool) -> Value:
    number = words.number(rng, held, negative=0)
    return str(number), number, NUMBER


def _listed(rng: random.Random, values: list[str]) -> Value:
    joint = rng.choice((" and ", ", and ", ", "))
    shown = values[0] if len(values) == 1 else ", ".join(values[:-1]) + joint + values[-1]
    return shown, values, {"type": "array", "items": {"type": "string"}}


def _title(rng: random.Random, held: bool) -> str:
    return " ".join(
        word.capitalize() if rng.random() < 0.5 else word for word in words.phrase(rng, held, 3).split(" ")
    )


def _brand(rng: random.Random, held: bool) -> str:
    name = words.word(rng, held).capitalize()
    return f"{name} {words.word(rng, held).capitalize()}" if rng.random() < 0.3 else name


def _person(rng: random.Random, held: bool) -> str:
    return words.full_name(rng, held) if rng.random() < 0.55 else words.first_name(rng, held)


def _email(rng: random.Random, held: bool) -> str:
    return f"{words.word(rng, held)}{rng.choice(('', '', '.' + words.word(rng, held), str(rng.randint(1, 99))))}@{words.word(rng, held)}.{rng.choice(('com', 'org', 'net', 'de', 'io'))}"


def _phone(rng: random.Random, held: bool) -> str:
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(6, 9)))
    return rng.choice(
        (
            f"0{digits}",
            f"+{rng.randint(1, 99)} {digits}",
            f"{digits[:3]}-{digits[3:]}",
            f"0{digits[:3]} {digits[3:]}",
        )
    )


def _date(rng: random.Random, held: bool) -> Value:
    day = words.day(rng, held)
    spelled = words.spell_day(rng, day)
    return spelled, spelled, STRING


VALUES: dict[str, Callable[[random.Random, bool], Value]] = {
    "person": lambda rng, held: _text(_person(rng, held)),
    "first": lambda rng, held: _text(words.first_name(rng, held)),
    "city": lambda rng, held: _text(words.city(rng, held)),
    "country": lambda rng, held: _text(words.city(rng, held)),
    "job": lambda rng, held: _text(open_or(rng, held, JOBS)),
    "department": lambda rng, held: _text(open_or(rng, held, DEPARTMENTS)),
    "item": lambda rng, held: _text(open_or(rng, held, ITEMS)),
    "word": lambda rng, held: _text(words.word(rng, held)),
    "file": lambda rng, held: _text(
        f"{words.word(rng, held)}{rng.choice(('.txt', '.md', '.csv', '.py', '.log', '.json'))}"
    ),
    "brand": lambda rng, held: _text(_brand(rng, held)),
    "title": lambda rng, held: _text(_title(rng, held)),
    "phrase": lambda rng, held: _text(words.phrase(rng, held, 4)),
    "colour": lambda rng, held: _text(open_or(rng, held, COLOURS, 0.7)),
    "unit": lambda rng, held: _text(open_or(rng, held, UNITS, 0.7)),
    "weekday": lambda rng, held: _text(rng.choice(words.WEEKDAYS)),
    "clock": lambda rng, held: _text(words.clock(rng, held)),
    "code": lambda rng, held: _text(words.code(rng, held)),
    "email": lambda rng, held: _text(_email(rng, held)),
    "phone": lambda rng, held: _text(_phone(rng, held)),
    "date": _date,
    "money": _money,
    "decimal": _decimal,
    "number": _decimal,
    "population": _big,
    "age": lambda rng, held: _count(rng, 1, 99),
    "count": lambda rng, held: _count(rng, 2, 30) if rng.random() < 0.6 else _count(rng, 2, 600),
    "score": lambda rng, held: (str(n := rng.randint(0, 9)), n, INTEGER),
    "year": lambda rng, held: (str(n := rng.randint(1850, 2030)), n, INTEGER),
    "temperature": lambda rng, held: (str(n := rng.randint(-25, 42)), n, INTEGER),
    "rating": lambda rng, held: (str(n := rng.choice((1, 2, 3, 4, 5, 4.5, 3.5, 8, 9, 7.5))), n, NUMBER),
    "list": lambda rng, held: _listed(
        rng, [open_or(rng, held, FOODS, 0.5) for _ in range(rng.randint(2, 5))]
    ),
    "names": lambda rng, held: _listed(rng, [words.first_name(rng, held) for _ in range(rng.randint(2, 5))]),
}


class Kind:
    """How a field is valued: one of ``VALUES``, ``yes(a/b)`` or ``enum(x=a/b; y=c)``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.options: dict[str, list[str]] = {}
        if text.startswith("yes("):
            true, false = text[4:-1].split("/")
            self.boolean: tuple[str, str] | None = (true, false)
        else:
            self.boolean = None
        if text.startswith("enum("):
            for entry in text[5:-1].split(";"):
                name, shown = entry.strip().split("=")
                self.options[name] = shown.split("/")

    def value(self, rng: random.Random, held: bool) -> Value:
        if self.boolean is not None:
            true = rng.random() < 0.5
            return self.boolean[0] if true else self.boolean[1], true, {"type": "boolean"}
        if self.options:
            name = rng.choice(list(self.options))
            return rng.choice(self.options[name]), name, {"enum": list(self.options), "type": "string"}
        return VALUES[self.text](rng, held)
