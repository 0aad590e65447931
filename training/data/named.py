"""Tools whose arguments a request names one by one: names alone, of any vocabulary, lead from the words to the call."""

from __future__ import annotations

import random
from typing import Any

from training.data import words
from training.data.frames import Pool, Slot
from training.data.shipped import tool_name
from training.data.speech import style
from training.data.values import Kind, Value
from training.data.world import Declared, World

REQUESTS = Pool(
    "named.requests",
    """
    [run|use|call|start|execute|apply|try] {t} with {a}
    [run|use|call|start|execute|apply] {t}: {a}
    {t}: {a}
    {t} [with|using|for] {a}
    {t}, {a}
    [please|now|next|ok,|hey,] {t} with {a}
    [please |]do [a|the|one|another] {t} [with|using|for] {a}
    I [want|need|would like] [a|the|to run] {t} with {a}
    [can|could|would] you [run|do|start|call] {t} [with|using] {a}?
    [it is|it's] time for {t}: {a}
    {a} - [run|use|that's for|start] {t}
    with {a}, [run|call|do|start] {t}
    [set up|prepare|make|begin] [a|the] {t}, {a}
    [the values are|take|given] {a}; [run|call|use] {t}
    [go|start] {t}! {a}
    [what does|what would] {t} [give|return|say] [for|with] {a}?
    [I'd like to know|tell me|find out] what {t} [gives|returns|says] for {a}
    my [boss|friend|colleague] wants {t} with {a}
    """,
)
PAIRS = Pool(
    "named.pairs",
    "{k} {v}\n{k} = {v}\n{k}: {v}\n{k}={v}\n{v} as {k}\n{v} for {k}\n{k} set to {v}\na {k} of {v}\nthe {k} is {v}\n{k} being {v}\n{v} ({k})\n{k} as {v}",
)
DESCRIPTIONS = Pool(
    "named.descriptions",
    """
    [Runs|Does|Makes|Starts|Performs] [a|the] {w}.
    {w} [of|for|with] a {v}.
    [Computes|Creates|Updates|Reads] a {w} [from|of|with] a {v}.
    The {w} [tool|service|function|command].
    [Handles|Controls|Changes|Sends] [the|a] {w}.
    """,
)
KINDS = (
    "word",
    "word",
    "person",
    "city",
    "code",
    "phrase",
    "count",
    "decimal",
    "population",
    "clock",
    "date",
    "item",
    "colour",
    "title",
    "email",
)
ANSWERS = ("Done: {r}.", "The result is {r}.", "{t} says {r}.")


class NamedOffer:
    """A tool without meaning: its arguments are called by name."""

    def __init__(self, world: World) -> None:
        rng, held = world.rng, world.held
        name = tool_name(rng, held)
        while any(tool.name == name for tool in world.tools.values()):
            name = tool_name(rng, held)
        self.key = name
        self.kinds: dict[str, Kind] = {}
        for _ in range(rng.randint(1, 4)):
            argument = words.word(rng, held)
            if rng.random() < 0.25:
                argument += "_" + words.word(rng, held)
            roll = rng.random()
            if roll < 0.1:
                options = list(dict.fromkeys(words.word(rng, held) for _ in range(rng.randint(2, 4))))
                self.kinds[argument] = Kind(
                    "enum(" + "; ".join(f"{option}={option}" for option in options) + ")"
                )
            else:
                self.kinds[argument] = Kind(rng.choice(KINDS))
        self.optional = {argument for argument in self.kinds if rng.random() < 0.25}
        self.result: tuple[str, bool] = ("", False)
        world.declare(name, Declared(name, self._declaration(world), lambda _: self.result))

    def _declaration(self, world: World) -> dict[str, Any]:
        rng, held = world.rng, world.held
        properties = {name: dict(kind.value(rng, held)[2]) for name, kind in self.kinds.items()}
        for schema in properties.values():
            if rng.random() < 0.15:
                schema["description"] = words.phrase(rng, held, 3).capitalize()
        parameters: dict[str, Any] = {"properties": properties, "type": "object"}
        required = [name for name in self.kinds if name not in self.optional]
        if required:
            parameters["required"] = required
        if rng.random() < 0.6:
            parameters["additionalProperties"] = False
        text = DESCRIPTIONS.text(rng, {"w": words.word(rng, held), "v": words.word(rng, held)}, held)
        return {
            "type": "function",
            "function": {"name": self.key, "description": text, "parameters": parameters},
        }

    def use(self, world: World) -> None:
        """One request, call and answer."""
        rng, held = world.rng, world.held
        told: dict[str, Value] = {}
        for name, kind in self.kinds.items():
            if name not in self.optional or rng.random() < 0.5:
                told[name] = kind.value(rng, held)
        shown = list(told)
        rng.shuffle(shown)
        pair = PAIRS.text
        way = rng.randrange(1 << 30)
        parts = []
        for name in shown:
            same = random.Random(way) if rng.random() < 0.8 else rng
            parts.append(
                pair(
                    same,
                    {"k": name.replace("_", " ") if rng.random() < 0.8 else name, "v": told[name][0]},
                    held,
                )
            )
        joined = (
            parts[0]
            if len(parts) == 1
            else ", ".join(parts[:-1]) + rng.choice((" and ", ", ", ", and ")) + parts[-1]
            if parts
            else ""
        )
        title = self.key.replace("_", " ") if rng.random() < 0.5 else self.key
        pieces = (
            REQUESTS.pieces(rng, held)
            if parts
            else [rng.choice(("run ", "use ", "call ", "do ", "start ")), Slot("t")]
        )
        world.user(style(rng, pieces, {"t": title, "a": joined}, held))
        made = rng.choice(
            (
                words.code(rng, held),
                str(words.number(rng, held)),
                words.phrase(rng, held, 3),
                f"ok {words.word(rng, held)}",
            )
        )
        self.result = (made, False)
        arguments = {name: told[name][1] for name in self.kinds if name in told}
        plan = ", ".join(f"{name} = {arguments[name]}" for name in sorted(arguments))
        world.call(f"Use {self.key}{': ' if plan else ''}{plan}.", (self.key, arguments))
        world.reply(ANSWERS[rng.randrange(2) if rng.random() < 0.8 else 2].format(r=made, t=self.key))
