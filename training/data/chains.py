"""Tasks of several calls: the second takes the first one's result, or several calls go out at once; errors and retries."""

from __future__ import annotations

import re
from collections.abc import Callable

from kimi_sdk.tools.builtin import ORDER
from training.data import arithmetic, calendar, folder, lookups, memory, units, words
from training.data.compose import composed
from training.data.speech import Intent
from training.data.world import World

CALC_CONVERT = Intent(
    "chain.calc_convert",
    imp="""
    [calculate|compute|work out] {e} and [convert|change] [the result|it|that] from {a} [to|into] {b}
    [add up|calculate] {e} {a} and [give|express|show] [it|the result|the total] in {b}
    [calculate|compute] {e}, then convert [that|the result|it] from {a} to {b}
    first [compute|calculate] {e}, then [turn|convert] [that many|the result in] {a} into {b}
    """,
    ask="""
    how [many|much] {b} [is|are] {e} {a}
    what is {e} {a} in {b}
    [what is|what's] {e}, and how many {b} are that many {a}
    if I [calculate|take] {e} {a}, how many {b} [is that|are that]
    """,
    free="""
    I [walked|measured|used|bought|counted] {e} {a} [in total|altogether]. How [much|many] is that in {b}?
    {e} {a}, in {b}?
    {e} = ? And the result is in {a}; [convert it to|what is it in] {b}?
    """,
)
CONVERT_CALC = Intent(
    "chain.convert_calc",
    imp="""
    convert {v} {a} to {b} and [multiply|then multiply] [the result|it|that] by {n}
    [convert|change] {v} {a} into {b}, then multiply by {n}
    express {v} {a} in {b} and take [the result|it] times {n}
    turn {v} {a} into {b}, [then|and] multiply [that|the result] by {n}
    """,
    ask="""
    [what is|how much is] {n} times {v} {a} in {b}
    if one [box|trip|bottle|lap|bag] is {v} {a}, how many {b} are {n} of them
    how many {b} are {n} times {v} {a}
    what do I get [when|if] I convert {v} {a} to {b} and multiply by {n}
    """,
    free="""
    One [box|bag|lap|piece|trip] [is|has|measures] {v} {a}. How [many|much] {b} are {n} of them?
    I do {v} {a} [a day|each day|every time]. How many {b} is that in {n} [days|times]?
    {v} {a} to {b}, times {n}?
    """,
)
CONVERT_SPLIT = Intent(
    "chain.convert_split",
    imp="""
    convert {v} {a} to {b} and divide [the result|it|that] by {n}
    [convert|change] {v} {a} into {b}, then [divide|split] [it |]by {n}
    turn {v} {a} into {b} and split [that|the result] into {n} parts
    """,
    ask="""
    if {n} people share {v} {a}, how many {b} does each get
    how many {b} [is|are] {v} {a} divided by {n}
    what do I get when I convert {v} {a} to {b} and divide by {n}
    """,
    free="""
    {n} [people|friends|kids] share {v} {a}. How many {b} [does each get|for each]?
    [I split|We divide] {v} {a} into {n} parts. How many {b} is one [part|share]?
    """,
)
DAYS_CALC = Intent(
    "chain.days_calc",
    imp="""
    count the days [from|between] {d} [to|and] {f} and multiply [the result|that|them] by {n}
    [find|compute|calculate] the days between {d} and {f}, then multiply [it |them |]by {n}
    [find out|work out] what {n} [a day|per day] [is|makes|costs] from {d} to {f}
    """,
    ask="""
    how much do I [spend|save|pay|earn] from {d} to {f} at {n} [a day|per day]
    if I [save|spend|earn|eat|pay] {n} a day from {d} [to|until] {f}, how much is that[ in total|]
    what is {n} times the number of days between {d} and {f}
    """,
    free="""
    [The hotel|The car|The room] costs {n} [a day|per day|a night]. What [is the cost|do I pay] from {d} to {f}?
    I [run|walk|read|save] {n} [km|pages|euros|dollars] [a day|every day] from {d} to {f}. [How much|How many] [is that|in total]?
    """,
)
DAYS_UNITS = Intent(
    "chain.days_units",
    imp="""
    [find|count|compute] the days between {d} and {f} and convert [them|the result] to {b}
    [tell me|work out] the time from {d} to {f} in {b}
    """,
    ask="""
    how many {b} are [there |]between {d} and {f}
    how many {b} is it from {d} [to|until] {f}
    what is the time from {d} to {f} in {b}
    how long is it in {b} from {d} until {f}
    """,
    thing="the number of {b} between {d} and {f}\nthe time between {d} and {f} in {b}",
    clause="how many {b} there are between {d} and {f}\nhow many {b} it is from {d} to {f}",
)
SHIFT_WEEKDAY = Intent(
    "chain.shift_weekday",
    imp="""
    [find|tell me] the weekday {n} {s} {d}
    [find|tell me|work out] [what|which] day of the week [is|it is] {n} {s} {d}
    [take|compute|find] the date {n} {s} {d} and [tell me its weekday|name its weekday|say which weekday it is]
    """,
    ask="""
    [what|which] [weekday|day of the week] is {n} {s} {d}
    on [what|which] [weekday|day of the week] [is|does] {n} {s} {d} [fall|]
    [what|which] weekday will it be {n} {s} {d}
    """,
    thing="the [weekday|day of the week] {n} {s} {d}",
    clause="[what|which] [weekday|day of the week] {n} {s} {d} is",
    free="{d}, {n} {s} that: [which|what] [weekday|day of the week]?\n[The date|It] is {n} {s} {d}. [Which|What] weekday is that?",
)
FACT_CALC = Intent(
    "chain.fact_calc",
    imp="""
    [find|look up|take] the {f} of {c} and {o} {n}
    [look up|get] the {f} of {c}, then {o} {n}
    """,
    ask="""
    [what is|how much is] the {f} of {c} {w} {n}
    if I take the {f} of {c} {w} {n}, what [is it|do I get]
    """,
    thing="the {f} of {c} {w} {n}",
    free="{f} of {c} {w} {n}?\n[Take|I need] the {f} of {c}. [What is it|How much is that|Now] {w} {n}?",
)
FACT_OPS = {
    "*": ("multiply it by", "times"),
    "/": ("divide it by", "divided by"),
    "+": ("add", "plus"),
    "-": ("subtract", "minus"),
}
TWO_FACTS = Intent(
    "chain.two_facts",
    imp="""
    [add|sum up|sum] the {f}s of {c} and {k}
    [find|compute|calculate] the [total|combined|sum of the] {f} of {c} and {k}
    [look up|find] the {f} of {c} and of {k} and add them
    """,
    ask="""
    what is the [total|combined] {f} of {c} and {k}
    what is the {f} of {c} and {k} [together|combined|in total]
    how much is the {f} of {c} plus the {f} of {k}
    what do the {f}s of {c} and {k} add up to
    """,
    thing="the [total|combined] {f} of {c} and {k}\nthe {f} of {c} and {k} [together|combined]",
    clause="what the [total|combined] {f} of {c} and {k} is\nhow much the {f}s of {c} and {k} are together",
    free="{f} of {c} + {f} of {k}?\nadd the {f}s: {c}, {k}",
)
DENSITY = Intent(
    "chain.density",
    imp="[find|compute|calculate|work out] the population density of {c}\n[tell me|work out] how densely populated {c} is",
    ask="what is the population density of {c}\nhow many people live [on|per] [a|each|one] square kilometer in {c}\nhow densely populated is {c}",
    thing="the population density of {c}\nthe people per square kilometer in {c}",
    clause="how densely populated {c} is\nhow many people per square kilometer {c} has",
)
COMPARE = Intent(
    "chain.compare",
    ask="""
    which [country |]is [bigger|larger], {c} or {k}
    is {c} [bigger|larger] than {k}
    which of {c} and {k} is [bigger|larger]
    """,
    imp="compare the area of {c} and {k}\n[find out|tell me] which is [bigger|larger], {c} or {k}",
    clause="which is [bigger|larger], {c} or {k}\nwhether {c} is [bigger|larger] than {k}",
)
BOTH = Intent(
    "chain.both",
    imp="""
    [find|look up|get|tell me|give me] the {f} of {c} and [of |]{k}
    [find|look up|tell me] the {f} of both {c} and {k}
    [look up|compare] the {f} of {c} and the {f} of {k}
    """,
    ask="""
    what is the {f} of {c} and [of |]{k}
    what are the {f}s of {c} and {k}
    what is the {f} of {c} and what is the {f} of {k}
    """,
    thing="the {f} of {c} and [of |]{k}\nthe {f}s of {c} and {k}\nthe {f} of both {c} and {k}",
    free="{f} of {c} and {k}?\n{c} and {k}: {f}?\n{f}: {c}, {k}",
)
PAIR_UNITS = Intent(
    "chain.pair_units",
    imp="convert {v} {a} and {u} {a} to {b}\nconvert both {v} and {u} {a} [to|into] {b}\nconvert {v} {a} to {b} and to {k}",
    ask="how many {b} are {v} {a} and {u} {a}\nwhat are {v} and {u} {a} in {b}",
    free="{v} {a} and {u} {a} in {b}?\n{v} and {u} {a} to {b}",
)
RESULT_NOTE = Intent(
    "chain.result_note",
    imp="""
    {x} and [save|store|keep|write down] [the result|it|that|the answer] [as|under|in] [a note called |the note |a note named |]{t}
    {x}, then [save|store|keep|note] [the result|it|that] [as|under] {t}
    {x} and [make|create] a note {t} with [the result|it|the answer]
    {x}. [Save|Store|Keep] [the result|it|that] [as|under|in a note called] {t}
    """,
)
NOTE_CALC = Intent(
    "chain.note_calc",
    imp="""
    [read|open|take] [the|my] note {t} and [multiply|then multiply] [the number|it|what it says] by {n}
    multiply the number in [the|my] note {t} by {n}
    [take|use] the number [in|from] [the|my] note {t} times {n}
    """,
    ask="what is {n} times the number in [the|my] note {t}\nhow much is the number in [my|the] note {t} times {n}",
    thing="{n} times the number in [the|my] note {t}",
)
FILE_CALC = Intent(
    "chain.file_calc",
    imp="""
    [read|open] {t} and [calculate|compute|work out|solve] [what it says|the expression in it|it]
    [calculate|compute|evaluate] the expression in [the file |]{t}
    [solve|work out] what is [written |]in {t}
    """,
    ask="what is the result of the expression in [the file |]{t}\nwhat does the [expression|formula|calculation] in {t} give",
    thing="the [result|value] of the [expression|formula] in [the file |]{t}",
)
FILE_NOTE = Intent(
    "chain.file_note",
    imp="""
    [read|open] [the file |]{p} and [save|store|keep] [its content|what it says|the text|it] [as|in|under] [a note called |the note |]{t}
    [copy|put] the [content|text] of [the file |]{p} into [a|the] note [called |named |]{t}
    make a note {t} from [the file |]{p}
    """,
)
CAPITAL_DEFINE = Intent(
    "chain.note_define",
    imp="""
    [read|open] [the|my] note {t} and define [the word in it|the word|it]
    define the word in [the|my] note {t}
    look up the word [that is |]in [the|my] note {t}
    """,
    ask="what does the word in [the|my] note {t} mean",
)


def settle(world: World, call: tuple[str, dict[str, object]], think: str, fail: bool = True) -> str | None:
    """One call of a chain; on an error says so and gives ``None``."""
    (result,) = world.call(think, call)
    if world.errors[0]:
        if fail:
            world.reply(result, "The tool reports a problem; tell the user.")
        return None
    return result


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
    end = start + calendar.timedelta(days=rng.randint(2, 400))
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


def result_note(world: World) -> None:
    """A result is kept as a note."""
    rng = world.rng
    title = words.title(rng, world.held)
    kinds: list[Callable[[], tuple[str, tuple[str, dict[str, object]], str]]] = []
    if world.has("calculate"):
        typed, exact = arithmetic.spelled_expression(world)
        verb = rng.choice(("calculate", "compute", "work out"))
        kinds.append(lambda: (f"{verb} {typed}", ("calculate", {"expression": exact}), f"calculate {exact}"))
    if world.has("country_facts"):
        country, fact = lookups.country(world), rng.choice(("capital", "currency", "population", "area"))
        find = rng.choice(("find", "look up", "get"))
        kinds.append(
            lambda: (
                f"{find} the {fact} of {country}",
                ("country_facts", {"country": country, "fact": fact}),
                f"the {fact} of {country}",
            )
        )
    if world.has("convert_units"):
        dimension, source, target = units.pair(world)
        spelled, number = units.value(world, dimension)
        kinds.append(
            lambda: (
                f"convert {spelled} {source} to {target}",
                ("convert_units", {"value": number, "from_unit": source, "to_unit": target}),
                f"convert {spelled} {source} to {target}",
            )
        )
    if world.has("define_word"):
        term = words.english(rng, world.held)
        kinds.append(
            lambda: (
                f"{rng.choice(('define', 'look up'))} {term}",
                ("define_word", {"word": term}),
                f"the meaning of '{term}'",
            )
        )
    request, call, plan = rng.choice(kinds)()
    world.user(RESULT_NOTE.say(rng, {"x": request, "t": memory.quoted(world, title, 0.6)}, world.held))
    first = settle(world, call, f"First {plan}, then keep it as '{title}'.")
    if first is None:
        return
    world.call(f"Now save '{first}' as '{title}'.", ("save_note", {"title": title, "text": first}))
    world.facts.setdefault("notes", {})[title] = first
    world.reply(f"The result is {first.rstrip('.')}. I saved it as '{title}'.")


def note_calc(world: World) -> None:
    """A note holds a number or a word that the next call needs."""
    rng = world.rng
    title = words.title(rng, world.held)
    use_word = world.has("define_word") and (rng.random() < 0.4 or not world.has("calculate"))
    body = words.english(rng, world.held) if use_word else str(words.number(rng, world.held, negative=0))
    if world.has("save_note") and rng.random() < 0.5:
        world.user(memory.SAVE.say(rng, {"t": title, "x": body}, world.held))
        memory.save_call(world, title, body)
    else:
        memory.keep(world, title, body)
    shown = memory.quoted(world, title)
    if use_word:
        world.user(CAPITAL_DEFINE.say(rng, {"t": shown}, world.held))
        first = settle(
            world, ("read_note", {"title": title}), f"First read the note '{title}', then define its word."
        )
        if first is None:
            return
        last = settle(world, ("define_word", {"word": first}), f"Now the meaning of '{first}'.")
        if last is not None:
            world.reply(f"{first}: {last}")
        return
    count = rng.randint(2, 60)
    world.user(NOTE_CALC.say(rng, {"t": shown, "n": str(count)}, world.held))
    first = settle(
        world, ("read_note", {"title": title}), f"First read the note '{title}', then times {count}."
    )
    if first is None:
        return
    last = settle(
        world, ("calculate", {"expression": f"{first} * {count}"}), f"Now calculate {first} * {count}."
    )
    if last is not None:
        world.reply(f"{first} * {count} = {last}.")


def file_chain(world: World) -> None:
    """A file's content goes into the next call."""
    rng = world.rng
    known = folder.files(world)
    if world.has("calculate") and (rng.random() < 0.5 or not world.has("save_note")):
        _, exact = arithmetic.spelled_expression(world)
        path = folder.file_word(world) + ".txt"
        folder.put(world, path, exact)
        world.user(FILE_CALC.say(rng, {"t": path}, world.held))
        first = settle(
            world, ("read_file", {"path": path}), f"First read '{path}', then calculate what it says."
        )
        if first is None:
            return
        last = settle(world, ("calculate", {"expression": first}), f"Now calculate {first}.")
        if last is not None:
            world.reply(f"{first} = {last}.")
        return
    short = [path for path, body in known.items() if "\n" not in body] or list(known)
    path, title = rng.choice(short), words.title(rng, world.held)
    world.user(FILE_NOTE.say(rng, {"p": path, "t": memory.quoted(world, title)}, world.held))
    first = settle(
        world, ("read_file", {"path": path}), f"First read '{path}', then keep its text as '{title}'."
    )
    if first is None:
        return
    world.call(f"Now save the text as '{title}'.", ("save_note", {"title": title, "text": first}))
    world.facts.setdefault("notes", {})[title] = first
    world.reply(f"I saved the text of {path} as '{title}'.")


def search_read(world: World) -> None:
    """Find which file holds a text, then read that file."""
    rng = world.rng
    folder.files(world)
    for _ in range(6):
        wanted = folder.query(world)
        hits = [path for path, body in folder.files(world).items() if wanted.lower() in body.lower()]
        if len(hits) == 1:
            break
    else:
        return
    world.user(SEARCH_READ.say(rng, {"q": memory.quoted(world, wanted, 0.5)}, world.held))
    first = settle(
        world, ("search_files", {"query": wanted}), f"First search for '{wanted}', then read that file."
    )
    if first is None or ":" not in first:
        return
    path = re.split(r":\d+: ", first)[0]
    text = folder.read_call(world, path)
    world.reply(f"{path} says:\n{text}" if "\n" in text else f"{path} says: {text}")


SEARCH_READ = Intent(
    "chain.search_read",
    imp="""
    [find|search for] the file [that mentions|with|containing] {q} and [read it|open it|show it|show me its content]
    [read|open|show me] the file that [mentions|contains|has] {q}
    search [the files |]for {q} and [read|open|show] the file
    """,
    ask="what does the file [that mentions|with|containing] {q} say\nwhat is in the file that [mentions|contains] {q}",
    thing="the [content|text] of the file [that mentions|with|containing] {q}",
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
