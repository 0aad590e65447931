"""Open-vocabulary values: words, names, codes, phrases, numbers and dates to be copied, looked up or computed with.

Every generator takes the side of the split (``held``) and gives only values of that side, so that no
held-out value ever occurs in a training document as a value.
"""

from __future__ import annotations

import random
import re
from datetime import date, timedelta
from functools import cache

from training.data.names import CITIES as CITIES
from training.data.names import CODAS, FIRST, LAST, MONTHS, NUMBER_WORDS, ONSETS, TITLE_NOUNS, VOWELS
from training.data.names import WEEKDAYS as WEEKDAYS
from training.data.split import value_held

SPOKEN = {number: word for word, number in NUMBER_WORDS.items()}

# Words that nobody wants to read in an example, by their definitions and by their stems.
RUDE_MEANING = re.compile(
    r"offensive|slur|obscene|vulgar|derogat|disparag|insult|contempt|taboo|sex|genital|prostitut|erotic|penis|vagina"
    r"|coit|copulat|masturb|\brape|nazi|semen|feces|buttock|pornograph|excret|thoroughly disliked|subnormal|untidy woman"
)
RUDE = re.compile(
    r"nigg|negro|fuck|cunt|shit|bitch|whore|slut|piss|fagg|dyke|spic$|kike|retard|wank|rapist|bastard|porn|terroris"
)

BENT_PART = 0.15
_lemmas: list[str] | None = None
_pieces: list[str] | None = None


@cache
def glosses() -> list[tuple[str, str]]:
    """``(lemma, first definition)`` of the packaged dictionary, lower-case one-word lemmas first come."""
    from training.data.shipped import dictionary_entries

    return dictionary_entries()


def lemmas() -> list[str]:
    """English words (letters only, 3 to 12 of them) of the packaged dictionary."""
    global _lemmas
    if _lemmas is None:
        _lemmas = [
            word
            for word, text in glosses()
            if word.isalpha()
            and word.isascii()
            and 3 <= len(word) <= 12
            and not RUDE_MEANING.search(text)
            and not RUDE.search(word)
        ]
    return _lemmas


def use_pieces(pieces: list[str]) -> None:
    """Sets the tokenizer's letter-only pieces from which ``piece_word`` builds words."""
    global _pieces
    _pieces = pieces


def of(held: bool, rng: random.Random, make: object, *args: object) -> str:
    """Calls ``make(rng, *args)`` until its value lies on the side ``held``."""
    for _ in range(400):
        value: str = make(rng, *args)  # type: ignore[operator]
        if value_held(value) == held:
            return value
    raise ValueError(f"No value on this side of the split in 400 draws of {make!r}.")


def pick(rng: random.Random, values: list[str] | tuple[str, ...], held: bool) -> str:
    """One of ``values`` on the side ``held``; the list must hold both sides."""
    for _ in range(400):
        value = values[int(rng.random() * len(values))]
        if value_held(value) == held:
            return value
    raise ValueError("The list holds no value on this side of the split.")


def _pseudo(rng: random.Random) -> str:
    count = 1 + (rng.random() < 0.7) + (rng.random() < 0.15)
    return "".join(
        ONSETS[int(rng.random() * len(ONSETS))]
        + VOWELS[int(rng.random() * len(VOWELS))]
        + CODAS[int(rng.random() * len(CODAS))]
        for _ in range(count)
    )


def _piece_word(rng: random.Random) -> str:
    if not _pieces:
        return _pseudo(rng)
    word = ""
    while len(word) < 3:
        word = "".join(_pieces[int(rng.random() * len(_pieces))] for _ in range(1 + (rng.random() < 0.7)))
    return word.lower()


def _raw_word(rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.4:
        return _pseudo(rng)
    if roll < 0.6:
        return _piece_word(rng)
    words = lemmas()
    return words[int(rng.random() * len(words))]


def _bent(rng: random.Random) -> str:
    """The beginning of an English word that goes on in another way: it must be copied, not remembered."""
    known = lemmas()
    made = ""
    while not made or RUDE.search(made):
        start = known[int(rng.random() * len(known))]
        start = start[: 2 + int(rng.random() * (len(start) - 2))]
        made = start + (_piece_word(rng) if rng.random() < 0.4 else _pseudo(rng)[: 2 + int(rng.random() * 5)])
    return made


def _name(rng: random.Random, held: bool, known: list[str] | tuple[str, ...]) -> str:
    """A known name, one that means nothing or (in training) a known one with a slip."""
    roll = rng.random()
    if roll < 0.5:
        return pick(rng, known, held)
    if not held and roll < 0.62:
        return of(held, rng, _bent_name, known)
    return of(held, rng, _pseudo).capitalize()


def _bent_name(rng: random.Random, known: list[str] | tuple[str, ...]) -> str:
    name = known[int(rng.random() * len(known))]
    at = 1 + int(rng.random() * (len(name) - 1))
    kind = rng.random()
    if kind < 0.3:
        return name[:at] + name[at + 1 :] if len(name) > 3 else name + "a"
    if kind < 0.6:
        return name[:at] + VOWELS[int(rng.random() * len(VOWELS))] + name[at:]
    return name[:at] + _pseudo(rng)


def word(rng: random.Random, held: bool = False) -> str:
    """A lower-case word: pseudo-word, random pieces of the tokenizer, English, or (in training) English bent."""
    if not held and rng.random() < BENT_PART:
        return of(held, rng, _bent)
    return of(held, rng, _raw_word)


def pseudo(rng: random.Random, held: bool = False) -> str:
    """A lower-case word that means nothing."""
    return of(held, rng, _pseudo)


def english(rng: random.Random, held: bool = False) -> str:
    """A lower-case English word of the packaged dictionary."""
    return pick(rng, lemmas(), held)


def first_name(rng: random.Random, held: bool = False) -> str:
    return _name(rng, held, FIRST)


def last_name(rng: random.Random, held: bool = False) -> str:
    return _name(rng, held, LAST)


def full_name(rng: random.Random, held: bool = False) -> str:
    return f"{first_name(rng, held)} {last_name(rng, held)}"


def city(rng: random.Random, held: bool = False) -> str:
    return _name(rng, held, CITIES)


def _code(rng: random.Random) -> str:
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    pattern = rng.choice(
        ("A-9999", "AA99", "A9A9A9", "AAA-999", "9999", "999-999", "AA-99-A", "99999", "#9999", "AAA/99")
    )
    text = "".join(
        rng.choice(letters) if c == "A" else rng.choice("0123456789") if c == "9" else c for c in pattern
    )
    return text.lower() if rng.random() < 0.2 else text


def code(rng: random.Random, held: bool = False) -> str:
    """An order number, ticket, key or the like."""
    return of(held, rng, _code)


def phrase(rng: random.Random, held: bool = False, most: int = 4) -> str:
    """One to ``most`` words; the first one decides the side of the split."""
    count = 1 + int(rng.random() * most)
    return " ".join(word(rng, held) for _ in range(count))


def title(rng: random.Random, held: bool = False) -> str:
    """A short title as a person would give it to a note, a file or an event."""
    roll = rng.random()
    text = (
        phrase(rng, held, 3)
        if roll < 0.55
        else f"{first_name(rng, held)} {word(rng, held)}"
        if roll < 0.7
        else (f"{word(rng, held)} {rng.choice(TITLE_NOUNS)}")
    )
    if roll > 0.92:
        text = code(rng, held)
    return text[:1].upper() + text[1:] if rng.random() < 0.3 else text


def integer(rng: random.Random, held: bool = False, low: int = 0, high: int = 0) -> int:
    """A whole number of a random size, or between ``low`` and ``high``; short ones are on both sides."""
    for _ in range(400):
        if high:
            number = rng.randint(low, high)
        else:
            size = rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 5, 6))
            number = rng.randint(10 ** (size - 1), 10**size - 1)
        if number < 100 or value_held(str(number)) == held:
            return number
    return number


def decimal(rng: random.Random, held: bool = False) -> float:
    """A number with one to three decimals."""
    for _ in range(400):
        places = rng.choice((1, 1, 2, 2, 3))
        number = round(rng.uniform(0, 10 ** rng.choice((1, 2, 3))), places)
        if value_held(repr(number)) == held:
            return number
    return number


def number(rng: random.Random, held: bool = False, negative: float = 0.06) -> int | float:
    """A whole number or a decimal; sometimes negative."""
    value: int | float = integer(rng, held) if rng.random() < 0.65 else decimal(rng, held)
    return -value if rng.random() < negative else value


def spell(rng: random.Random, value: int | float) -> str:
    """How a person may write ``value``: digits, with a thousands comma, or (small ones) as a word."""
    if isinstance(value, int):
        if value in SPOKEN and rng.random() < 0.25:
            return SPOKEN[value]
        if value >= 1000 and rng.random() < 0.35:
            return f"{value:,}"
        return str(value)
    return f"{value:,}" if value >= 1000 and rng.random() < 0.3 else repr(value)


def day(rng: random.Random, held: bool = False) -> date:
    """A day between 1900 and 2099, mostly near the present."""
    for _ in range(400):
        if rng.random() < 0.75:
            value = date(2015, 1, 1) + timedelta(days=int(rng.random() * 6500))
        else:
            value = date(1900, 1, 1) + timedelta(days=int(rng.random() * 73000))
        if value_held(value.isoformat()) == held:
            return value
    return value


def spell_day(rng: random.Random, value: date) -> str:
    """How a person may write a date: mostly ISO, else with the month's name."""
    roll = rng.random()
    if roll < 0.55:
        return value.isoformat()
    month = MONTHS[value.month - 1]
    if roll < 0.7:
        return f"{value.day} {month} {value.year}"
    if roll < 0.85:
        return f"{month} {value.day}, {value.year}"
    if roll < 0.92:
        return f"{month} {ordinal(value.day)}, {value.year}"
    return f"{ordinal(value.day)} of {month} {value.year}"


def parse_day(spelled: str) -> date:
    """The day that ``spell_day`` wrote."""
    if spelled[:4].isdigit():
        return date.fromisoformat(spelled)
    parts = spelled.replace(",", "").replace(" of ", " ").split(" ")
    month = next(part for part in parts if part in MONTHS)
    numbers = [int("".join(filter(str.isdigit, part))) for part in parts if part != month]
    return date(numbers[1], MONTHS.index(month) + 1, numbers[0])


def ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def clock(rng: random.Random, held: bool = False) -> str:
    """A time of day, ``HH:MM``."""
    minute = rng.choice((0, 15, 30, 45, rng.randrange(60), rng.randrange(60)))
    return f"{rng.randrange(24):02d}:{minute:02d}"
