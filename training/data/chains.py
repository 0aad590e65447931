"""Tasks of several calls: the second takes the first one's result, or several calls go out at once; errors and retries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from kimi_sdk.tools.builtin import ORDER
from training.data import arithmetic, calendar, lookups, units, words
from training.data.chain_frames import (
    BOTH,
    CALC_CONVERT,
    COMPARE,
    CONVERT_CALC,
    CONVERT_SPLIT,
    DAYS_CALC,
    DAYS_UNITS,
    DENSITY,
    FACT_CALC,
    PAIR_UNITS,
    SHIFT_WEEKDAY,
    TWO_FACTS,
)
from training.data.chains_kept import file_chain, note_calc, result_note, search_read, settle
from training.data.compose import composed
from training.data.world import World

FACT_OPS = {
    "*": ("multiply it by", "times"),
    "/": ("divide it by", "divided by"),
    "+": ("add", "plus"),
    "-": ("subtract", "minus"),
}


def head(result: str) -> str:
    """The number that a result begins with."""
    return result.split(" ")[0]


def calc_convert(world: World) -> None:
    rng = world.rng
    typed, exact = arithmetic.spelled_expression(world)
    _, source, target = units.pair(world)
    world.user(CALC_CONVERT.say(rng, {"e": typed, "a": source, "b": target}, world.held))
    first = settle(
        world,
        ("calculate", {"expression": exact}),
        f"First calculate {exact}, then convert from {source} to {target}.",
    )
    if first is None:
        return
    value = float(first) if "." in first else int(first)
    last = settle(
        world,
        ("convert_units", {"value": value, "from_unit": source, "to_unit": target}),
        f"Now convert {first} {source} to {target}.",
    )
    if last is not None:
        world.reply(f"{exact} = {first}, and {first} {source} is {last}.")


def convert_calc(world: World) -> None:
    rng = world.rng
    dimension, source, target = units.pair(world)
    spelled, number = units.value(world, dimension)
    count = rng.randint(2, 60)
    split = rng.random() < 0.35
    intent, sign, word = (CONVERT_SPLIT, "/", "divide by") if split else (CONVERT_CALC, "*", "multiply by")
    world.user(intent.say(rng, {"v": spelled, "a": source, "b": target, "n": str(count)}, world.held))
    first = settle(
        world,
        ("convert_units", {"value": number, "from_unit": source, "to_unit": target}),
        f"First convert {spelled} {source} to {target}, then {word} {count}.",
    )
    if first is None:
        return
    expression = f"{head(first)} {sign} {count}"
    last = settle(world, ("calculate", {"expression": expression}), f"Now calculate {expression}.")
    if last is not None:
        world.reply(f"{spelled} {source} is {first}, and {expression} = {last}.")


def days_calc(world: World) -> None:
    rng = world.rng
    spelled, iso, start = calendar.dated(world)
    end = start + timedelta(days=rng.randint(2, 400))
    until = words.spell_day(rng, end)
    if rng.random() < 0.5:
        count = str(words.number(rng, world.held, negative=0))
        world.user(DAYS_CALC.say(rng, {"d": spelled, "f": until, "n": count}, world.held))
        plan = f"First the days from {iso} to {end.isoformat()}, then times {count}."
    else:
        target = rng.choice(("hours", "weeks", "minutes", "seconds"))
        world.user(DAYS_UNITS.say(rng, {"d": spelled, "f": until, "b": target}, world.held))
        count = ""
        plan = f"First the days from {iso} to {end.isoformat()}, then convert them to {target}."
    first = settle(world, ("days_between", {"start": iso, "end": end.isoformat()}), plan)
    if first is None:
        return
    if count:
        expression = f"{first} * {count}"
        last = settle(world, ("calculate", {"expression": expression}), f"Now calculate {expression}.")
        if last is not None:
            world.reply(f"It is {first} days, and {expression} = {last}.")
        return
    last = settle(
        world,
        ("convert_units", {"value": int(first), "from_unit": "days", "to_unit": target}),
        f"Now convert {first} days to {target}.",
    )
    if last is not None:
        world.reply(f"It is {first} days, which is {last}.")


def shift_weekday(world: World) -> None:
    rng = world.rng
    spelled, iso, _ = calendar.dated(world)
    span, count, unit = calendar.amount(world)
    side = rng.choice(("after", "after", "before", "from"))
    signed = -count if side == "before" else count
    world.user(SHIFT_WEEKDAY.say(rng, {"d": spelled, "n": span, "s": side}, world.held))
    first = settle(
        world,
        ("shift_date", {"date": iso, "amount": signed, "unit": unit}),
        f"First the date {span} {side} {iso}, then its weekday.",
    )
    if first is None:
        return
    last = settle(world, ("day_of_week", {"date": first}), f"Now the weekday of {first}.")
    if last is not None:
        world.reply(f"It is {first}, a {last}.")


def fact_calc(world: World) -> None:
    rng = world.rng
    fact = rng.choice(("population", "area"))
    country = lookups.country(world)
    sign = rng.choice("*/+-")
    count = words.integer(rng, world.held, 2, 90) if sign in "*/" else words.integer(rng, world.held)
    order, way = FACT_OPS[sign]
    slots = {"f": fact, "c": country, "n": str(count), "o": order, "w": way}
    world.user(FACT_CALC.say(rng, slots, world.held))
    first = settle(
        world,
        ("country_facts", {"country": country, "fact": fact}),
        f"First the {fact} of {country}, then {way} {count}.",
    )
    if first is None:
        return
    expression = f"{head(first)} {sign} {count}"
    last = settle(world, ("calculate", {"expression": expression}), f"Now calculate {expression}.")
    if last is not None:
        world.reply(f"The {fact} of {country} is {first}, and {expression} = {last}.")


def two_facts(world: World) -> None:
    """Two lookups at once, then a sum, a density or a comparison."""
    rng = world.rng
    country = lookups.country(world)
    if rng.random() < 0.25:
        world.user(DENSITY.say(rng, {"c": country}, world.held))
        results = world.call(
            f"Look up population and area of {country}, then divide.",
            ("country_facts", {"country": country, "fact": "population"}),
            ("country_facts", {"country": country, "fact": "area"}),
        )
        if any(world.errors):
            world.reply(
                " ".join(r for r, e in zip(results, world.errors, strict=True) if e),
                "A lookup failed; tell the user.",
            )
            return
        expression = f"{head(results[0])} / {head(results[1])}"
        last = settle(world, ("calculate", {"expression": expression}), f"Now calculate {expression}.")
        if last is not None:
            world.reply(f"{country} has about {last} people per square km.")
        return
    other = lookups.country(world, exclude=country)
    fact = rng.choice(("population", "area"))
    compare = rng.random() < 0.3
    fact = "area" if compare else fact
    intent = COMPARE if compare else TWO_FACTS
    world.user(intent.say(rng, {"c": country, "k": other, "f": fact}, world.held))
    results = world.call(
        f"Look up the {fact} of {country} and of {other}, then {'compare' if compare else 'add'}.",
        ("country_facts", {"country": country, "fact": fact}),
        ("country_facts", {"country": other, "fact": fact}),
    )
    if any(world.errors):
        world.reply(
            " ".join(r for r, e in zip(results, world.errors, strict=True) if e),
            "A lookup failed; tell the user.",
        )
        return
    one, two = head(results[0]), head(results[1])
    if compare:
        first = float(one) > float(two)
        world.reply(
            f"{country if first else other} is larger: {country} has {results[0]}, {other} has {results[1]}.",
            f"{one} is {'more' if first else 'less'} than {two}.",
        )
        return
    last = settle(world, ("calculate", {"expression": f"{one} + {two}"}), f"Now calculate {one} + {two}.")
    if last is not None:
        world.reply(f"{one} + {two} = {last}.")


def both(world: World) -> None:
    """The same lookup or conversion for two things, in one message."""
    rng = world.rng
    if world.has("country_facts") and (rng.random() < 0.6 or not world.has("convert_units")):
        fact = rng.choice(("capital", "currency", "region", "languages", "population", "area"))
        country = lookups.country(world)
        other = lookups.country(world, exclude=country)
        world.user(BOTH.say(rng, {"c": country, "k": other, "f": fact}, world.held))
        results = world.call(
            f"The {fact} of {country} and of {other}: two calls.",
            ("country_facts", {"country": country, "fact": fact}),
            ("country_facts", {"country": other, "fact": fact}),
        )
        said = [
            result if failed else lookups.FACT_ANSWERS[fact].format(c=name, r=result)
            for name, result, failed in zip((country, other), results, world.errors, strict=True)
        ]
        world.reply(" ".join(said))
        return
    dimension, source, target = units.pair(world)
    (one, first), (two, second) = units.value(world, dimension), units.value(world, dimension)
    third = units.spelling(world, rng.choice(units.UNITS[dimension]))
    message = PAIR_UNITS.say(rng, {"v": one, "u": two, "a": source, "b": target, "k": "\0"}, world.held)
    if "\0" in message:
        message, two, second = message.replace("\0", third), one, first
    else:
        third = target
    world.user(message)
    results = world.call(
        f"Convert {one} {source} to {target} and {two} {source} to {third}: two calls.",
        ("convert_units", {"value": first, "from_unit": source, "to_unit": target}),
        ("convert_units", {"value": second, "from_unit": source, "to_unit": third}),
    )
    world.reply(
        f"{one} {source} is {results[0]} and {two} {source} is {results[1]}."
        if not any(world.errors)
        else results[0]
    )


CHAINS: tuple[tuple[Callable[[World], None], tuple[str, ...]], ...] = (
    (calc_convert, ("calculate", "convert_units")),
    (convert_calc, ("convert_units", "calculate")),
    (convert_calc, ("convert_units", "calculate")),
    (days_calc, ("days_between", "calculate", "convert_units")),
    (shift_weekday, ("shift_date", "day_of_week")),
    (fact_calc, ("country_facts", "calculate")),
    (two_facts, ("country_facts", "calculate")),
    (both, ("country_facts",)),
    (both, ("convert_units",)),
    (result_note, ("save_note", "calculate")),
    (result_note, ("save_note", "country_facts", "convert_units")),
    (result_note, ("save_note", "define_word")),
    (note_calc, ("read_note", "calculate")),
    (note_calc, ("read_note", "define_word", "save_note")),
    (file_chain, ("read_file", "calculate")),
    (file_chain, ("read_file", "save_note")),
    (search_read, ("search_files", "read_file")),
    (composed, ("calculate", "convert_units")),
    (composed, ("calculate", "convert_units", "save_note")),
    (composed, ("calculate", "country_facts")),
    (composed, ("calculate", "country_facts", "convert_units")),
    (composed, ("calculate", "days_between", "convert_units")),
    (composed, ("shift_date", "day_of_week", "days_between")),
    (composed, ("read_note", "calculate", "define_word")),
    (composed, ("read_file", "calculate", "define_word", "save_note")),
    (composed, ("define_word", "country_facts", "save_note")),
    (
        composed,
        (
            "calculate",
            "convert_units",
            "days_between",
            "shift_date",
            "day_of_week",
            "country_facts",
            "save_note",
        ),
    ),
    (composed, tuple(ORDER)),
)
