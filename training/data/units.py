"""Asking for unit conversions."""

from __future__ import annotations

from training.data import words
from training.data.speech import Intent
from training.data.world import FAILED, World

# Spellings of units by dimension; the first of a group is the common one. All of them are accepted by the tool.
UNITS: dict[str, list[tuple[str, ...]]] = {
    "length": [
        ("km", "kilometers", "kilometres", "kilometer"),
        ("m", "meters", "metres", "meter"),
        ("cm", "centimeters", "centimetres", "centimeter"),
        ("mm", "millimeters", "millimetres"),
        ("miles", "mile", "mi"),
        ("yards", "yard", "yd"),
        ("feet", "foot", "ft"),
        ("inches", "inch", "in"),
    ],
    "mass": [
        ("kg", "kilograms", "kilogram", "kilos"),
        ("g", "grams", "gram"),
        ("mg", "milligrams"),
        ("pounds", "pound", "lb", "lbs"),
        ("ounces", "ounce", "oz"),
        ("stone",),
        ("tonnes", "tonne"),
    ],
    "temperature": [
        ("celsius", "Celsius", "C"),
        ("fahrenheit", "Fahrenheit", "F"),
        ("kelvin", "Kelvin", "K"),
    ],
    "volume": [
        ("liters", "litres", "liter", "l"),
        ("ml", "milliliters", "millilitres"),
        ("gallons", "gallon"),
        ("pints", "pint"),
        ("cups", "cup"),
        ("tablespoons", "tablespoon"),
        ("teaspoons", "teaspoon"),
    ],
    "time": [
        ("seconds", "second", "s"),
        ("minutes", "minute", "min"),
        ("hours", "hour", "h"),
        ("days", "day"),
        ("weeks", "week"),
    ],
    "speed": [("km/h", "kph"), ("mph",), ("m/s",), ("knots", "knot")],
    "area": [
        ("square meters", "m2"),
        ("square feet", "ft2"),
        ("hectares", "hectare"),
        ("acres", "acre"),
        ("square kilometers", "km2"),
        ("square miles",),
    ],
    "data": [("bytes",), ("KB", "kilobytes"), ("MB", "megabytes"), ("GB", "gigabytes"), ("TB", "terabytes")],
}

CONVERT = Intent(
    "units.convert",
    imp="""
    convert {v} {a} [to|into] {b}
    convert {v} {a} in {b}
    [change|turn|switch|transform] {v} {a} [to|into] {b}
    express {v} {a} in {b}
    [give|show|write|state|report] {v} {a} [in|as] {b}
    [put|rewrite|restate] {v} {a} in {b}
    get me the {b} [in|for] {v} {a}
    [do|make] a conversion from {a} to {b} for {v}
    [do|make] a unit conversion: {v} {a} to {b}
    work out {v} {a} in {b}
    [calculate|compute|find] [how many|the number of] {b} [there are |]in {v} {a}
    translate {v} {a} [to|into] {b}
    switch {v} from {a} to {b}
    convert {v} from {a} to {b}
    [take|consider] {v} {a} and [convert it to|express it in|turn it into] {b}
    convert the value {v} from {a} into {b}
    figure out what {v} {a} [is|are|comes to] in {b}
    use {b} instead of {a} for {v} {a}
    convert to {b}: {v} {a}
    bring {v} {a} to {b}
    """,
    ask="""
    how many {b} [is|are] {v} {a}
    how many {b} are [there |]in {v} {a}
    how many {b} [do|would] {v} {a} [make|give|equal]
    how many {b} [go into|fit in|fit into|correspond to] {v} {a}
    [what is|what's|what are] {v} {a} in {b}
    what does {v} {a} [equal|come to|make|amount to] in {b}
    how much is {v} {a} in {b}
    how much [is|are] {v} {a} [when converted|converted] to {b}
    {v} {a} [is|are|equals|makes] how many {b}
    {v} {a} in {b}
    {v} {a} [to|into|as] {b}
    in {b}, how much is {v} {a}
    [if I have|having|given] {v} {a}, how many {b} [is that|do I have|do I get]
    what would {v} {a} be in {b}
    how [long|far|heavy|big|much] is {v} {a} in {b}
    what is {v} {a} [expressed|measured|given] in {b}
    {v} {a}, what is [that|it] in {b}
    how do I [write|express] {v} {a} in {b}
    which number of {b} [equals|matches] {v} {a}
    it says {v} {a} here, what is that in {b}
    """,
    thing="""
    {v} {a} in {b}
    {v} {a} to {b}
    {v} {a} [converted to|expressed in|measured in|as] {b}
    the number of {b} in {v} {a}
    the [equivalent|value|amount] of {v} {a} in {b}
    the {b} [equivalent|value|figure] [of|for] {v} {a}
    the conversion of {v} {a} [to|into] {b}
    [my|a] [measurement|reading|value] of {v} {a} in {b}
    the same as {v} {a} but in {b}
    how many {b} {v} {a} makes
    {v} {a} [=|equals] what in {b}
    """,
    clause="""
    how many {b} {v} {a} [is|are|makes|make]
    how many {b} there are in {v} {a}
    how much {v} {a} is in {b}
    what {v} {a} [is|comes to|would be|amounts to] in {b}
    how many {b} I [get from|have with] {v} {a}
    what [we|you|I] get when [we|you|I] convert {v} {a} to {b}
    how [long|much|big] {v} {a} [is|are] in {b}
    """,
    free="""
    [My recipe|The recipe|The sheet|The label|The sign|The manual|The box] says {v} {a}[,| but] I [need|want|use|think in|only know] {b}.
    [I walked|I bought|I have|We measured|It shows|There are] {v} {a}. [What is that in|How many] {b}[ is that|]?
    {v} {a} -> {b}
    {v} {a} = ? {b}
    [unit conversion|conversion]: {v} {a}, {b}
    [I only understand|I think in|We use] {b}. [What is|How much is] {v} {a}?
    [from|unit from] {a} to {b}: {v}
    [I got|I was given] {v} {a} and need it in {b}[, please|].
    [someone told me|they say|it says] it's {v} {a}, [but what's that|how much is that|what is it] in {b}?
    """,
)
AGAIN = Intent(
    "units.again",
    free="""
    [and|what about|how about|now|same for|also] {v}[ {a}|]?
    [and|also|then] {v} {a}[?|, please]
    [do|try] [the same|it] [for|with] {v}[ {a}|].
    {v}?
    [now|next|and now] {v} [please|]
    what if it [is|was|were] {v}?
    """,
)
AGAIN_UNIT = Intent(
    "units.again_unit",
    free="""
    and in {b}?
    [what about|how about|also in|now in|the same in] {b}?
    in {b}[ please|, please|]?
    [and|now] [convert|express|give] [it|that] in {b}[.|, please.|?]
    [can I have|give me|show] [it|that] in {b} [too|as well|instead][.|?]
    [I also need|I want] {b}[.|!]
    """,
)
ANSWERS = ("{v} {a} is {r}.", "{v} {a} = {r}.", "That is {r}.", "{v} {a} is {r}.")


def value(world: World, dimension: str) -> tuple[str, int | float]:
    """A value as spelled, and as a number."""
    number = words.number(world.rng, world.held, negative=0.25 if dimension == "temperature" else 0.0)
    return words.spell(world.rng, number), number


def pair(world: World) -> tuple[str, str, str]:
    """A dimension and two different units of it as somebody may spell them."""
    rng = world.rng
    dimension = (
        rng.choice(list(UNITS))
        if rng.random() < 0.4
        else rng.choice(("length", "mass", "temperature", "volume"))
    )
    first, second = rng.sample(UNITS[dimension], 2)
    return dimension, spelling(world, first), spelling(world, second)


def spelling(world: World, unit: tuple[str, ...]) -> str:
    return unit[0] if world.rng.random() < 0.45 else world.rng.choice(unit)


def plan(world: World, spelled: str, source: str, target: str) -> str:
    return f"Convert {spelled} {source} to {target} with {world.title('convert_units')}."


def convert(world: World) -> None:
    """One conversion, sometimes with a follow-up."""
    rng = world.rng
    dimension, source, target = pair(world)
    wrong = rng.random()
    if wrong < 0.03:
        source = words.pseudo(rng, world.held)
    elif wrong < 0.05:
        target = words.pseudo(rng, world.held)
    elif wrong < 0.07:
        target = pair(world)[2]
    spelled, number = value(world, dimension)
    world.user(CONVERT.say(rng, {"v": spelled, "a": source, "b": target}, world.held))
    ask(world, spelled, number, source, target)
    roll = 1 if world.errors[0] else rng.random()
    if roll < 0.12:
        spelled, number = value(world, dimension)
        world.user(AGAIN.say(rng, {"v": spelled, "a": source}, world.held))
        ask(world, spelled, number, source, target)
    elif roll < 0.24:
        target = spelling(world, rng.choice(UNITS[dimension]))
        world.user(AGAIN_UNIT.say(rng, {"b": target}, world.held))
        ask(world, spelled, number, source, target)


def ask(world: World, spelled: str, number: int | float, source: str, target: str) -> None:
    (result,) = world.call(
        plan(world, spelled, source, target),
        ("convert_units", {"value": number, "from_unit": source, "to_unit": target}),
    )
    if world.errors[0]:
        world.reply(result, FAILED)
        return
    world.reply(world.rng.choice(ANSWERS).format(v=spelled, a=source, r=result))
