"""Conversations with tools that exist nowhere: only their declarations tell what they are called and what they take."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from training.data import talk, words
from training.data.assistant import (
    IDLE,
    SINGLE,
    declared_size,
    new_world,
    room,
    subset,
    system_prompt,
    weighted,
)
from training.data.frames import Pool, Slot
from training.data.named import NamedOffer
from training.data.sample import Sample
from training.data.services import SERVICES
from training.data.shipped import close, declare_shipped, tool_name
from training.data.speech import style
from training.data.values import Kind
from training.data.world import Declared, World


class Service:
    """What one kind of tool does, and how people ask for it."""

    def __init__(self, name: str, parts: Mapping[str, str]) -> None:
        self.name = name
        self.names = parts["names"].split()
        self.descriptions = parts["descriptions"].strip().splitlines()
        self.kinds: dict[str, Kind] = {}
        self.keys: dict[str, list[str]] = {}
        self.optional: set[str] = set()
        for line in parts["arguments"].strip().splitlines():
            head, keys = line.strip().split(": ")
            slot, kind = head.split(" ", 1)
            if slot.startswith("?"):
                slot = slot[1:]
                self.optional.add(slot)
            self.kinds[slot] = Kind(kind)
            self.keys[slot] = keys.split("|")
        self.requests = Pool(f"service.{name}", parts["requests"])
        self.results = [line.strip() for line in parts["results"].strip().splitlines()]
        self.answers = [line.strip() for line in parts["answers"].strip().splitlines()]


ALL = [Service(name, parts) for name, parts in SERVICES.items()]


class Offer:
    """A service as one conversation declares it.

    Attributes:
        verb, noun: for the service that has no meaning of its own.
    """

    def __init__(self, world: World, service: Service) -> None:
        rng, held = world.rng, world.held
        self.service = service
        self.verb, self.noun = words.word(rng, held), words.word(rng, held)
        taken = {tool.name for tool in world.tools.values()}
        name = rng.choice(service.names) if rng.random() < 0.5 else tool_name(rng, held)
        if service.name == "generic" and rng.random() < 0.6:
            name = f"{self.verb}_{self.noun}" if rng.random() < 0.5 else self.verb
        while name in taken:
            name = tool_name(rng, held)
        self.names: dict[str, str] = {}
        plain = rng.random() < 0.6
        for slot, keys in service.keys.items():
            key = keys[0] if plain and rng.random() < 0.5 else rng.choice(keys)
            key = key.replace("{noun}", self.noun)
            if rng.random() < 0.15:
                key = words.word(rng, held)
            while key in self.names.values():
                key = words.word(rng, held)
            self.names[slot] = key
        self.order = list(service.kinds)
        if rng.random() < 0.4:
            rng.shuffle(self.order)
        self.key = name
        self.result: tuple[str, bool] = ("", False)
        world.declare(name, Declared(name, self.declaration(rng, name), lambda _: self.result))

    def declaration(self, rng: random.Random, name: str) -> dict[str, Any]:
        service = self.service
        properties: dict[str, Any] = {}
        for slot in self.order:
            schema = dict(service.kinds[slot].value(rng, False)[2])
            usual = service.keys[slot][0].replace("{noun}", self.noun).replace("_", " ")
            if self.names[slot] not in service.keys[slot] or rng.random() < 0.3:
                schema["description"] = rng.choice((usual, f"The {usual}", usual.capitalize()))
            properties[self.names[slot]] = schema
        parameters: dict[str, Any] = {"properties": properties, "type": "object"}
        parameters["required"] = [self.names[slot] for slot in self.order if slot not in service.optional]
        if rng.random() < 0.6:
            parameters["additionalProperties"] = False
        text = (
            rng.choice(service.descriptions).strip().replace("{verb}", self.verb).replace("{noun}", self.noun)
        )
        return {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}


def use(world: World, offer: Offer) -> None:
    """A request for an invented tool, its call, its made-up result and the answer."""
    rng, held = world.rng, world.held
    service = offer.service
    pieces = service.requests.pieces(rng, held)
    told = {
        str(piece): service.kinds[piece].value(rng, held)
        for piece in dict.fromkeys(p for p in pieces if type(p) is Slot)
        if piece in service.kinds
    }
    shown = {"verb": offer.verb, "noun": offer.noun, **{slot: value[0] for slot, value in told.items()}}
    world.user(style(rng, pieces, shown, held))
    arguments = {offer.names[slot]: told[slot][1] for slot in offer.order if slot in told}
    failed = rng.random() < 0.06
    made, answer = outcome(world, offer, {slot: str(value[1]) for slot, value in told.items()})
    if failed:
        made = answer = failure(world, next(iter(told.values()))[0] if told else offer.verb)
    offer.result = (made, failed)
    plan = ", ".join(f"{key} = {shorter(value)}" for key, value in sorted(arguments.items()))
    world.call(f"Use {offer.key}{': ' if plan else ''}{plan}.", (offer.key, arguments))
    world.reply(answer, "The tool reports a problem; tell the user." if failed else "That answers it.")


def shorter(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else text[:37].rsplit(" ", 1)[0] + " ..."


def failure(world: World, value: str) -> str:
    """What a tool says when it cannot do it."""
    rng = world.rng
    return rng.choice(
        (
            f"There is no {value}.",
            f"{value} was not found.",
            "The service is not available.",
            f"{value} is not known.",
            f"Not allowed: {value}",
        )
    )


def outcome(world: World, offer: Offer, told: Mapping[str, str]) -> tuple[str, str]:
    """A result text, and the answer that says it."""
    rng, held = world.rng, world.held
    missing = dict.fromkeys(offer.service.kinds, "")
    number = words.number(rng, held, negative=0)
    slots = {
        **missing,
        **told,
        "code": words.code(rng, held),
        "number": str(number),
        "digits": "".join(rng.choice("0123456789") for _ in range(rng.randint(6, 8))),
        "place": words.city(rng, held),
        "name": words.word(rng, held).capitalize(),
        "result_text": words.phrase(rng, held, 4),
        "noun": offer.noun,
        "verb": offer.verb,
    }
    if offer.service.name == "weather":
        slots["t"] = str(rng.randint(-20, 40))
        slots["w"] = rng.choice(("sunny", "rain", "cloudy", "snow", "fog", "windy", words.word(rng, held)))
    result = rng.choice(offer.service.results).format(**slots)
    flat = result
    if result.startswith("{"):
        try:
            flat = ", ".join(str(value) for value in json.loads(result).values())
        except ValueError:  # a value with a quotation mark in it
            result = flat = slots["code"]
    return result, rng.choice(offer.service.answers).format(**slots, result=flat.rstrip("."))


def invented(rng: random.Random, held: bool = False) -> Sample:
    """Several invented tools, at times among shipped ones, and requests for them."""
    world = new_world(rng, held)
    declared: list[Callable[[], None]] = []
    count = rng.choice((1, 2, 2, 3, 4, 5))
    services = [
        *rng.sample(ALL, count),
        *([service for service in ALL if service.name == "generic"] if rng.random() < 0.35 else []),
    ]
    rng.shuffle(services)
    mixed = rng.random() < 0.3
    first = rng.random() < 0.5
    if mixed and first:
        declare_shipped(world, subset(rng, most=4)[:5])
    for service in dict.fromkeys(services):
        declared.append(partial(use, world, Offer(world, service)))
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        declared.append(partial(NamedOffer(world).use, world))
    if mixed and not first:
        declare_shipped(world, [key for key in subset(rng, most=4)[:5] if key not in world.tools])
    system_prompt(world, 0.25)
    size = declared_size(world)
    singles = [
        (made, weight)
        for made, key, weight in SINGLE
        if world.has(key) and world.tools[key].name == key and mixed
    ]
    for _ in range(rng.choice((1, 2, 3, 4, 5))):
        if room(world, size) < 500:
            break
        roll = rng.random()
        if roll < 0.12:
            made = weighted(rng, IDLE)
            (talk.talk if made is talk.unfit else made)(world)
        elif singles and roll < 0.3:
            weighted(rng, singles)(world)
        else:
            rng.choice(declared)()
    close(world)
    return world.sample()
