"""Asking about pictures: what is there, its colour, shape, size, place, how many, which number."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cached_property
from typing import Any

from training.data import words
from training.data.assistant import new_world, system_prompt
from training.data.frames import Pool
from training.data.pictures import COLOURS, SHAPES, Thing, number, scene
from training.data.sample import Picture, Sample
from training.data.schemas import response_format
from training.data.shipped import close, declare_shipped
from training.data.speech import Intent
from training.data.world import World

WHAT = Intent(
    "look.what",
    imp="""
    [describe|explain] [the|this] [picture|image|photo|drawing]
    [say|tell me] what [is|you see|there is] [in|on] [the|this] [picture|image|photo]
    [name|list] [what|everything|the things|the objects] [you see|in the picture|in the image]
    [look at|check] [the|this] [picture|image] and [say|tell me] what it [is|shows]
    caption [this|the] [picture|image]
    """,
    ask="""
    what [is|do you see|can you see|is there] [in|on] [the|this] [picture|image|photo|drawing]
    what does [the|this] [picture|image|photo] show
    what is this
    what [do you|can you] see[ here|]
    what is shown [here|in the picture|in this image]
    what [objects|things|shapes] are [in the picture|in the image|here|there]
    """,
    thing="[a|the] description of [the|this] [picture|image]\nthe content of the [picture|image]",
    clause="what [is in|you see in] [the|this] [picture|image]\nwhat this [picture|image] shows",
    free="what's this?\ndescribe\npicture?\nwhat's in it?\n[look|look at this|see this][.|!|:]",
)
COLOUR = Intent(
    "look.colour",
    imp="[name|tell me|say|give] the [color|colour] of the {s}\n[say|tell me] [what|which] [color|colour] the {s} [is|has]",
    ask="""
    [what|which] [color|colour] is the {s}
    [what|which] [color|colour] does the {s} have
    what is the [color|colour] of the {s}
    in [what|which] [color|colour] is the {s} [drawn|painted]
    how is the {s} [colored|coloured]
    """,
    thing="the [color|colour] of the {s}\nthe {s}'s [color|colour]",
    clause="[what|which] [color|colour] the {s} [is|has]",
    free="[color|colour] of the {s}?\n{s}: which [color|colour]?\n{s} [color|colour]?",
)
SHAPE = Intent(
    "look.shape",
    imp="[name|tell me|say|give] the [shape|form] of the {c} [thing|object|figure|one]\n[say|tell me] [what|which] shape is {c}",
    ask="""
    [what|which] shape is [the|] {c} [one|thing|object|figure]
    [what|which] [shape|figure|object|thing] is {c}
    what is the {c} [thing|object|figure|shape]
    what is the shape of the {c} [thing|object]
    what {c} [thing|object|shape] [is there|do you see]
    """,
    thing="the [shape|form] of the {c} [thing|object|figure]\nthe {c} [shape|object]",
    clause="what the {c} [thing|object|shape] is\n[which|what] shape is {c}",
    free="shape of the {c} one?\n{c} thing?\n{c}: which shape?",
)
COUNT = Intent(
    "look.count",
    imp="""
    count the {s}
    [count|tell me|say|find] how many {s} [there are|you see|are there|are in the picture]
    [tell me|give me] the number of {s}
    """,
    ask="""
    how many {s} [are there|are in the picture|are in the image|do you see|can you see|can you count|are shown|does the picture have]
    what is the number of {s}
    how many {s}
    """,
    thing="the number of {s}[ in the picture| in the image|]\nthe count of {s}",
    clause="how many {s} [there are|you see|are in the picture|I drew]",
    free="number of {s}?\ncount {s}\n{s}: how many?",
)
WHERE = Intent(
    "look.where",
    imp="[say|tell me|show me] where the {s} is\n[find|locate] the {s}\n[give|name] the [position|place] of the {s}",
    ask="""
    where is the {s}
    where do you see the {s}
    in [which|what] [part|corner|place|area] of the [picture|image] is the {s}
    what is the [position|place|location] of the {s}
    where [in|on] the [picture|image] is the {s}
    """,
    thing="the [position|place|location] of the {s}",
    clause="where the {s} is[ located|]\nin which part [of the picture |]the {s} is",
    free="{s}: where?\nposition of the {s}?\nwhere's the {s}?",
)
RELATION = Intent(
    "look.relation",
    imp="[say|tell me|check] if the {s} is {r} the {t}",
    ask="""
    is the {s} {r} the {t}
    is the {s} [placed|located|drawn] {r} the {t}
    do you see the {s} {r} the {t}
    would you say the {s} is {r} the {t}
    can we say that the {s} is {r} the {t}
    """,
    clause="[if|whether] the {s} is {r} the {t}",
    free="the {s} is {r} the {t}, [right|correct|true|yes or no]?\n{s} {r} the {t}?\ntrue or false: the {s} is {r} the {t}",
)
BESIDE = Intent(
    "look.beside",
    imp="[name|say|tell me] what is {r} the {t}",
    ask="what is {r} the {t}\n[which|what] [thing|object|shape] is {r} the {t}\nwhat do you see {r} the {t}\nwhat [stands|lies] {r} the {t}",
    thing="the [thing|object|shape] {r} the {t}",
    clause="what is {r} the {t}\nwhich [thing|shape|object] is {r} the {t}",
    free="{r} the {t}: what?\n[and|so] {r} the {t}?",
)
SIZE = Intent(
    "look.size",
    imp="[name|say|tell me] [which|what] [one|thing|object|shape] is {w}",
    ask="[which|what] [thing|object|shape|one] is {w}\nwhat is the {w} [thing|object|shape]\nwhich of them is {w}\nwhich is {w}, the {s} or the {t}",
    thing="the {w} [thing|object|shape|one]",
    clause="which [thing|object|shape|one] is {w}\nwhat the {w} [thing|shape] is",
    free="{w}: which one?\nthe {w} one?",
)
GROUND = Intent(
    "look.ground",
    imp="[name|tell me|say] the [background color|background colour|color of the background|colour of the background]",
    ask="""
    [what|which] [color|colour] is the background
    what is the [color|colour] of the background
    [what|which] [color|colour] does the background have
    what is the background [color|colour]
    on [what|which] [color|colour] background is it
    """,
    thing="the [background color|background colour|color of the background|colour of the background]",
    clause="[what|which] [color|colour] the background [is|has]",
    free="background?\nbackground [color|colour]?",
)
ANY = Intent(
    "look.any",
    imp="[say|tell me|check] if there is a {s}[ in the picture|]",
    ask="is there a {s}[ in the picture| in the image|]\ndo you see a {s}[ in the picture|]\ndoes the [picture|image] [show|have|contain] a {s}\ncan you see a {s}",
    clause="[if|whether] there is a {s}[ in the picture|]\n[if|whether] you see a {s}",
    free="a {s}, [yes or no|is it there]?\nany {s}?",
)
DIGITS = Intent(
    "look.digits",
    imp="""
    [read|tell me|say|give|write] the number[ in the picture| in the image| you see| on it|]
    [read|transcribe] [the digits|the picture|the image|what is written]
    [say|tell me] [which|what] number [is shown|you see|it is|is in the picture]
    """,
    ask="""
    [what|which] number [is this|is it|is shown|is in the picture|is in the image|do you see|can you read|is written here]
    what does [it|the picture|the sign|the image|the display] say
    what is the number[ in the picture| on the picture|]
    [what|which] digits [are there|do you see|are shown]
    what [is written|stands] [here|there|in the picture]
    """,
    thing="the number [in the picture|in the image|shown|on it]\nthe digits [in the picture|shown]",
    clause="[what|which] number [is shown|is in the picture|you see|it is]\nwhat [is written|stands] [here|there]",
    free="number?\nwhich number?\nread it\ndigits?\nread this number[.|!|, please]",
)
TIMES = Intent(
    "look.times",
    imp="multiply the number in the [picture|image] by {n}\n[read|take] the number [in|from] the [picture|image] [times|and multiply it by] {n}",
    ask="what is the number in the [picture|image] times {n}\nhow much is {n} times the number in the [picture|image]",
    thing="{n} times the number in the [picture|image]\nthe number in the [picture|image] times {n}",
)
NO_PICTURE = "I see no picture. Please send one."
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ROWS, COLUMNS = ("top", "middle", "bottom"), ("left", "center", "right")
WIDER_INK = {
    "white": ["black", "gray", "blue", "purple", "brown", "red"],
    "black": ["white", "yellow", "pink", "orange"],
}


def place_of(thing: Thing) -> str:
    """Where a thing is, in words."""
    if thing.row == 1:
        return "center" if thing.column == 1 else COLUMNS[thing.column]
    return ROWS[thing.row] if thing.column == 1 else f"{ROWS[thing.row]} {COLUMNS[thing.column]}"


def name_of(thing: Thing) -> str:
    return f"{thing.colour} {thing.shape}"


def article(name: str) -> str:
    return f"an {name}" if name[0] in "aeio" else f"a {name}"


def several(name: str, count: int) -> str:
    """``count`` things of a name."""
    if count == 1:
        return article(name)
    return f"{COUNTS[count]} {plural(name)}"


def plural(name: str) -> str:
    return f"{name}es" if name.endswith(("s", "x")) and not name.endswith("es") else f"{name}s"


def joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def summary(things: list[Thing]) -> str:
    """All things, equal ones counted, in reading order of the first of each kind."""
    kinds: dict[str, int] = {}
    for thing in sorted(things, key=lambda t: (t.row, t.column)):
        kinds[name_of(thing)] = kinds.get(name_of(thing), 0) + 1
    return joined([several(name, count) for name, count in kinds.items()])


def seen(things: list[Thing]) -> str:
    """The thought: what is where."""
    if len(things) <= 3:
        ordered = sorted(things, key=lambda t: (t.row, t.column))
        return "I see " + joined([f"{article(name_of(t))} ({place_of(t)})" for t in ordered]) + "."
    return f"I see {summary(things)}."


def ground_for(rng: random.Random, used: set[str]) -> str:
    choices = ["white"] * 6 + ["black", "gray", "black"] + list(COLOURS)
    while True:
        ground = rng.choice(choices)
        close_to = {
            "orange": {"yellow", "red", "brown"},
            "pink": {"red", "purple", "white"},
            "gray": {"brown"},
            "brown": {"black", "gray", "red", "orange"},
        }
        near = close_to.get(ground, set()) | {other for other, group in close_to.items() if ground in group}
        if ground not in used and not near & used:
            return ground


def draw_things(rng: random.Random, count: int, kinds: int) -> list[Thing]:
    """``count`` things of at most ``kinds`` different looks, in different cells."""
    looks: list[tuple[str, str]] = []
    while len(looks) < kinds:
        look = (rng.choice(SHAPES), rng.choice(list(COLOURS)))
        if look not in looks:
            looks.append(look)
    cells = rng.sample([(column, row) for column in range(3) for row in range(3)], count)
    picks = looks + [rng.choice(looks) for _ in range(count - kinds)] if count >= kinds else looks[:count]
    rng.shuffle(picks)
    return [
        Thing(shape, colour, column, row, rng.random() < 0.55)
        for (shape, colour), (column, row) in zip(picks, cells, strict=True)
    ]


class View:
    """A picture under discussion: what is on it, on which ground."""

    def __init__(self, rng: random.Random) -> None:
        roll = rng.random()
        if roll < 0.3:
            self.things = [Thing(rng.choice(SHAPES), rng.choice(list(COLOURS)), 1, 1, rng.random() < 0.6)]
        elif roll < 0.6:
            count = rng.choice((2, 2, 3))
            self.things = draw_things(rng, count, count)
        elif roll < 0.85:
            self.things = draw_things(rng, rng.randint(2, 9), 1)
        else:
            count = rng.randint(3, 9)
            self.things = draw_things(rng, count, rng.choice((2, 2, 3)))
        self.ground = ground_for(rng, {thing.colour for thing in self.things})
        if len(self.things) == 2 and rng.random() < 0.5:
            one, two = self.things
            self.things = [
                Thing(one.shape, one.colour, one.column, one.row, True),
                Thing(two.shape, two.colour, two.column, two.row, False),
            ]
        self._rng = rng

    @cached_property
    def picture(self) -> Picture:
        """Drawn when first needed."""
        return scene(self._rng, self.things, self.ground)

    def unique(self, rng: random.Random, key: Callable[[Thing], str]) -> Thing | None:
        """A thing that is alone in having its ``key``."""
        keys = [key(thing) for thing in self.things]
        alone = [thing for thing in self.things if keys.count(key(thing)) == 1]
        return rng.choice(alone) if alone else None


Answer = tuple[str, str, dict[str, Any], Any]


def question(world: World, view: View) -> Answer:
    """A question about ``view``: its text, the answer in words, the schema and the value of a typed answer."""
    rng, held = world.rng, world.held
    things = view.things
    text_type = {"type": "string"}
    for _ in range(20):
        kind = rng.choice(
            (
                "what",
                "what",
                "colour",
                "colour",
                "shape",
                "shape",
                "count",
                "count",
                "count",
                "where",
                "relation",
                "beside",
                "size",
                "ground",
                "any",
            )
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
        if kind == "where" and len(things) > 1 and (thing := view.unique(rng, name_of)):
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
    ground = rng.choice(("white", "white", "white", "black", "black", "yellow", "gray", "blue"))
    inks = {
        "white": "black black blue red green purple brown",
        "black": "white white yellow green red orange",
        "yellow": "black blue red purple",
        "gray": "black white yellow",
        "blue": "white yellow",
    }[ground]
    return rng.choice(inks.split()), ground


def digits(world: World) -> str:
    rng = world.rng
    count = rng.choice((1, 1, 2, 2, 3, 3, 4, 5))
    if count < 3:
        return str(rng.randrange(10**count))
    return str(words.integer(rng, world.held, 10 ** (count - 1), 10**count - 1))


def looking(rng: random.Random, held: bool = False) -> Sample:
    """One or several pictures and questions about them, in words."""
    world = new_world(rng, held)
    if rng.random() < 0.2:
        keys = rng.sample(
            ("calculate", "convert_units", "country_facts", "save_note", "define_word"), rng.randint(1, 3)
        )
        declare_shipped(world, list(dict.fromkeys(["calculate", *keys])))
    system_prompt(world, 0.15)
    for _ in range(rng.choice((1, 2, 3, 4, 5))):
        if world.has("calculate") and rng.random() < 0.4:
            times(world)
        elif rng.random() < 0.32:
            shown = digits(world)
            picture = number(rng, shown, *ink_and_ground(rng))
            present(world, picture, DIGITS.say(rng, {}, held))
            world.reply(rng.choice((f"The number is {shown}.", f"It says {shown}.")), f"I read {shown}.")
        else:
            view = View(rng)
            for turn in range(rng.choice((1, 1, 2, 3))):
                text, answer, _, _ = question(world, view)
                if turn == 0:
                    present(world, view.picture, text)
                else:
                    world.user(text)
                world.reply(answer, seen(view.things))
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
        f"I read {shown}. Calculate {shown} * {count}.", ("calculate", {"expression": f"{shown} * {count}"})
    )
    world.reply(f"{shown} * {count} = {result}.")


TYPED = Pool(
    "look.typed",
    """
    [fill in|extract|read off] [the fields|the data][ from the picture| from the image|]
    [describe|what is in] [the|this] [picture|image][?|.|]
    [look at|read] [the|this] [picture|image][ carefully|][.|]
    what do you see?
    [picture|image] to data
    [give me|return] [the data|the details] [of|from] [the|this] [picture|image][.|]
    """,
)


def typed(rng: random.Random, held: bool = False) -> Sample:
    """A picture and an answer of a given type."""
    world = new_world(rng, held)
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
        think = f"I read {shown}."
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
        think = seen(view.things)
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
        think = seen(view.things)
    world.reply(json.dumps(value), think)
    return world.sample(response_format=response_format(schema), check={"value": value})
