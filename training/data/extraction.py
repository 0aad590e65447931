"""JSON from a sentence: schemas of every domain, as pydantic would make them, and answers spelled like ``json.dumps``."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from training.data import words
from training.data.assistant import new_world, system_prompt
from training.data.clauses import Scene, told_by
from training.data.domains import DOMAINS
from training.data.frames import Pool, Slot, fill
from training.data.memory import text as sentence
from training.data.sample import Sample
from training.data.schemas import response_format
from training.data.values import Kind, Value
from training.data.world import World

ISO_FORMS = ("YYYY-MM-DD", "ISO date", "date as YYYY-MM-DD", "in ISO format")
READ_OFF = "Take the fields from the text."
SCENES = 0.35
"""Part of the records whose sentence is composed of clauses."""


class Domain:
    """Fields and sentences of one subject."""

    def __init__(self, name: str, fields: str, lines: str) -> None:
        self.name = name
        self.kinds: dict[str, Kind] = {}
        self.keys: dict[str, list[str]] = {}
        for line in fields.strip().splitlines():
            head, keys = line.strip().split(": ")
            slot, kind = head.split(" ", 1)
            self.kinds[slot] = Kind(kind)
            self.keys[slot] = keys.split("|")
        self.lines = Pool(f"domain.{name}", lines)


SUBJECTS = [Domain(name, fields, lines) for name, (fields, lines) in DOMAINS.items()]
INSTRUCTION = Pool(
    "extract.instruction",
    """
    {x}
    {x}
    {x}
    {x}
    Extract the [data|fields|details|information][ from the text| from this|][:| -] {x}
    [Turn|Change|Convert] [this|the text|the sentence] into [JSON|data|an object|a record]: {x}
    [Read|Parse] [this|the text|the sentence|the message]: {x}
    {x}⏎[extract the data|parse it|fill in the fields|give me JSON|as JSON, please|structured, please]
    [Fill in|Get|Find] the fields[ from this| from the text|]: {x}
    [What does this say|What is in this|Which data is in this]? {x}
    [Here is|I have|I got] [a text|a message|a sentence|an email]: {x} [Extract the fields.|Parse it.|]
    [Text|Message|Input|Sentence]: {x}
    [Please |][structure|organize|extract|analyse] [this|the following][:| text:] {x}
    "{x}" [Extract the fields|Give me the data|Parse this][.|, please.]
    [Make|Create] a record of this: {x}
    """,
)
PAIRED = (
    "{k}: {v}",
    "{k} = {v}",
    "{k} is {v}",
    "the {k} is {v}",
    "{k} - {v}",
    "{v} ({k})",
    "{v} is the {k}",
    "its {k} is {v}",
)


def spelled_key(rng: random.Random, keys: list[str]) -> str:
    """A property's name: its usual one, another, or the same in another case."""
    key = keys[0] if rng.random() < 0.5 else rng.choice(keys)
    roll = rng.random()
    if roll < 0.1 and "_" in key:
        first, *rest = key.split("_")
        return first + "".join(part.capitalize() for part in rest)
    return key.capitalize() if roll > 0.97 else key


def field_schema(rng: random.Random, value: Value, key: str, usual: str, optional: bool) -> dict[str, Any]:
    """The schema of one property as pydantic writes it."""
    schema: dict[str, Any] = dict(value[2])
    if optional:
        schema = {"anyOf": [schema, {"type": "null"}], "default": None}
    if "description" not in value[2] and key != usual and rng.random() < 0.15:
        schema["description"] = usual.replace("_", " ")
    return schema


def built(rng: random.Random, properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    """An object schema."""
    schema: dict[str, Any] = {"properties": dict(properties), "type": "object"}
    if required:
        schema["required"] = required
    if rng.random() < 0.06:
        schema["additionalProperties"] = False
    return schema


def fields_of(
    rng: random.Random, domain: Domain | Scene, told: dict[str, Value], held: bool
) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """Property schemas, required names and the answer for some of what was told."""
    slots = list(told)
    rng.shuffle(slots)
    whole = 0.6 if isinstance(domain, Domain) else 0.4
    keep = len(slots) if rng.random() < whole else rng.randint(1, len(slots))
    chosen = slots[:keep]
    absent = [slot for slot in domain.kinds if slot not in told]
    if absent and rng.random() < 0.16:
        chosen.insert(rng.randrange(len(chosen) + 1), rng.choice(absent))
    if rng.random() < 0.5:
        chosen.sort(key=list(domain.kinds).index)
    properties: dict[str, Any] = {}
    required: list[str] = []
    answer: dict[str, Any] = {}
    for slot in chosen:
        key = spelled_key(rng, domain.keys[slot])
        if key in properties:
            continue
        missing = slot not in told
        value = domain.kinds[slot].value(rng, held) if missing else told[slot]
        if domain.kinds[slot].text == "date" and rng.random() < 0.3:
            form = {"format": "date"} if rng.random() < 0.7 else {"description": rng.choice(ISO_FORMS)}
            value = (value[0], words.parse_day(value[0]).isoformat(), {**form, "type": "string"})
        optional = missing or rng.random() < 0.12
        properties[key] = field_schema(rng, value, key, domain.keys[slot][0], optional)
        answer[key] = None if missing else value[1]
        if not optional:
            required.append(key)
    return properties, required, answer


def ask(world: World, text: str) -> None:
    world.user(fill(INSTRUCTION.pieces(world.rng, world.held), {"x": text}))


def finish(world: World, schema: Mapping[str, Any], answer: Any, think: str = READ_OFF) -> Sample:
    world.reply(json.dumps(answer, ensure_ascii=False), think)
    return world.sample(response_format=response_format(schema), last_only=True, check={"value": answer})


def extract(rng: random.Random, held: bool = False) -> Sample:
    """One record from a sentence; at times nested, or a list of records."""
    world = new_world(rng, held)
    system_prompt(world, 0.15)
    # Composed sentences have no held-out lines: evaluation asks for those of the domains.
    domain = Scene(rng) if not held and rng.random() < SCENES else rng.choice(SUBJECTS)
    roll = rng.random()
    if roll < 0.1:
        return several(world, domain)
    text, told = told_by(domain, rng, held)
    if rng.random() < 0.12:
        text = (
            f"{sentence(world).capitalize()}. {text}"
            if rng.random() < 0.5
            else f"{text} {sentence(world).capitalize()}."
        )
    properties, required, answer = fields_of(rng, domain, told, held)
    schema = built(rng, properties, required)
    if roll < 0.25 and len(answer) >= 3:
        schema, answer = nested(world, domain, properties, required, answer)
    elif rng.random() < 0.2:
        schema["description"] = rng.choice(
            (
                f"A {domain.name}.",
                f"One {domain.name}.",
                f"Data of a {domain.name}.",
                domain.name.capitalize(),
            )
        )
    ask(world, text)
    return finish(world, schema, answer)


def nested(
    world: World,
    domain: Domain | Scene,
    properties: dict[str, Any],
    required: list[str],
    answer: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Some of the fields move into an inner object, by reference or in place."""
    rng = world.rng
    names = list(properties)
    inner = names[rng.randrange(1, len(names)) :]
    outer = [name for name in names if name not in inner]
    key = rng.choice(("details", "data", "info", "more", "inner", words.word(rng, world.held)))
    while key in outer:
        key = words.word(rng, world.held)
    part = built(
        rng, {name: properties[name] for name in inner}, [name for name in required if name in inner]
    )
    outer_required = [name for name in required if name in outer]
    if rng.random() < 0.75:
        title = key.capitalize()
        schema = {
            "$defs": {title: part},
            **built(
                rng,
                {**{name: properties[name] for name in outer}, key: {"$ref": f"#/$defs/{title}"}},
                [*outer_required, key],
            ),
        }
    else:
        schema = built(rng, {**{name: properties[name] for name in outer}, key: part}, [*outer_required, key])
    return schema, {**{name: answer[name] for name in outer}, key: {name: answer[name] for name in inner}}


def several(world: World, domain: Domain | Scene) -> Sample:
    """Two or three records of one frame: a list of objects."""
    rng, held = world.rng, world.held
    pieces = domain.lines.pieces(rng, held)
    slots = list(dict.fromkeys(str(piece) for piece in pieces if type(piece) is Slot))
    chosen = rng.sample(slots, rng.randint(1, min(3, len(slots))))
    keys = {slot: spelled_key(rng, domain.keys[slot]) for slot in chosen}
    if len(set(keys.values())) < len(keys):
        keys = {slot: domain.keys[slot][0] for slot in chosen}
    texts, answers = [], []
    for _ in range(rng.randint(2, 3)):
        told = {slot: domain.kinds[slot].value(rng, held) for slot in slots}
        texts.append(fill(pieces, {slot: value[0] for slot, value in told.items()}))
        answers.append({keys[slot]: told[slot][1] for slot in chosen})
    item = built(rng, {keys[slot]: dict(told[slot][2]) for slot in chosen}, list(keys.values()))
    title = domain.name.capitalize()
    roll = rng.random()
    schema: dict[str, Any]
    answer: Any = answers
    if roll < 0.6:
        schema = {"$defs": {title: item}, "items": {"$ref": f"#/$defs/{title}"}, "type": "array"}
    else:
        key = rng.choice(("items", "entries", f"{domain.name}s", "records"))
        array = {"items": {"$ref": f"#/$defs/{title}"}, "type": "array"}
        schema = {"$defs": {title: item}, **built(rng, {key: array}, [key])}
        answer = {key: answers}
    ask(world, rng.choice((" ", "\n")).join(texts))
    return finish(world, schema, answer)


def pairs(rng: random.Random, held: bool = False) -> Sample:
    """Fields of any name, given as pairs in the text: the name alone leads to the value."""
    world = new_world(rng, held)
    system_prompt(world, 0.1)
    count = rng.randint(2, 7)
    names: list[str] = []
    while len(names) < count:
        name = words.word(rng, held)
        if rng.random() < 0.3:
            name += "_" + words.word(rng, held)
        if name not in names:
            names.append(name)
    style = rng.choice(PAIRED)
    told: dict[str, Value] = {}
    shown = []
    for name in names:
        kind = rng.choice(
            (
                "person",
                "city",
                "code",
                "phrase",
                "title",
                "item",
                "money",
                "decimal",
                "population",
                "count",
                "clock",
                "date",
                "list",
            )
        )
        told[name] = Kind(kind).value(rng, held)
        text = told[name][0]
        shown.append(style.format(k=name.replace("_", " "), v=text))
        if rng.random() < 0.25:
            style = rng.choice(PAIRED)
    asked = rng.sample(names, rng.randint(1, count))
    properties = {name: dict(told[name][2]) for name in asked}
    answer = {name: told[name][1] for name in asked}
    required = list(asked)
    if rng.random() < 0.12:
        extra = words.word(rng, held)
        if extra not in names:
            properties[extra] = {"anyOf": [dict(told[names[0]][2]), {"type": "null"}], "default": None}
            answer[extra] = None
    ask(world, rng.choice((", ", "; ", "\n", ". ")).join(shown))
    return finish(world, built(rng, properties, required), answer)
