"""Requests of several steps put together from the cores of single ones: a first task, then what to do with its result.

The first task is an order ("convert 3 miles to km") or a thing ("3 miles in km"); the next ones refer to it
("and multiply the result by 4", "times 4", "then save it as lap"). Cores, connectors and references are
drawn independently, so that frames multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from training.data import arithmetic, calendar, folder, lookups, memory, units, words
from training.data.compose_frames import LINK, ORDERS, TOLD, WAYS
from training.data.frames import Slot
from training.data.speech import CARRIERS, Intent, style
from training.data.world import FAILED, World


@dataclass(slots=True)
class Step:
    """A first task: how it is asked, its call, and what kind of result it gives.

    Attributes:
        intent: whose ``imp`` and ``thing`` cores ask for it.
        kind: ``"number"``, ``"measure"`` (a number with ``unit``), ``"days"``, ``"date"``, ``"text"`` or ``"word"``.
    """

    intent: Intent
    slots: dict[str, str]
    call: tuple[str, dict[str, Any]]
    plan: str
    kind: str
    unit: str = ""


def first_step(world: World) -> Step:
    """A task that some declared tool does."""
    rng = world.rng
    made: list[Callable[[], Step]] = []
    if world.has("calculate"):
        made.append(lambda: calculation(world))
        made.append(lambda: calculation(world))
    if world.has("convert_units"):
        made.extend([lambda: conversion(world)] * 3)
    if world.has("days_between"):
        made.extend([lambda: distance(world)] * 2)
    if world.has("shift_date"):
        made.extend([lambda: moved(world)] * 2)
    if world.has("country_facts"):
        made.extend([lambda: fact(world)] * 3)
    if world.has("read_note"):
        made.append(lambda: noted(world))
    if world.has("read_file"):
        made.append(lambda: filed(world))
    if world.has("define_word"):
        made.append(lambda: meaning(world))
    return rng.choice(made)()


def calculation(world: World) -> Step:
    rng = world.rng
    if rng.random() < 0.5:
        typed, exact = arithmetic.spelled_expression(world)
        return Step(
            arithmetic.EXPRESSION,
            {"e": typed},
            ("calculate", {"expression": exact}),
            f"calculate {exact}",
            "number",
        )
    sign = rng.choice("+-*/")
    (x, first), (y, second) = arithmetic.number(world), arithmetic.number(world)
    exact = f"{first} {sign} {second}"
    return Step(
        arithmetic.OPERATION[sign],
        {"x": x, "y": y},
        ("calculate", {"expression": exact}),
        f"calculate {exact}",
        "number",
    )


def conversion(world: World) -> Step:
    dimension, source, target = units.pair(world)
    spelled, number = units.value(world, dimension)
    call = ("convert_units", {"value": number, "from_unit": source, "to_unit": target})
    return Step(
        units.CONVERT,
        {"v": spelled, "a": source, "b": target},
        call,
        f"convert {spelled} {source} to {target}",
        "measure",
        target,
    )


def distance(world: World) -> Step:
    rng = world.rng
    spelled, iso, start = calendar.dated(world)
    end = start + timedelta(days=rng.randint(2, 500))
    slots = {"d": spelled, "f": words.spell_day(rng, end)}
    call = ("days_between", {"start": iso, "end": end.isoformat()})
    return Step(calendar.BETWEEN, slots, call, f"the days from {iso} to {end.isoformat()}", "days", "days")


def moved(world: World) -> Step:
    rng = world.rng
    spelled, iso, _ = calendar.dated(world)
    span, count, unit = calendar.amount(world)
    back = rng.random() < 0.35
    call = ("shift_date", {"date": iso, "amount": -count if back else count, "unit": unit})
    plan = f"the date {span} {'before' if back else 'after'} {iso}"
    return Step(calendar.BACK if back else calendar.SHIFT, {"d": spelled, "n": span}, call, plan, "date")


def fact(world: World) -> Step:
    rng = world.rng
    name = rng.choice(("population", "area", "population", "area", "capital", "currency", "region"))
    country = lookups.country(world)
    kind = {"population": "number", "area": "measure"}.get(name, "text")
    call = ("country_facts", {"country": country, "fact": name})
    unit = rng.choice(("square kilometers", "km2", "square km")) if name == "area" else ""
    return Step(lookups.FACTS[name], {"c": country}, call, f"the {name} of {country}", kind, unit)


def noted(world: World) -> Step:
    rng, held = world.rng, world.held
    title = words.title(rng, held)
    word = world.has("define_word") and rng.random() < 0.5
    body = words.english(rng, held) if word else str(words.number(rng, held, negative=0))
    memory.keep(world, title, body)
    return Step(
        memory.READ,
        {"t": memory.quoted(world, title)},
        ("read_note", {"title": title}),
        f"read the note '{title}'",
        "word" if word else "number",
    )


def filed(world: World) -> Step:
    rng, held = world.rng, world.held
    path = folder.file_word(world) + rng.choice((".txt", ".md", ".csv"))
    word = world.has("define_word") and rng.random() < 0.4
    body = words.english(rng, held) if word else str(words.number(rng, held, negative=0))
    folder.put(world, path, body)
    return Step(
        folder.READ,
        {"p": path},
        ("read_file", {"path": path}),
        f"read '{path}'",
        "word" if word else "number",
    )


def meaning(world: World) -> Step:
    term = words.english(world.rng, world.held)
    return Step(
        lookups.DEFINE, {"w": term}, ("define_word", {"word": term}), f"the meaning of '{term}'", "text"
    )


@dataclass(slots=True)
class Next:
    """What to do with a result: the name of its pools, their slots, the plan in words, and the call for a result."""

    name: str
    slots: dict[str, str]
    plan: str
    call: Callable[[str], tuple[str, dict[str, Any]]]


def next_step(world: World, kind: str, unit: str) -> Next | None:
    """Something that the declared tools can do with a result of this kind."""
    rng = world.rng
    choices: list[str] = []
    if kind in ("number", "measure", "days") and world.has("calculate"):
        choices += ["*", "*", "/", "+", "-"]
    if kind in ("measure", "days") and world.has("convert_units"):
        choices += ["convert"] * (4 if kind == "days" else 2)
    if kind == "date":
        choices += ["weekday"] * 4 * world.has("day_of_week") + ["until"] * 3 * world.has("days_between")
    if kind == "word" and world.has("define_word"):
        choices += ["define"] * 6
    if world.has("save_note"):
        choices += ["save"] * 2
    if not choices:
        return None
    name = rng.choice(choices)
    if name in TOLD:
        count = (
            words.integer(rng, world.held, 2, 90)
            if rng.random() < 0.7
            else words.number(rng, world.held, negative=0)
        )
        return Next(
            name,
            {"n": words.spell(rng, count)},
            f"{TOLD[name]} {count}",
            lambda result: ("calculate", {"expression": f"{result.split(' ')[0]} {name} {count}"}),
        )
    if name == "convert":
        return converted(world, kind, unit)
    if name == "weekday":
        return Next(name, {}, "its weekday", lambda result: ("day_of_week", {"date": result}))
    if name == "until":
        spelled, iso, _ = calendar.dated(world)
        return Next(
            name,
            {"d": spelled},
            f"the days to {iso}",
            lambda result: ("days_between", {"start": result, "end": iso}),
        )
    if name == "define":
        return Next(name, {}, "define the word", lambda result: ("define_word", {"word": result}))
    title = words.title(rng, world.held)
    slots = {"t": memory.quoted(world, title, 0.5)}
    return Next(
        name, slots, f"save it as '{title}'", lambda result: ("save_note", {"title": title, "text": result})
    )


def converted(world: World, kind: str, unit: str) -> Next:
    """A unit of the same dimension as the result's."""
    rng = world.rng
    dimension = next(
        (name for name, group in units.UNITS.items() if any(unit in names for names in group)), "area"
    )
    if kind == "days":
        target = rng.choice(("hours", "weeks", "minutes", "seconds"))
    else:
        target = units.spelling(
            world, rng.choice([names for names in units.UNITS[dimension] if unit not in names])
        )
    given = unit

    def call(result: str) -> tuple[str, dict[str, Any]]:
        number = result.split(" ")[0]
        return "convert_units", {
            "value": float(number) if "." in number or "e" in number.lower() else int(number),
            "from_unit": given,
            "to_unit": target,
        }

    return Next("convert", {"b": target}, f"convert to {target}", call)


def composed(world: World) -> None:
    """A task of two or three steps."""
    rng = world.rng
    step = first_step(world)
    later = next_step(world, step.kind, step.unit)
    if later is None:
        return
    nexts = [later]
    if later.name in TOLD and world.has("save_note") and rng.random() < 0.2:
        last = next_step(world, "text", "")
        if last is not None:
            nexts.append(last)
    request(world, step, nexts)
    work(world, step, nexts)


def request(world: World, step: Step, nexts: Sequence[Next]) -> None:
    """What the user says."""
    rng, held = world.rng, world.held
    slots = dict(step.slots)
    name = nexts[0].name
    nominal = name in WAYS and "thing" in step.intent.pools and rng.random() < 0.4
    mood = "thing" if nominal else "imp" if "imp" in step.intent.pools else "thing"
    core = step.intent.pools[mood].pieces(rng, held)
    later = [put(world, number, item) for number, item in enumerate(nexts)]
    for number, item in enumerate(nexts):
        slots |= {f"{key}{number}": value for key, value in item.slots.items()}
    if nominal:
        way = [piece if piece == "a" else renumbered(piece, 0) for piece in WAYS[name].pieces(rng, held)]
        pieces = spliced(way, {"a": core})
        later = later[1:]
        if later:
            pieces = spliced(CARRIERS["thing"].pieces(rng, held and rng.random() < 0.5), {"core": pieces})
    else:
        pieces = core
        pieces = spliced(LINK.pieces(rng, held), {"a": pieces, "b": later[0]})
        later = later[1:]
    for more in later:
        pieces = spliced(LINK.pieces(rng, held), {"a": pieces, "b": more})
    if not (nominal and len(nexts) > 1):
        pieces = spliced(CARRIERS[mood].pieces(rng, held and rng.random() < 0.5), {"core": pieces})
    world.user(style(rng, pieces, slots, held))


def put(world: World, number: int, item: Next) -> list[str]:
    """The order for a next step, its slots numbered."""
    return [renumbered(piece, number) for piece in ORDERS[item.name].pieces(world.rng, world.held)]


def renumbered(piece: str, number: int) -> str:
    """A slot's name made distinct from those of other steps."""
    return Slot(f"{piece}{number}") if type(piece) is Slot else piece


def spliced(pieces: Sequence[str], inner: dict[str, Sequence[str]]) -> list[str]:
    """``pieces`` with whole slots replaced by other pieces."""
    out: list[str] = []
    for piece in pieces:
        if type(piece) is Slot and str(piece) in inner:
            out.extend(inner[str(piece)])
        else:
            out.append(piece)
    return out


def work(world: World, step: Step, nexts: Sequence[Next]) -> None:
    """Calls one after the other, then the answer; an error ends the task."""
    plans = ", then ".join([step.plan, *(item.plan for item in nexts)])
    (result,) = world.call(f"First {plans}.", step.call)
    if world.errors[0]:
        world.reply(result, FAILED)
        return
    told = [said(step.call, result)]
    for item in nexts:
        call = item.call(result)
        (new,) = world.call(thought(call), call)
        if world.errors[0]:
            world.reply(f"{told[-1]} {new}", FAILED)
            return
        told.append(said(call, new))
        if call[0] == "save_note":
            world.facts.setdefault("notes", {})[call[1]["title"]] = call[1]["text"]
        else:
            result = new
    world.reply(" ".join(told))


def thought(call: tuple[str, dict[str, Any]]) -> str:
    """The thought before a later call."""
    tool, arguments = call
    if tool == "calculate":
        return f"Now calculate {arguments['expression']}."
    if tool == "convert_units":
        return f"Now convert {arguments['value']} {arguments['from_unit']} to {arguments['to_unit']}."
    if tool == "day_of_week":
        return f"Now the weekday of {arguments['date']}."
    if tool == "days_between":
        return f"Now the days from {arguments['start']} to {arguments['end']}."
    if tool == "define_word":
        return f"Now the meaning of '{arguments['word']}'."
    return f"Now save '{arguments['text']}' as '{arguments['title']}'."


def said(call: tuple[str, dict[str, Any]], result: str) -> str:
    """One sentence about a step's result."""
    tool, arguments = call
    if tool == "calculate":
        return f"{arguments['expression']} = {result}."
    if tool == "convert_units":
        return f"{arguments['value']} {arguments['from_unit']} is {result}."
    if tool == "days_between":
        return f"It is {result} days."
    if tool == "shift_date":
        return f"The date is {result}."
    if tool == "day_of_week":
        return f"It is a {result}."
    if tool == "country_facts":
        return lookups.stated(arguments["fact"], arguments["country"], result)
    if tool == "define_word":
        return f"{arguments['word']}: {result}."
    if tool == "save_note":
        return f"I saved it as '{arguments['title']}'."
    return f"It says {result.rstrip('.')}."
