"""Small typed answers to a sentence: one of several words, true or false, a number, a list."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from training.data import words
from training.data.assistant import new_world, system_prompt
from training.data.extraction import finish
from training.data.frames import Pool
from training.data.memory import text as sentence
from training.data.sample import Sample
from training.data.values import FOODS, ITEMS, open_or
from training.data.world import World

TOPICS = {
    "sports": "team match goal player coach race league tennis football score stadium medal swimmer runner",
    "food": "soup bread cheese recipe cook kitchen dinner salad cake taste oven spices restaurant meal",
    "travel": "flight hotel beach passport luggage airport trip tourist train island ticket map suitcase",
    "technology": "computer phone software screen robot chip website app laptop internet code server battery",
    "health": "doctor fever medicine pain hospital vaccine diet sleep blood nurse patient heart cough",
    "money": "bank loan price tax salary market shares budget invoice interest savings euro debt",
    "music": "song guitar band concert singer piano melody drums album choir violin",
    "weather": "rain storm sunny snow cloud wind temperature fog thunder forecast frost",
    "animals": "dog cat horse bird lion fish elephant rabbit zoo fur wings tiger whale",
    "politics": "president election vote parliament minister law party senate campaign government",
    "school": "teacher pupil homework exam class lesson university student grade library",
    "cars": "engine wheel driver brake fuel garage motor tyre highway truck",
}
MOODS = {
    "positive": (
        "great wonderful excellent fantastic lovely perfect amazing delicious friendly beautiful superb brilliant helpful nice"
    ),
    "negative": "terrible awful horrible bad disgusting rude boring broken ugly disappointing dreadful useless dirty poor",
    "neutral": "okay average ordinary normal usual acceptable standard plain fair common",
}
OPINION = Pool(
    "label.opinion",
    """
    The {w} [was|is] [really |so |absolutely |]{m}.
    [I think|I find|We found] the {w} [really |]{m}.
    [What a|Such a] {m} {w}[!|.]
    {m} {w}, [I must say|honestly|as always][.|!]
    My {w} is {m} and [I told my friends|everybody says so|that's all I can say].
    The {w} [we bought|I got|you sent me|from {c}] [was|is] {m}.
    [Honestly|Well|In short], a {m} {w}.
    {n} says the {w} is {m}.
    [Never seen|Have you seen] such a {m} {w}[!|?|.]
    The staff [was|were] {m} and so was the {w}.
    """,
)
TOPIC_TEXT = Pool(
    "label.topic",
    """
    The {a} and the {b} [are|were] [important|new|old|here|the subject] [today|this week|again].
    [We|They|People] talked about the {a}, the {b} and the {d}.
    {n} [saw|needs|wants|likes|asked about] the {a} and [the|a] {b}.
    [Yesterday|Today|Last night] the {a} [and|with] the {b} [made us happy|were in the news|surprised everyone].
    [My|Our|Their] {a} [has|needs|got] a [new |]{b}.
    [Everything|An article|A question] about {a}, {b} and {d}.
    The {a} [near|without|behind|with] the {b}[ and the {d}|].
    I read about a {a} and a {b} in {c}.
    [How does|Why does] the {a} [change|affect|need] the {b}?
    """,
)
CLASSIFY = Pool(
    "label.classify",
    """
    {x}
    {x}
    [Classify|Label|Categorize|Tag] [this|the text|the sentence|the message]: {x}
    [What is|Which is] the [topic|category|label|class][ of this| of the text|]? {x}
    {x} [Which category|Which label|What kind|Which one][ is it| fits|]?
    [Choose|Pick|Select] the right [label|option|category|one] [for|:] {x}
    [Sort|File] this: {x}
    [Put|Place] this [into|in] [a category|one of the classes|the right group|its drawer]: {x}
    [Under which|In which] [label|heading|group|folder] [does this go|do I file this|belongs this]? {x}
    {x} [Assign|Give|Add] [a label|a tag|the tag|the category][.|, please.|]
    [Decide|Judge|Assess][:| -] {x}
    [We got|A customer wrote|Someone posted|I received]: {x}
    {x} - [what fits best|which of them|pick one|your label]?
    [How would you|How do you|Can you] [label|tag|classify|sort] {x}
    "{x}" [belongs to|falls under|goes to] [which|what]?
    [Incoming|New|Next] [item|ticket|message|entry]: {x}
    [Text|Message|Review|Input]: {x}
    """,
)
BOOLEAN = Pool(
    "label.boolean",
    """
    Does [the text|this|the sentence] mention {w}? {x}
    {x} Does it mention {w}?
    Is [the word |]{w} in [the text|this sentence|this]? {x}
    {x} - is {w} in there?
    [Check if|Tell me if|True or false:] {w} [appears|occurs|is mentioned] in: {x}
    [Does this contain|Can you find] {w}? {x}
    [Look for|Search for|Find] {w}. {x} [Is it there|Did you find it|Yes or no]?
    {x} [Do you see|Can you spot|Did I write|Does it have|Does it include] {w}?
    [Do you see|Did they say|Does anyone say|Does it include] {w} [here|in this]? {x}
    [yes or no|tell me]: is {w} [among these|part of this|one of the words]? {x}
    [In|Within] the [text|line|words] "{x}" [is there|do we have|can one read] {w}?
    {x} [Contains|Includes|Has] {w}?
    I [need|want] to know [if|whether] {w} [occurs|is there|comes up]: {x}
    {w} in: {x}
    [Words|List|Text]: {x} [Word|Looking for|Wanted]: {w}
    """,
)
COMPARE = Pool(
    "label.compare",
    """
    Is {a} [greater|larger|bigger|more] than {b}?
    {a} > {b}?
    Is {a} more than {b}?
    [True or false|Right or wrong|Check][:| -] {a} is [greater|larger] than {b}[.|]
    Would you say {a} is [larger|bigger] than {b}?
    [Do I have|Are] {a} [points|euros|apples] more than {b}?
    [Does|Would] {a} exceed {b}?
    {a} [beats|exceeds|tops] {b}, [right|correct|doesn't it]?
    [Which holds|Tell me if it holds]: {a} is [more|greater|higher] than {b}
    [A friend|Someone|My son] says {a} is [more|bigger|larger] than {b}. [Is that so|Is it true|Right]?
    [yes or no|quick check|so]: {a} [over|above|more than] {b}?
    [Can|Could] {a} be [more|larger|greater] than {b}?
    I [scored|have|paid|counted] {a}, [she|he|my friend] {b}. Did I [get|have|score] more?
    {a} vs {b}: is the first one [larger|bigger|greater]?
    {a} is [not smaller but |]larger than {b}. [Agree|Correct|Is this right]?
    [compare]: {a} > {b}
    """,
)
LESS = Pool(
    "label.less",
    "Is {a} [less|smaller|lower|fewer] than {b}?\n{a} < {b}?\n[True or false|Check]: {a} is [smaller|less] than {b}.\nIs {a} below {b}?\n"
    "[Does|Will] {a} [stay|lie|fall] [under|below] {b}?\n[yes or no|quick check]: {a} [under|below|less than] {b}\n"
    "[The limit|The maximum|My budget] is {b}. Is {a} [under|below|within] it?\n{a} vs {b}: is the first [smaller|lower]?\n"
    "[Someone|A friend] claims {a} is [less|smaller] than {b}. [True|Right|Is that so]?\n"
    "I [have|paid|scored] {a}, [she|he] {b}. Do I have [less|fewer]?\nbetween {a} and {b}, is {a} the [smaller|lower]?\n"
    "[compare|check]: {a} < {b}\n{a} is [smaller|lower] than {b}, [right|correct|isn't it]?",
)
NUMBER = Pool(
    "label.number",
    """
    How many [are there|is it|are mentioned]? {x}
    {x} How many [are there|is that|are they]?
    {x} [What is the number|Which number is it|The number, please|How many]?
    [Extract|Find|Read off|Give me] the number[ from the text| in this|]: {x}
    {x}
    """,
)
LISTING = Pool(
    "label.list",
    """
    [List|Extract|Give me|Find] [the items|all items|the things|the list]: {x}
    {x}
    {x} [List|Extract] [the items|them|everything].
    [Which|What] [items|things] are mentioned? {x}
    {x} [Split it up|As a list|Each one separately|Every item, please|Put them in a list][.|]
    [Collect|Gather|Pick out|Write down|Note] [everything|each item|all of them|the entries]: {x}
    [What|Which ones] [do I need|did they name|are there|does it name]? {x}
    [Break|Cut|Split] [this|it|the sentence] into [items|its items|pieces]: {x}
    "{x}" - [the items|the entries|list them|all of them]
    [Shopping list|Entries|Names|Things|Items]: {x}
    [Please |]itemize: {x}
    [I wrote|She said|The note says]: {x} [Which are they|The list|Items]?
    [Make|Return] a list [from|of] this: {x}
    """,
)
COUNTED = Pool(
    "label.counted",
    """
    [There are|I see|We have|I bought|They sold] {n} {w} [in the {u}|here|today|in {c}][.|]
    {p} has {n} {w}.
    {n} {w} [came|left|are missing|arrived|were sold] [today|yesterday|in {c}|].
    The {u} [holds|has|needs] {n} {w}.
    We need {n} {w} for the {u}.
    [Only|About|Exactly] {n} {w} [are left|remain|were there].
    """,
)


def classified(world: World) -> tuple[str, dict[str, Any], Any]:
    """A topic, a mood, or the option that is named in the text."""
    rng, held = world.rng, world.held
    roll = rng.random()
    if roll < 0.35:
        names = rng.sample(list(TOPICS), rng.randint(2, 7))
        answer = rng.choice(names)
        hints = rng.sample(TOPICS[answer].split(), 3)
        slots = {
            "a": hints[0],
            "b": hints[1],
            "d": hints[2],
            "n": words.first_name(rng, held),
            "c": words.city(rng, held),
        }
        text = TOPIC_TEXT.text(rng, slots, held)
        world.facts["plan"] = f"It is about {hints[0]} and {hints[1]}: {answer}."
    elif roll < 0.58:
        names = list(MOODS) if rng.random() < 0.6 else ["positive", "negative"]
        rng.shuffle(names)
        answer = rng.choice(names)
        slots = {
            "m": rng.choice(MOODS[answer].split()),
            "w": open_or(rng, held, ITEMS + FOODS),
            "c": words.city(rng, held),
            "n": words.first_name(rng, held),
        }
        text = OPINION.text(rng, slots, held)
        if rng.random() < 0.25:
            other = {"positive": "good", "negative": "bad", "neutral": "mixed"}
            names, answer = [other[name] for name in names], other[answer]
        world.facts["plan"] = f"It says {slots['m']}: {answer}."
    else:
        names = list(dict.fromkeys(words.word(rng, held) for _ in range(rng.randint(2, 6))))
        answer = rng.choice(names)
        before, after = words.phrase(rng, held, 4), words.phrase(rng, held, 3)
        text = f"{before} {answer} {after}."
        world.facts["plan"] = f"One of the options is in the text: {answer}."
    text = text[:1].upper() + text[1:]
    return CLASSIFY.text(rng, {"x": text}, held), {"enum": names, "type": "string"}, answer


def compared(one: int | float, two: int | float) -> str:
    """How to see which of two numbers is larger: by their lengths, or by the first digit that differs."""
    more = "more" if one > two else "less"
    left, right = str(one), str(two)
    tens, ones = left.split(".")[0], right.split(".")[0]
    if len(tens) != len(ones):
        return f"{tens} has {len(tens)} digits, {ones} has {len(ones)}: {left} is {more} than {right}."
    first, second = next(
        (a, b) for a, b in zip(left.ljust(12, "0"), right.ljust(12, "0"), strict=True) if a != b
    )
    if "." in (first, second):
        return f"{left} is {more} than {right}."
    return (
        f"{' '.join(left)} and {' '.join(right)}: {first} is {more} than {second}, "
        f"so {left} is {more} than {right}."
    )


def two_numbers(rng: random.Random) -> tuple[int | float, int | float]:
    """Two different numbers, often of the same length or close together."""
    size = rng.choice((1, 2, 2, 3, 3, 3, 4, 5))
    one: int | float = rng.randrange(10 ** (size - 1), 10**size)
    two: int | float = (
        rng.randrange(10 ** (size - 1), 10**size) if rng.random() < 0.7 else rng.randint(0, 2000)
    )
    if rng.random() < 0.35:
        two = max(0, one + rng.choice((-100, -10, -3, -2, -1, 1, 2, 5, 10, 30, 200)))
    if rng.random() < 0.12:
        one, two = round(one + rng.randint(1, 9) / 10, 1), round(two + rng.randint(1, 99) / 100, 2)
    return one, two if one != two else two + 1


def boolean(world: World) -> tuple[str, dict[str, Any], Any]:
    rng, held = world.rng, world.held
    if rng.random() < 0.5:
        one, two = two_numbers(rng)
        world.facts["plan"] = compared(one, two)
        less = rng.random() < 0.35
        text = (LESS if less else COMPARE).text(rng, {"a": str(one), "b": str(two)}, held)
        return text, {"type": "boolean"}, one < two if less else one > two
    items = [words.word(rng, held) for _ in range(rng.randint(4, 8))]
    true = rng.random() < 0.5
    wanted = rng.choice(items) if true else words.word(rng, held)
    text = BOOLEAN.text(
        rng, {"w": f"'{wanted}'" if rng.random() < 0.5 else wanted, "x": " ".join(items) + "."}, held
    )
    at = items.index(wanted) if wanted in items else -1
    near = " ".join(items[max(0, at - 1) : at + 2])
    world.facts["plan"] = f"It says: {near}." if at >= 0 else f"There is no {wanted} in it."
    return text, {"type": "boolean"}, at >= 0


def counted(world: World) -> tuple[str, dict[str, Any], Any]:
    rng, held = world.rng, world.held
    value = words.integer(rng, held) if rng.random() < 0.8 else rng.randint(1, 20)
    slots = {
        "n": words.spell(rng, value),
        "w": open_or(rng, held, ITEMS),
        "u": words.word(rng, held),
        "c": words.city(rng, held),
        "p": words.first_name(rng, held),
    }
    text = COUNTED.text(rng, slots, held)
    text = text[:1].upper() + text[1:]
    return NUMBER.text(rng, {"x": text}, held), {"type": rng.choice(("integer", "integer", "number"))}, value


def listed(world: World) -> tuple[str, dict[str, Any], Any]:
    rng, held = world.rng, world.held
    numbers = rng.random() < 0.3
    count = rng.choice((2, 3, 3, 4, 4, 5, 6, 7, 8))
    values: list[Any] = (
        [words.integer(rng, held) for _ in range(count)]
        if numbers
        else [
            open_or(rng, held, FOODS, 0.4) if rng.random() < 0.7 else words.first_name(rng, held)
            for _ in range(count)
        ]
    )
    shown = (
        ", ".join(str(value) for value in values[:-1])
        + rng.choice((" and ", ", ", ", and "))
        + str(values[-1])
    )
    lead = rng.choice(
        (
            "",
            "I need ",
            "We saw ",
            "There are ",
            "Buy ",
            f"{words.first_name(rng, held)} wants ",
            "My favourites are ",
            "The values are ",
            "Don't forget ",
            "Please bring ",
            "On the table: ",
            "We still have ",
            "You can choose between ",
            f"In {words.city(rng, held)} they have ",
            "The list has ",
            "I packed ",
            "Today we got ",
            "My friends are ",
        )
    )
    schema = {"items": {"type": "integer" if numbers else "string"}, "type": "array"}
    return LISTING.text(rng, {"x": f"{lead}{shown}."}, held), schema, values


KINDS: tuple[Callable[[World], tuple[str, dict[str, Any], Any]], ...] = (
    classified,
    classified,
    boolean,
    boolean,
    counted,
    listed,
    listed,
)


def label(rng: random.Random, held: bool = False) -> Sample:
    """One small typed answer; at times as the only field of an object."""
    world = new_world(rng, held)
    system_prompt(world, 0.15)
    make = rng.choice(KINDS)
    text, schema, value = make(world)
    if rng.random() < 0.08:
        text = f"{sentence(world).capitalize()}. {text}"
    if rng.random() < 0.25:
        key = rng.choice(("answer", "result", "value", "label", "output", words.word(rng, held)))
        schema, value = {"properties": {key: schema}, "required": [key], "type": "object"}, {key: value}
    world.user(text)
    return finish(world, schema, value, world.facts.pop("plan", "Read the text and decide."))
