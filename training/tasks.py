"""Evaluation tasks, all held out from training: what is asked, with which tools, how an outcome is judged."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import PIL.Image

from kimi_sdk.errors import Retry
from kimi_sdk.messages import Message, ToolCall, ToolResult
from kimi_sdk.tools.arithmetic import calculate
from kimi_sdk.tools.builtin import ORDER, builtin_tools
from kimi_sdk.tools.notes import Notes
from kimi_sdk.tools.tool import Tool
from kimi_sdk.vision.image import Image
from training.data import chains, extraction, labels, talk, words
from training.data.assistant import SINGLE, subset
from training.data.invented import ALL, Offer, use
from training.data.look_frames import DIGITS
from training.data.looking import digits, ink_and_ground, question
from training.data.memory import text as note_text
from training.data.pictures import COLOURS, SHAPES, number
from training.data.sample import Picture, Sample
from training.data.shipped import close, declare_shipped
from training.data.typed_tools import first_task
from training.data.view import View
from training.data.world import World
from training.written import TALKS, WRITTEN

Scores = dict[str, bool | float]


@dataclass(slots=True)
class Outcome:
    """What the model did: its calls, their results, and its last words (or its typed value)."""

    calls: Sequence[ToolCall] = ()
    results: Sequence[ToolResult] = ()
    answer: str = ""
    value: Any = None
    error: str = ""
    ended: bool = True


@dataclass(slots=True)
class Task:
    """One evaluation item.

    Attributes:
        prompt: what the user says (and shows).
        judge: outcome to scores; ``"ok"`` is the family's headline.
        instructions: system message.
        tools: real tools to work with.
        schema: of the typed answer, if one is wanted.
        expected: for the report of failures.
        finish: called when the task is over.
    """

    family: str
    prompt: tuple[str | Image, ...]
    judge: Callable[[Outcome], Scores]
    instructions: str = ""
    tools: Sequence[Tool[..., Any]] = ()
    schema: Mapping[str, Any] | None = None
    expected: str = ""
    finish: Callable[[], None] = field(default=lambda: None)


def same_value(key: str, wanted: Any, given: Any) -> bool:
    """Whether two argument values mean the same."""
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    if isinstance(wanted, (int, float)) and isinstance(given, (int, float)):
        return abs(wanted - given) <= 1e-9 * max(1, abs(wanted))
    if key == "expression":
        try:
            return calculate(str(wanted)) == calculate(str(given))
        except Retry:
            return str(wanted).replace(" ", "") == str(given).replace(" ", "")
    if isinstance(wanted, str) and isinstance(given, str):
        return wanted.strip().casefold() == given.strip().casefold()
    return bool(wanted == given)


def same_call(wanted: ToolCall, given: ToolCall) -> bool:
    """Whether two calls name the same tool with arguments of the same meaning."""
    defaults = {"path": "."}
    left = {key: value for key, value in wanted.args.items() if defaults.get(key) != value}
    right = {key: value for key, value in given.args.items() if defaults.get(key) != value}
    return (
        wanted.name == given.name
        and left.keys() == right.keys()
        and all(same_value(key, value, right[key]) for key, value in left.items())
    )


def key_of(result: str) -> str:
    """What an answer must contain to state ``result``: its number, or all of it."""
    first = result.split(" ")[0]
    return first if first.lstrip("-")[:1].isdigit() and len(result) < 60 else result.rstrip(".")


def states(answer: str, result: str) -> bool:
    """Whether ``answer`` says ``result``, up to line breaks, commas in numbers and case."""
    told = " ".join(answer.replace(",", "").split()).casefold()
    key = " ".join(key_of(result).replace(",", "").split()).casefold()
    if key[-1:].isdigit():
        return re.search(rf"(?<![\d.]){re.escape(key)}(?!\d|\.\d)", told) is not None
    return key in told


def by_calls(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> Callable[[Outcome], Scores]:
    """Judges calls (all of them, in order) and whether the answer states the last results."""
    last = [result.text for result in results[-1:]]

    def judge(outcome: Outcome) -> Scores:
        first = bool(outcome.calls) and outcome.calls[0].name == calls[0].name
        exact = len(outcome.calls) == len(calls) and all(map(same_call, calls, outcome.calls))
        stated = all(
            states(outcome.answer, text)
            or all(states(outcome.answer, line) for line in text.splitlines() if line)
            for text in last
        )
        return {"ok": exact, "tool": first, "answer": stated, "task": stated and bool(outcome.calls)}

    return judge


def prompt_of(messages: Sequence[Message]) -> tuple[str, tuple[str | Image, ...]]:
    """Instructions and the user's parts of the messages before the first answer."""
    instructions = "".join(message.text for message in messages if message.role == "system")
    user = next(message for message in messages if message.role == "user")
    parts: list[str | Image] = []
    for part in user.parts:
        if isinstance(part, Picture):
            parts.append(Image.from_pil(PIL.Image.fromarray(part.pixels)))
        else:
            parts.append(part.text)  # type: ignore[union-attr]
    return instructions, tuple(parts)


def real_tools(world: World) -> list[Tool[..., Any]]:
    """The built-in tools that the world declares, with its folder, its clock and its notes."""
    now = world.facts.get("now")
    made = {
        tool.name: tool
        for tool in (
            builtin_tools(world.facts.get("root", "."), now=lambda: now)
            if now
            else builtin_tools(world.facts.get("root", "."))
        )
    }
    store: Notes | None = world.facts.get("store")
    if store is not None:
        for title in store.list_notes().splitlines():
            try:
                made["save_note"](title, store.read_note(title))
            except Retry:
                continue
    return [made[key] for key in world.tools]


def with_tools(
    family: str, rng: random.Random, exchange: Callable[[World], None], needed: Sequence[str], least: int
) -> Task:
    """A task of one exchange whose tools really run."""
    while True:
        world = World(rng, held=True)
        declare_shipped(world, list(ORDER) if rng.random() < 0.5 else subset(rng, needed))
        if "read_note" in needed or "list_notes" in needed:
            prepare_notes(world)
        exchange(world)
        messages = first_task(world.messages, 0)
        calls = [call for message in messages for call in message.calls]
        results = [result for message in messages for result in message.results]
        if len(calls) >= least and not any(result.is_error for result in results[:-1]):
            break
        close(world)
    instructions, prompt = prompt_of(messages)
    expected = "; ".join(f"{call.name}({dict(call.args)})" for call in calls)
    return Task(
        family,
        prompt,
        by_calls(calls, results),
        instructions,
        real_tools(world),
        expected=f"{expected} -> {messages[-1].text}",
        finish=lambda: close(world),
    )


def prepare_notes(world: World) -> None:
    """Two or three notes that are there before the user asks."""
    store = world.facts.setdefault("store", Notes())
    kept = world.facts.setdefault("notes", {})
    for _ in range(world.rng.randint(2, 3)):
        title, body = words.title(world.rng, world.held), note_text(world)
        store.save_note(title, body)
        kept[title] = body


def shipped(rng: random.Random) -> Task:
    made, key, _ = rng.choices(SINGLE, [weight for _, _, weight in SINGLE])[0]
    return with_tools("shipped", rng, made, [key], 1)


def two_step(rng: random.Random) -> Task:
    made, needed = rng.choice(chains.CHAINS)
    return with_tools("two_step", rng, made, needed, 2)


def invented(rng: random.Random) -> Task:
    """An invented tool; its result is made up, so only the call and the answer to it count."""
    world = World(rng, held=True)
    offers = [Offer(world, service) for service in rng.sample(ALL, rng.randint(1, 4))]
    use(world, rng.choice(offers))
    messages = first_task(world.messages, 0)
    calls = [call for message in messages for call in message.calls]
    results = [result for message in messages for result in message.results]
    instructions, prompt = prompt_of(messages)
    tools = []
    for declared in world.tools.values():
        function = declared.declaration["function"]

        async def run(arguments: Mapping[str, Any], text: str = results[0].text) -> str:
            return text

        tools.append(
            Tool.from_schema(
                run,
                name=function["name"],
                description=function["description"],
                parameters=function["parameters"],
            )
        )
    judged = by_calls(calls, results)

    def judge(outcome: Outcome) -> Scores:
        scores = judged(outcome)
        return {"ok": scores["ok"], "tool": scores["tool"]}

    expected = "; ".join(f"{call.name}({dict(call.args)})" for call in calls)
    return Task("invented", prompt, judge, instructions, tools, expected=expected)


def no_call(rng: random.Random) -> Task:
    """Talk, or a request that no tool fits, or one without its argument."""
    world = World(rng, held=True)
    declare_shipped(
        world, list(ORDER) if rng.random() < 0.5 else subset(rng, ("calculate", "convert_units"), most=8)
    )
    rng.choice((talk.talk, talk.unfit, talk.missing, talk.named))(world)
    instructions, prompt = prompt_of(world.messages)
    wanted = world.messages[-1].text

    def judge(outcome: Outcome) -> Scores:
        quiet = not outcome.calls and bool(outcome.answer.strip())
        return {"ok": quiet, "answer": quiet and outcome.answer.strip() == wanted}

    return Task("no_call", prompt, judge, instructions, real_tools(world), expected=wanted)


MISSING = object()


def fields(wanted: Any, given: Any) -> list[bool]:
    """Which leaves of ``wanted`` stand in ``given``; an optional one may be left out where it is null."""
    if isinstance(wanted, Mapping):
        if not isinstance(given, Mapping):
            return [hit for value in wanted.values() for hit in fields(value, MISSING)]
        return [hit for key, value in wanted.items() for hit in fields(value, given.get(key))]
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], Mapping):
        listed = given if isinstance(given, list) else []
        padded = [*listed, *[MISSING] * len(wanted)]
        return [hit for index, value in enumerate(wanted) for hit in fields(value, padded[index])]
    if isinstance(wanted, str) or isinstance(given, str):
        return [wanted == given]
    return [given is not MISSING and same_value("", wanted, given)]


def typed(family: str, sample: Sample) -> Task:
    """A typed answer, judged leaf by leaf."""
    instructions, prompt = prompt_of(sample.messages)
    wanted = sample.check["value"]
    assert sample.response_format is not None

    def judge(outcome: Outcome) -> Scores:
        hits = fields(wanted, outcome.value)
        return {"ok": all(hits) and outcome.value == wanted, "fields": sum(hits) / len(hits)}

    return Task(
        family,
        prompt,
        judge,
        instructions,
        schema=sample.response_format["json_schema"]["schema"],
        expected=json.dumps(wanted, ensure_ascii=False),
    )


def picture(kind: str, rng: random.Random) -> Task:
    """A question of one kind about a picture, answered in words."""
    if kind == "digits":
        world = World(rng, held=True)
        shown = digits(world)
        image, text, value = number(rng, shown, *ink_and_ground(rng)), DIGITS.say(rng, {}, True), shown
    else:
        while True:
            world, view = World(rng, held=True), View(rng)
            text, _, schema, value = question(world, view)
            colours = value in COLOURS and schema["type"] == "string"
            shapes = value in SHAPES and schema["type"] == "string"
            if {"colour": colours, "shape": shapes, "count": schema["type"] == "integer"}[kind]:
                break
        image = view.picture
    wanted = str(value)

    def judge(outcome: Outcome) -> Scores:
        answer = outcome.answer.replace(" no ", " 0 ").casefold()
        told = "".join(char if char.isalnum() else " " for char in answer).split()
        return {"ok": wanted.casefold() in told}

    return Task(kind, (text, Image.from_pil(PIL.Image.fromarray(image.pixels))), judge, expected=wanted)


def chat(index: int) -> Task:
    """A message written by hand that needs no tool."""

    def judge(outcome: Outcome) -> Scores:
        said = outcome.answer.split()
        repeated = len(said) > 12 and len(set(said)) < len(said) / 3
        return {"ok": bool(said) and not outcome.calls and not repeated and outcome.ended}

    return Task(
        "chat", (TALKS[index % len(TALKS)],), judge, tools=builtin_tools("."), expected="words, no call"
    )


def written(index: int) -> Task:
    """A request written by hand, with the product's full tool set."""
    text, wanted, tools = WRITTEN[index % len(WRITTEN)]

    def judge(outcome: Outcome) -> Scores:
        stated = all(states(outcome.answer, part) for part in wanted.split("|"))
        named = [call.name for call in outcome.calls] == tools.split()
        return {"ok": stated and (bool(outcome.calls) or not tools), "tools": named}

    return Task("written", (text,), judge, tools=builtin_tools("."), expected=f"{wanted} by {tools}")


FAMILIES: dict[str, Callable[[random.Random, int], Task]] = {
    "shipped": lambda rng, index: shipped(rng),
    "two_step": lambda rng, index: two_step(rng),
    "invented": lambda rng, index: invented(rng),
    "no_call": lambda rng, index: no_call(rng),
    "json": lambda rng, index: typed("json", extraction.extract(rng, True)),
    "label": lambda rng, index: typed("label", labels.label(rng, True)),
    "colour": lambda rng, index: picture("colour", rng),
    "shape": lambda rng, index: picture("shape", rng),
    "count": lambda rng, index: picture("count", rng),
    "digits": lambda rng, index: picture("digits", rng),
    "chat": lambda rng, index: chat(index),
    "written": lambda rng, index: written(index),
}


def make(family: str, count: int, seed: int) -> list[Task]:
    """``count`` tasks of a family; hand-written families have as many as were written."""
    rng = random.Random(f"{family}-{seed}")
    most = {"chat": len(TALKS), "written": len(WRITTEN)}.get(family, count)
    return [FAMILIES[family](rng, index) for index in range(min(count, most))]
