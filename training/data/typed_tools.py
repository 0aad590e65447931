"""An agent with tools that must end in a typed answer: the call first, then JSON of its result."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from kimi_sdk.messages import Message
from training.data import arithmetic, calendar, chains, lookups, memory, units, words
from training.data.assistant import new_world, subset, system_prompt
from training.data.sample import Sample
from training.data.schemas import response_format
from training.data.shipped import close, declare_shipped
from training.data.world import World


def numeric(text: str) -> int | float | None:
    """The number that a result is or begins with."""
    try:
        return float(text.split(" ")[0]) if "." in text.split(" ")[0] else int(text.split(" ")[0])
    except ValueError:
        return None


JOBS: tuple[tuple[Callable[[World], None], tuple[str, ...], str], ...] = (
    (arithmetic.calculate, ("calculate",), "number"),
    (units.convert, ("convert_units",), "number"),
    (units.convert, ("convert_units",), "text"),
    (calendar.shift, ("shift_date",), "text"),
    (calendar.between, ("days_between",), "integer"),
    (calendar.weekday, ("day_of_week",), "text"),
    (calendar.clock, ("shift_time",), "text"),
    (lookups.facts, ("country_facts",), "text"),
    (lookups.define, ("define_word",), "text"),
    (memory.read, ("read_note",), "text"),
    (chains.convert_calc, ("convert_units", "calculate"), "number"),
    (chains.days_calc, ("days_between", "calculate", "convert_units"), "number"),
    (chains.shift_weekday, ("shift_date", "day_of_week"), "text"),
    (chains.fact_calc, ("country_facts", "calculate"), "number"),
)


def typed_tools(rng: random.Random, held: bool = False) -> Sample:
    """One task with tools and a typed end, cut after its call or after its answer."""
    while True:
        world = new_world(rng, held)
        job, needed, kind = rng.choice(JOBS)
        declare_shipped(world, subset(rng, needed, most=8))
        system_prompt(world, 0.3)
        start = len(world.messages)
        job(world)
        close(world)
        messages = first_task(world.messages, start)
        results = [message for message in messages if message.role == "tool"]
        if not results or any(result.is_error for result in results[-1].results):
            continue
        text = results[-1].results[-1].text
        value: Any = text if kind == "text" else numeric(text)
        if value is None or "\n" in text:
            continue
        if rng.random() < 0.3:  # the turn that calls, under the same settings
            calls = [index for index, message in enumerate(messages) if message.calls]
            world.messages = messages[: rng.choice(calls) + 1]
            schema, _ = answer_schema(world, kind, value)
            return world.sample(response_format=response_format(schema), last_only=True)
        schema, answer = answer_schema(world, kind, value)
        world.messages = messages[:-1]
        world.reply(json.dumps(answer, ensure_ascii=False))
        return world.sample(response_format=response_format(schema), last_only=True, check={"value": answer})


def first_task(messages: list[Message], start: int) -> list[Message]:
    """The messages up to the first answer without a call."""
    for index in range(start, len(messages)):
        if messages[index].role == "assistant" and not messages[index].calls:
            return messages[: index + 1]
    return messages


def answer_schema(world: World, kind: str, value: Any) -> tuple[dict[str, Any], Any]:
    """A schema for the result, and the answer under it."""
    rng = world.rng
    basic = {"text": "string", "integer": "integer", "number": "number"}[kind]
    if kind == "number" and isinstance(value, int) and rng.random() < 0.4:
        basic = "integer"
    if rng.random() < 0.4:
        return {"type": basic}, value
    key = rng.choice(("result", "answer", "value", "output", words.word(rng, world.held)))
    return {"properties": {key: {"type": basic}}, "required": [key], "type": "object"}, {key: value}
