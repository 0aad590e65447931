"""A drawn scene as something to talk about: what is where, in words."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from training.data.pictures import CLEAR, COLOURS, SHAPES, Thing, distance, scene
from training.data.sample import Picture

COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


ROWS = ("top", "middle", "bottom")


COLUMNS = ("left", "center", "right")


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


def seen(things: list[Thing], ground: str) -> str:
    """The thought: what is where, always in reading order.

    Up to three things are told one by one with their places; more of them row by row, then all together, so
    that counting is adding up three small numbers. The ground comes last.
    """
    ordered = sorted(things, key=lambda t: (t.row, t.column))
    if len(things) <= 3:
        return (
            "I see "
            + joined([f"{article(name_of(t))} ({place_of(t)})" for t in ordered])
            + f". Background: {ground}."
        )
    rows = [
        f"{place.capitalize()}: {summary([t for t in ordered if t.row == row])}."
        for row, place in enumerate(ROWS)
        if any(t.row == row for t in ordered)
    ]
    return f"{' '.join(rows)} In all {len(things)}: {summary(things)}. Background: {ground}."


GROUNDS = ("white",) * 7 + ("black",) * 3 + tuple(COLOURS)


def ground_for(rng: random.Random, used: set[str]) -> str:
    """A ground on which every used colour stands out; white and black suit any choice of colours best."""
    clear = [ground for ground in GROUNDS if all(distance(ground, name) >= CLEAR for name in used)]
    return rng.choice(clear) if clear else "white"


def drawn_colours(rng: random.Random, count: int) -> list[str]:
    """Different colours that some ground suits."""
    while True:
        colours = rng.sample(list(COLOURS), count)
        if any(all(distance(ground, name) >= CLEAR for name in colours) for ground in COLOURS):
            return colours


def draw_things(rng: random.Random, count: int, kinds: int) -> list[Thing]:
    """``count`` things of at most ``kinds`` different looks, in different cells."""
    colours = drawn_colours(rng, kinds)
    shapes = rng.sample(SHAPES, kinds)
    roll = rng.random()
    if roll < 0.12:
        shapes = shapes[:1] * kinds
    elif roll < 0.24:
        colours = colours[:1] * kinds
    looks = list(zip(shapes, colours, strict=True))
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
        if roll < 0.42:
            column, row = (1, 1) if rng.random() < 0.6 else (rng.randrange(3), rng.randrange(3))
            self.things = [Thing(rng.choice(SHAPES), rng.choice(list(COLOURS)), column, row, True)]
        elif roll < 0.68:
            count = rng.choice((2, 2, 3, 4))
            self.things = draw_things(rng, count, count)
        elif roll < 0.88:
            self.things = draw_things(rng, rng.choice((2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9)), 1)
        else:
            self.things = draw_things(rng, rng.choice((3, 4, 4, 5, 5, 6, 6, 7, 8, 9)), rng.choice((2, 2, 3)))
        self.ground = ground_for(rng, {thing.colour for thing in self.things})
        if len(self.things) == 2 and rng.random() < 0.5:
            one, two = self.things
            self.things = [replace(one, big=True), replace(two, big=False)]
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
