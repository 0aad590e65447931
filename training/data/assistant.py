"""Conversations with the shipped tools: which are declared, which exchanges follow one another."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from kimi_sdk.tools.builtin import ORDER
from training.data import (
    arithmetic,
    calendar,
    chains,
    folder,
    lookups,
    memory,
    primitives,
    talk,
    units,
    words,
)
from training.data.frames import Pool
from training.data.sample import Sample
from training.data.shipped import close, declare_shipped
from training.data.world import World

Exchange = Callable[[World], None]

SINGLE: tuple[tuple[Exchange, str, int], ...] = (
    (arithmetic.calculate, "calculate", 5),
    (units.convert, "convert_units", 5),
    (calendar.shift, "shift_date", 3),
    (calendar.between, "days_between", 3),
    (calendar.weekday, "day_of_week", 2),
    (calendar.clock, "shift_time", 3),
    (calendar.now, "current_time", 1),
    (lookups.facts, "country_facts", 5),
    (lookups.define, "define_word", 3),
    (memory.save, "save_note", 4),
    (memory.read, "read_note", 3),
    (memory.titles, "list_notes", 1),
    (folder.read, "read_file", 3),
    (folder.listing, "list_files", 2),
    (folder.search, "search_files", 3),
)
IDLE: tuple[tuple[Exchange, int], ...] = (
    (talk.talk, 5),
    (talk.unfit, 5),
    (talk.missing, 5),
    (talk.named, 1),
    (talk.recalled, 1),
    (talk.remark, 1),
    (primitives.repeat, 1),
)
SYSTEM = Pool(
    "system",
    """
    You are [a|an] [helpful|friendly|careful|small|useful|polite] assistant[ with tools| that uses tools|].
    You are a helpful assistant. [Use the tools|Use tools when they help|Answer briefly|Be brief][.]
    Answer in one [short |]sentence.
    Answer [briefly|shortly|in a few words|politely|precisely].
    [Be|Always be] [brief|concise|kind|exact|precise].
    Use the tools [when you need them|for facts and numbers|to answer|where they help][.]
    [You work for|You are the assistant of|You help] {name}.
    You are {name}'s [assistant|helper].
    You are the [help desk|assistant|support bot] of {word}.
    [Never guess|Do not guess|Don't make things up][;|,] use a tool.
    Think first, then [answer|act].
    You [help|assist] with [dates|numbers|notes|files|everyday questions|small tasks].
    Keep answers short.
    If something is missing, ask.
    The user is called {name}.
    """,
)


def system_prompt(world: World, chance: float = 0.35) -> None:
    """An instruction, at times."""
    rng = world.rng
    if rng.random() < chance:
        slots = {"name": words.first_name(rng, world.held), "word": words.word(rng, world.held).capitalize()}
        world.system(SYSTEM.text(rng, slots))


def new_world(rng: random.Random, held: bool) -> World:
    """Nobody has spoken; thinking mode and effort are drawn."""
    thinking = rng.random() < 0.7
    effort = rng.choice(("max",) * 7 + ("high", "high", "low")) if thinking else "max"
    return World(rng, held=held, thinking=thinking, effort=effort)


def subset(rng: random.Random, needed: Sequence[str] = (), most: int = 15) -> list[str]:
    """Names of shipped tools to declare, ``needed`` among them, in some order."""
    roll = rng.random()
    if roll < 0.22:
        return list(ORDER)
    size = min(
        rng.randint(1, 3) if roll < 0.45 else rng.randint(3, 8) if roll < 0.85 else rng.randint(8, 15), most
    )
    chosen = list(dict.fromkeys([*needed, *rng.sample(ORDER, size)]))
    chosen = chosen[: max(size, len(needed))]
    if rng.random() < 0.4:
        return [key for key in ORDER if key in chosen]
    rng.shuffle(chosen)
    return chosen


def weighted(rng: random.Random, choices: Sequence[tuple[Exchange, int]]) -> Exchange:
    return rng.choices([made for made, _ in choices], [weight for _, weight in choices])[0]


def room(world: World, declared: int = 0) -> int:
    """Characters that this conversation may still grow by."""
    return 5600 - world.characters - declared


def declared_size(world: World) -> int:
    return sum(len(str(tool.declaration)) for tool in world.tools.values())


def shipped(rng: random.Random, held: bool = False, renamed: bool = False) -> Sample:
    """Single calls of the shipped tools, with idle talk between them."""
    world = new_world(rng, held)
    declare_shipped(world, subset(rng), renamed=renamed)
    system_prompt(world)
    available = [(made, weight) for made, key, weight in SINGLE if world.has(key)]
    size = declared_size(world)
    turns = rng.choice((1, 2, 3, 4, 6, 8))
    while turns > 0 and room(world, size) > 500:
        idle = rng.random() < (0.22 if world.messages else 0.12)
        (weighted(rng, IDLE) if idle else weighted(rng, available))(world)
        turns -= 1
    close(world)
    return world.sample()


def renamed(rng: random.Random, held: bool = False) -> Sample:
    """The shipped tools under other names."""
    return shipped(rng, held, renamed=True)


def chained(rng: random.Random, held: bool = False) -> Sample:
    """Tasks of two and more calls."""
    world = new_world(rng, held)
    picked = [rng.choice(chains.CHAINS) for _ in range(rng.choice((1, 2, 3, 4)))]
    needed = list(dict.fromkeys(key for _, keys in picked for key in keys))
    rng.shuffle(needed)
    declare_shipped(world, subset(rng, needed), renamed=rng.random() < 0.15)
    system_prompt(world)
    size = declared_size(world)
    singles = [(made, weight) for made, key, weight in SINGLE if world.has(key)]
    for made, keys in picked:
        if not world.has(*keys) or room(world, size) < 700:
            continue
        if rng.random() < 0.12:
            (weighted(rng, IDLE) if rng.random() < 0.4 else weighted(rng, singles))(world)
        made(world)
    if len(world.messages) < 2:
        talk.talk(world)
    close(world)
    return world.sample()


def idle(rng: random.Random, held: bool = False) -> Sample:
    """Talk, missing arguments, requests that no tool fits; tools are declared or not."""
    world = new_world(rng, held)
    if rng.random() < 0.75:
        declare_shipped(world, subset(rng, most=8))
    system_prompt(world)
    singles = [(made, weight) for made, key, weight in SINGLE if world.has(key)]
    size = declared_size(world)
    for _ in range(rng.choice((1, 2, 3, 4, 5))):
        if room(world, size) < 500:
            break
        if singles and rng.random() < 0.25:
            weighted(rng, singles)(world)
        else:
            weighted(rng, IDLE)(world)
    close(world)
    return world.sample()


def copying(rng: random.Random, held: bool = False) -> Sample:
    """Primitives, without tools or among a few that are not needed."""
    world = new_world(rng, held)
    if rng.random() < 0.2:
        declare_shipped(world, subset(rng, most=4))
    system_prompt(world, 0.15)
    limit = rng.choice((1200, 2500, 5000))
    while world.characters < limit:
        primitives.primitive(world)
    close(world)
    return world.sample()
