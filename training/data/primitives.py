"""Copying, recalling and quoting in chat form: the abilities that every tool call and every answer stands on."""

from __future__ import annotations

import json
import random

from training.data import words
from training.data.clauses import Scene, told_by
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
ASKED = {
    "n": Pool(
        "copy.asked_who",
        "who [was it|is it|did it|did that][?|]\nwho [is meant|are we talking about]?\n[the|what] name[?|, please]\nwho [was named|is named] [there|in it]?\n[which|what] person [is it|does this]?\n[name|tell me] [who did it|the person]",
    ),
    "c": Pool(
        "copy.asked_where",
        "where [was it|is it|did it happen|does it say][?|]\n[the|which] [place|city|town][?|, please]\nin [which|what] [place|city|town]?\n[name|tell me] the [place|city|town]",
    ),
    "d": Pool(
        "copy.asked_when",
        "when [was it|is it|did it happen][?|]\n[the|what] [date|day][?|, please]\non [which|what] [day|date]?\n[say|tell me] [when|the date|the day]",
    ),
    "h": Pool(
        "copy.asked_time",
        "at what [time|hour]?\n[the|what] time[?|, please]\n[tell me|say] the time\nwhat time [was it|is it]?",
    ),
    "i": Pool(
        "copy.asked_what",
        "what [thing|item|object] [is it|was it]?\n[the|what] [item|thing|object][?|, please]\n[name|tell me] the [item|thing]\n[which|what] [thing|item] do we talk about?",
    ),
    "t": Pool(
        "copy.asked_title",
        "what is [the title|it called|its title|the name of it]?\n[the|which] title[?|, please]\n[name|tell me] the title\nhow is it called?",
    ),
    "b": Pool(
        "copy.asked_firm",
        "[which|what] [company|firm|house] [is it|was it|is meant]?\n[the|what] [company|firm]['s name|][?|, please]\n[name|tell me] the [company|firm]",
    ),
    "f": Pool(
        "copy.asked_from",
        "[from where|where from][?|]\nwhere did [it|the trip|the journey] [start|begin]?\n[the|what] [origin|start|starting point][?|, please]\n[name|tell me] the [origin|start]",
    ),
    "g": Pool(
        "copy.asked_to",
        "[where to|to where][?|]\nwhere did [it|the trip|the journey] [end|go]?\n[the|what] [destination|goal][?|, please]\n[name|tell me] the [destination|goal]",
    ),
    "k": Pool(
        "copy.asked_code",
        "[what|which] [code|number|reference] [is it|is given|does it have]?\n[the|what] [code|reference][?|, please]\n[name|tell me] the [code|reference]",
    ),
    "e": Pool(
        "copy.asked_mail",
        "[what|which] email [is it|is given]?\n[the|what] email[ address|][?|, please]\n[name|tell me] the email",
    ),
    "q": Pool(
        "copy.asked_count",
        "how many[ are there| is it| were it|][?|]\n[the|what] [count|number|quantity][?|, please]\n[say|tell me] how many",
    ),
    "a": Pool(
        "copy.asked_age", "how old[ is this person|][?|]\n[the|what] age[?|, please]\n[say|tell me] the age"
    ),
    "p": Pool(
        "copy.asked_price",
        "how much [was it|did it cost|is it|was paid]?\n[the|what] [price|cost|sum][?|, please]\n[say|tell me] [how much|the price]",
    ),
}
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


def asked(world: World) -> None:
    """A composed sentence, and questions about what it says."""
    rng = world.rng
    scene = Scene(rng)
    text, told = told_by(scene, rng, world.held)
    several = {slot for slot in "no" if "o" in told} | {slot for slot in "c" if set("fgv") & set(told)}
    open_slots = [slot for slot in told if slot in ASKED and slot not in several]
    if scene.keys.get("t", ["title"])[0] != "title" and "t" in open_slots:
        open_slots.remove("t")
    open_slots = open_slots or ["n"]
    for turn, slot in enumerate(rng.sample(open_slots, min(len(open_slots), rng.randint(1, 4)))):
        question = ask(world, ASKED[slot])
        if turn == 0:
            question = f"{text}\n{question}" if rng.random() < 0.6 else f"{text.rstrip('.!')}. {question}"
        world.user(question)
        world.reply(str(told[slot][1]), PLAIN)


def spell(world: World) -> None:
    word = words.word(world.rng, world.held)
    world.user(ask(world, SPELLED, w=word))
    world.reply("-".join(word), PLAIN)


PRIMITIVES = (
    repeat,
    repeat,
    repeat,
    recall,
    recall,
    recall,
    nth,
    nth,
    quote,
    count_words,
    jsoned,
    spell,
    asked,
    asked,
)


def primitive(world: World) -> None:
    """One of them."""
    world.rng.choice(PRIMITIVES)(world)
