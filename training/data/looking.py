"""Asking about pictures: what is there, its colour, shape, size, place, how many, which number."""

from __future__ import annotations

import json
import random
from typing import Any

from training.data import words
from training.data.assistant import new_world, system_prompt
from training.data.look_frames import (
    ANY,
    BESIDE,
    COLOUR,
    COUNT,
    DIGITS,
    GROUND,
    ITS_COLOUR,
    ITS_SHAPE,
    RELATION,
    SHAPE,
    SIZE,
    TIMES,
    TYPED,
    WHAT,
    WHERE,
)
from training.data.pictures import COLOURS, SHAPES, Thing, number
from training.data.sample import Sample
from training.data.schemas import response_format
from training.data.shipped import close, declare_shipped
from training.data.view import (
    View,
    article,
    name_of,
    place_of,
    plural,
    seen,
    summary,
)
from training.data.world import World

AGAIN = "I have described this picture."
NO_PICTURE = "I see no picture. Please send one."


Answer = tuple[str, str, dict[str, Any], Any]


SINGLE = ("colour",) * 5 + ("shape",) * 5 + ("what",) * 4 + ("where", "any", "ground", "count")
SEVERAL = (
    ("count",) * 5
    + ("colour",) * 4
    + ("shape",) * 4
    + ("what", "what", "where", "where", "relation", "beside", "size", "any", "ground")
)


def question(world: World, view: View, asked: set[str] | None = None) -> Answer:
    """A question about ``view``: its text, the answer in words, the schema and the value of a typed answer.

    Args:
        asked: kinds of question that have been asked about this picture; none of them comes again while others
            are left. Extended.
    """
    rng, held = world.rng, world.held
    things = view.things
    text_type = {"type": "string"}
    kinds = SINGLE if len(things) == 1 else SEVERAL
    asked = set() if asked is None else asked
    for attempt in range(20):
        kind = rng.choice(kinds)
        if kind in asked and attempt < 12:
            continue
        asked.add(kind)
        if kind in ("colour", "shape") and len(things) == 1 and rng.random() < 0.6:
            if kind == "colour":
                return (
                    ITS_COLOUR.say(rng, {}, held),
                    f"It is {things[0].colour}.",
                    text_type,
                    things[0].colour,
                )
            return (
                ITS_SHAPE.say(rng, {}, held),
                f"It is {article(things[0].shape)}.",
                text_type,
                things[0].shape,
            )
        if kind == "what":
            return WHAT.say(rng, {}, held), f"{summary(things)}.".capitalize(), text_type, summary(things)
        if kind == "colour" and (thing := view.unique(rng, lambda t: t.shape)):
            word = (
                thing.shape
                if rng.random() < 0.85 or len(things) > 1
                else rng.choice(("thing", "object", "shape", "figure"))
            )
            return (
                COLOUR.say(rng, {"s": word}, held),
                f"The {word} is {thing.colour}.",
                text_type,
                thing.colour,
            )
        if kind == "shape" and (thing := view.unique(rng, lambda t: t.colour)):
            return (
                SHAPE.say(rng, {"c": thing.colour}, held),
                f"It is {article(thing.shape)}.",
                text_type,
                thing.shape,
            )
        if kind == "count":
            return counting(world, view)
        if kind == "where" and (thing := view.unique(rng, name_of)):
            name = name_of(thing)
            return (
                WHERE.say(rng, {"s": name}, held),
                f"The {name} is at the {place_of(thing)}.",
                text_type,
                place_of(thing),
            )
        if kind == "relation" and len(things) in (2, 3) and len({name_of(t) for t in things}) == len(things):
            return relating(world, view)
        if kind == "beside" and len(things) == 2 and name_of(things[0]) != name_of(things[1]):
            one, two = things
            word = side(one, two)
            return (
                BESIDE.say(rng, {"t": name_of(two), "r": word}, held),
                f"{article(name_of(one))}.".capitalize(),
                text_type,
                name_of(one),
            )
        if (
            kind == "size"
            and len(things) == 2
            and things[0].big != things[1].big
            and things[0].shape != things[1].shape
        ):
            big = rng.random() < 0.5
            wanted = next(thing for thing in things if thing.big == big)
            word = rng.choice(("bigger", "larger", "biggest") if big else ("smaller", "smallest"))
            slots = {"w": word, "s": things[0].shape, "t": things[1].shape}
            return SIZE.say(rng, slots, held), f"The {name_of(wanted)}.", text_type, wanted.shape
        if kind == "ground":
            return GROUND.say(rng, {}, held), f"The background is {view.ground}.", text_type, view.ground
        if kind == "any":
            there = rng.random() < 0.5
            name = (
                rng.choice(things).shape
                if there
                else rng.choice([s for s in SHAPES if s not in {t.shape for t in things}])
            )
            return (
                ANY.say(rng, {"s": name}, held),
                f"Yes, there is {article(name)}." if there else f"No, there is no {name}.",
                {"type": "boolean"},
                there,
            )
    return WHAT.say(rng, {}, held), f"{summary(things)}.".capitalize(), text_type, summary(things)


def counting(world: World, view: View) -> Answer:
    rng = world.rng
    things = view.things
    some = rng.choice(things)
    by = rng.choice(("all", "shape", "colour", "name", "none"))
    if by == "all":
        word, count = rng.choice(("shapes", "objects", "things", "figures")), len(things)
    elif by == "shape":
        word, count = plural(some.shape), sum(t.shape == some.shape for t in things)
    elif by == "colour":
        word, count = (
            f"{some.colour} {rng.choice(('things', 'objects', 'shapes'))}",
            sum(t.colour == some.colour for t in things),
        )
    elif by == "name" or rng.random() < 0.7:
        word, count = plural(name_of(some)), sum(name_of(t) == name_of(some) for t in things)
    else:
        absent = rng.choice([shape for shape in SHAPES if shape not in {t.shape for t in things}])
        word, count = plural(absent), 0
    verb = "is" if count == 1 else "are"
    single = word[:-2] if word.endswith(("crosses", "boxes")) else word[:-1]
    answer = f"There {verb} {count or 'no'} {single if count == 1 else word}."
    return COUNT.say(rng, {"s": word}, world.held), answer, {"type": "integer"}, count


def side(one: Thing, two: Thing) -> str:
    """Where ``one`` is, seen from ``two``."""
    across, down = one.column - two.column, one.row - two.row
    if abs(across) >= abs(down) and across:
        return "left of" if across < 0 else "right of"
    return "above" if down < 0 else "below"


OPPOSITE = {"left of": "right of", "right of": "left of", "above": "below", "below": "above"}


def relating(world: World, view: View) -> Answer:
    rng = world.rng
    one, two = rng.sample(view.things, 2)
    word = side(one, two)
    true = rng.random() < 0.5
    asked = word if true else OPPOSITE[word]
    shown = {
        "left of": rng.choice(("left of", "to the left of")),
        "right of": rng.choice(("right of", "to the right of")),
    }.get(asked, asked)
    text = RELATION.say(rng, {"s": name_of(one), "t": name_of(two), "r": shown}, world.held)
    answer = f"Yes, it is {word} the {name_of(two)}." if true else f"No, it is {word} the {name_of(two)}."
    return text, answer, {"type": "boolean"}, true


def ink_and_ground(rng: random.Random) -> tuple[str, str]:
    ground = rng.choice(("white", "white", "white", "white", "black", "black", "yellow", "blue"))
    inks = {
        "white": "black black blue red green purple brown",
        "black": "white white yellow green red orange",
        "yellow": "black blue purple",
        "blue": "white yellow",
    }[ground]
    return rng.choice(inks.split()), ground


def digits(world: World) -> str:
    rng = world.rng
    count = rng.choice((1, 1, 1, 2, 2, 2, 3, 3, 4, 5))
    if count < 3:
        return str(rng.randrange(10**count))
    return str(words.integer(rng, world.held, 10 ** (count - 1), 10**count - 1))


def new_viewer(rng: random.Random, held: bool) -> World:
    """A conversation about pictures; it thinks more often than others, for the thought names all that is there."""
    world = new_world(rng, held)
    if rng.random() < 0.5:
        world.thinking = True
    if world.effort == "low" and rng.random() < 0.5:
        world.effort = "max"
    return world


def read(shown: str) -> str:
    """The thought about a number: digit by digit, then as a whole."""
    return f"I read {' '.join(shown)}, that is {shown}." if len(shown) > 1 else f"I read {shown}."


def looking(rng: random.Random, held: bool = False) -> Sample:
    """One or several pictures and questions about them, in words."""
    world = new_viewer(rng, held)
    if rng.random() < 0.05:
        keys = rng.sample(
            ("calculate", "convert_units", "country_facts", "save_note", "define_word"), rng.randint(1, 3)
        )
        declare_shipped(world, list(dict.fromkeys(["calculate", *keys])))
    system_prompt(world, 0.06)
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        if world.has("calculate") and rng.random() < 0.4:
            times(world)
        elif rng.random() < 0.28:
            shown = digits(world)
            picture = number(rng, shown, *ink_and_ground(rng))
            present(world, picture, DIGITS.say(rng, {}, held))
            world.reply(rng.choice((f"The number is {shown}.", f"It says {shown}.")), read(shown))
        else:
            view = View(rng)
            asked: set[str] = set()
            for turn in range(rng.choice((1, 2, 2, 3))):
                text, answer, _, _ = question(world, view, asked)
                if turn == 0:
                    present(world, view.picture, text)
                else:
                    world.user(text)
                world.reply(answer, seen(view.things, view.ground) if turn == 0 else AGAIN)
    if rng.random() < 0.02:
        world = new_world(rng, held)
        world.user(WHAT.say(rng, {}, held))
        world.reply(NO_PICTURE, "There is no picture.")
    close(world)
    return world.sample()


def present(world: World, picture: Any, text: str) -> None:
    """The user shows a picture, before or after the words."""
    if world.rng.random() < 0.55:
        world.user(text, picture)
    else:
        world.user(picture, text)


def times(world: World) -> None:
    """The number of a picture goes into a calculation."""
    rng = world.rng
    shown, count = digits(world), rng.randint(2, 60)
    present(world, number(rng, shown, *ink_and_ground(rng)), TIMES.say(rng, {"n": str(count)}, world.held))
    (result,) = world.call(
        f"{read(shown)} Calculate {shown} * {count}.", ("calculate", {"expression": f"{shown} * {count}"})
    )
    world.reply(f"{shown} * {count} = {result}.")


def typed(rng: random.Random, held: bool = False) -> Sample:
    """A picture and an answer of a given type."""
    world = new_viewer(rng, held)
    roll = rng.random()
    if roll < 0.25:
        shown = digits(world)
        schema: dict[str, Any]
        value: Any
        if rng.random() < 0.5:
            schema, value = {"type": "integer"}, int(shown)
        else:
            key = rng.choice(("number", "value", "reading", "digits", words.word(rng, held)))
            schema = {"type": "object", "properties": {key: {"type": "integer"}}, "required": [key]}
            value = {key: int(shown)}
        present(world, number(rng, shown, *ink_and_ground(rng)), DIGITS.say(rng, {}, held))
        think = read(shown)
    elif roll < 0.65:
        view = View(rng)
        text, _, schema, value = question(world, view)
        if schema["type"] == "string" and value in COLOURS:
            options = [value, *rng.sample([name for name in COLOURS if name != value], rng.randint(1, 6))]
            rng.shuffle(options)
            schema = {"enum": options, "type": "string"}
        elif schema["type"] == "string" and value in SHAPES:
            options = [value, *rng.sample([name for name in SHAPES if name != value], rng.randint(1, 5))]
            rng.shuffle(options)
            schema = {"enum": options, "type": "string"}
        present(world, view.picture, text)
        think = seen(view.things, view.ground)
    else:
        view = View(rng)
        while len({name_of(t) for t in view.things}) > 1:
            view = View(rng)
        thing = view.things[0]
        fields: dict[str, tuple[dict[str, Any], Any]] = {
            "shape": (
                {"type": "string"} if rng.random() < 0.6 else {"enum": list(SHAPES), "type": "string"},
                thing.shape,
            ),
            "color": (
                {"type": "string"} if rng.random() < 0.6 else {"enum": list(COLOURS), "type": "string"},
                thing.colour,
            ),
            "count": ({"type": "integer"}, len(view.things)),
            "background": ({"type": "string"}, view.ground),
        }
        spelled = {
            "color": rng.choice(("color", "colour")),
            "count": rng.choice(("count", "number", "how_many")),
            "background": rng.choice(("background", "ground")),
        }
        chosen = rng.sample(list(fields), rng.randint(2, 4))
        properties = {spelled.get(key, key): fields[key][0] for key in chosen}
        schema = {"properties": properties, "required": list(properties), "type": "object"}
        value = {spelled.get(key, key): fields[key][1] for key in chosen}
        present(world, view.picture, TYPED.text(rng, held=held))
        think = seen(view.things, view.ground)
    world.reply(json.dumps(value), think)
    return world.sample(response_format=response_format(schema), check={"value": value})
