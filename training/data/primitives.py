"""Copying, recalling and quoting in chat form: the abilities that every tool call and every answer stands on."""

from __future__ import annotations

import json
import random

from training.data import words
from training.data.frames import Pool, fill
from training.data.memory import text as sentence
from training.data.world import PLAIN, World

REPEAT = Pool(
    "copy.repeat",
    """
    [repeat|say|copy|echo|write]: {x}
    [repeat|say|copy|write] [this|the following|after me|exactly this][:| -] {x}
    [please |][repeat|say|copy] {q}
    [can|could] you [repeat|say|copy] {q}?
    [write|type] {q} [again|once more|for me]
    {x} ⏎-- [repeat that|say that again|copy it]
    [quote|give me back] [the text|what I write][:| -] {x}
    what did I just say? I said {q}
    {q} [is what I said. Say it.|- repeat it please|, once more]
    """,
)
RECALL = Pool(
    "copy.recall",
    """
    [what is|what's|tell me|give me] {k}[?|]
    [which value|what] [belongs to|has|is stored under|goes with] {k}?
    {k}?
    [and |now ][what is|for] {k}?
    [look up|find|read] {k}
    the [value|entry] [of|for] {k}[, please|?]
    """,
)
REVERSE = Pool(
    "copy.reverse",
    """
    [which key|what|which one] has [the value |]{v}?
    [what|which name] [belongs to|goes with|has] {v}?
    [whose|which entry's] value is {v}?
    {v} [belongs to|is for|is the value of] [what|which|whom]?
    """,
)
NTH = Pool(
    "copy.nth",
    """
    [what is|tell me|give me|name] the {n} [word|one|item|entry]
    [which|what] [word|one|item] is the {n}?
    the {n} [word|one|item|entry][?|, please]
    [say|write|quote] the {n} [word|item]
    """,
)
AFTER = Pool(
    "copy.after",
    """
    [what|which word|which one] [comes|is|stands] [right |directly |]after {w}?
    [what|which word] follows {w}?
    the [word|one|item] after {w}[?|, please]
    """,
)
BEFORE = Pool(
    "copy.before",
    """
    [what|which word|which one] [comes|is|stands] [right |directly |]before {w}?
    the [word|one|item] before {w}[?|, please]
    what [precedes|is in front of] {w}?
    """,
)
QUOTED = Pool(
    "copy.quoted",
    """
    [what|which text] is [in|between] [the |]quotes?
    [give|tell|show] me the [quoted text|text in quotes|quote]
    [say|write|extract] [only |]what is [quoted|in quotation marks]
    [quote|extract] the [quoted part|part in quotes]
    """,
)
NUMBERS = Pool(
    "copy.number",
    """
    [what|which] number [is in|does] the text[ contain|]?
    [extract|find|give me|tell me] the number[ in it| in the text|]
    [only|just] the number[, please|]
    how many [are there|is it|does it say]?
    """,
)
LISTED = Pool(
    "copy.list",
    """
    [list|write|give me] [the items|them|all of them] [one per line|line by line|as lines]
    [make|write] a list[, one per line|, one item a line|]
    each [item|one] on [its own|a new] line[, please|]
    """,
)
NUMBERED = Pool(
    "copy.numbered",
    "[make|write|give me] a numbered list\n[number|enumerate] [them|the items]\n[list|write] them with numbers",
)
JSONED = Pool(
    "copy.json",
    """
    [write|give|show|return] [it|that|this|them] as JSON
    [turn|change|convert] [it|that|this] into JSON
    [as|in|to] JSON[, please|]
    JSON of [it|that|this][, please|]
    """,
)
SPELLED = Pool(
    "copy.spell",
    "spell {w}\n[how do you|how is] spell {w}\n[write|give] the letters of {w}\n{w}, letter by letter",
)
SEPARATORS = (": ", " = ", " is ", " - ", " -> ", ":")


def thing(world: World) -> str:
    """Anything worth copying."""
    rng, held = world.rng, world.held
    roll = rng.random()
    if roll < 0.2:
        return words.word(rng, held)
    if roll < 0.4:
        return words.phrase(rng, held, 5)
    if roll < 0.5:
        return words.full_name(rng, held)
    if roll < 0.6:
        return words.code(rng, held)
    if roll < 0.72:
        return words.spell(rng, words.number(rng, held, negative=0.2))
    if roll < 0.78:
        return words.spell_day(rng, words.day(rng, held))
    if roll < 0.9:
        return sentence(world)
    if roll < 0.95:
        return f"{words.word(rng, held)}/{words.word(rng, held)}.{rng.choice(('txt', 'md', 'py', 'csv'))}"
    return words.city(rng, held)


def small(world: World) -> str:
    """A short value or key."""
    rng, held = world.rng, world.held
    roll = rng.random()
    if roll < 0.45:
        return words.word(rng, held)
    if roll < 0.6:
        return words.first_name(rng, held)
    if roll < 0.7:
        return words.code(rng, held)
    return str(words.number(rng, held)) if roll < 0.85 else words.phrase(rng, held, 3)


def mark(rng: random.Random, value: str) -> str:
    return rng.choice((f"'{value}'", f'"{value}"'))


def ask(world: World, pool: Pool, **slots: str) -> str:
    made = fill(pool.pieces(world.rng, world.held), slots)
    return made[:1].upper() + made[1:] if world.rng.random() < 0.5 else made


def repeat(world: World) -> None:
    value = thing(world)
    world.user(ask(world, REPEAT, x=value, q=mark(world.rng, value)))
    world.reply(value, PLAIN)


def distinct(world: World, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found[words.word(world.rng, world.held) if world.rng.random() < 0.6 else small(world)] = None
    return list(found)


def recall(world: World) -> None:
    """Pairs, then questions about some of them."""
    rng = world.rng
    keys = distinct(world, rng.randint(2, 7))
    values = distinct(world, len(keys))
    style = rng.choice(SEPARATORS)
    joint = rng.choice((", ", "; ", "\n", ". "))
    listed = joint.join(f"{key}{style}{value}" for key, value in zip(keys, values, strict=True))
    for turn in range(rng.randint(1, 4)):
        index = rng.randrange(len(keys))
        back = rng.random() < 0.2
        question = ask(world, REVERSE, v=values[index]) if back else ask(world, RECALL, k=keys[index])
        if turn == 0:
            question = (
                f"{listed}\n{question}" if joint == "\n" or rng.random() < 0.4 else f"{listed}. {question}"
            )
        world.user(question)
        world.reply(keys[index] if back else values[index], PLAIN)


def nth(world: World) -> None:
    """A list of words and a question about a place in it."""
    rng = world.rng
    items = distinct(world, rng.randint(3, 6))
    joint = rng.choice((", ", " ", "\n", "; "))
    if joint == " ":
        items = [item.replace(" ", "-") for item in items]
    roll = rng.random()
    at = rng.randrange(len(items))
    if roll < 0.4:
        place = rng.choice((*("first", "second", "third", "fourth", "fifth")[: len(items)], "last"))
        at = (
            len(items) - 1
            if place == "last"
            else ("first", "second", "third", "fourth", "fifth").index(place)
        )
        question, answer = ask(world, NTH, n=place), items[at]
    elif roll < 0.6 and at + 1 < len(items):
        question, answer = ask(world, AFTER, w=items[at]), items[at + 1]
    elif roll < 0.75 and at > 0:
        question, answer = ask(world, BEFORE, w=items[at]), items[at - 1]
    elif roll < 0.9:
        question, answer = ask(world, LISTED), "\n".join(items)
    else:
        question, answer = ask(world, NUMBERED), "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))
    listed = joint.join(items)
    world.user(f"{listed}\n{question}" if rng.random() < 0.6 else f"{question}: {listed}")
    world.reply(answer, PLAIN)


def quote(world: World) -> None:
    """A sentence with a quotation in it."""
    rng = world.rng
    value = thing(world).replace('"', "")
    around = sentence(world)
    text = rng.choice(
        (f'{around}, "{value}"', f'"{value}" {around}', f'{words.word(rng, world.held)} "{value}" {around}')
    )
    question = ask(world, QUOTED)
    world.user(f"{text}\n{question}" if rng.random() < 0.5 else f"{question}: {text}")
    world.reply(value, PLAIN)


def count_words(world: World) -> None:
    """A sentence with exactly one number in it."""
    rng = world.rng
    number = words.number(rng, world.held)
    spelled = words.spell(rng, number)
    before, after = words.phrase(rng, world.held, 4), words.phrase(rng, world.held, 4)
    text = f"{before} {spelled} {after}"
    question = ask(world, NUMBERS)
    world.user(f"{text}\n{question}" if rng.random() < 0.5 else f"{question}: {text}")
    world.reply(str(number), PLAIN)


def jsoned(world: World) -> None:
    """Key-value text to JSON."""
    rng = world.rng
    keys = [words.word(rng, world.held) for _ in range(rng.randint(1, 4))]
    data: dict[str, object] = {}
    shown = []
    style = rng.choice(SEPARATORS)
    for key in keys:
        roll = rng.random()
        value: object = (
            words.number(rng, world.held)
            if roll < 0.3
            else thing(world).replace("\n", " ").replace(", ", " ")
        )
        data[key] = value
        shown.append(f"{key}{style}{value}")
    text = rng.choice((", ", "; ", "\n")).join(shown)
    question = ask(world, JSONED)
    world.user(f"{text}\n{question}" if rng.random() < 0.6 else f"{question}: {text}")
    world.reply(json.dumps(data, ensure_ascii=False), PLAIN)


def spell(world: World) -> None:
    word = words.word(world.rng, world.held)
    world.user(ask(world, SPELLED, w=word))
    world.reply("-".join(word), PLAIN)


PRIMITIVES = (repeat, repeat, repeat, recall, recall, recall, nth, nth, quote, count_words, jsoned, spell)


def primitive(world: World) -> None:
    """One of them."""
    world.rng.choice(PRIMITIVES)(world)
