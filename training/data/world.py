"""A conversation under construction: who is asking, which tools are declared, what they really answered."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kimi_sdk.messages import Message, Text, ToolCall, ToolResult
from training.data.sample import Sample

Run = Callable[[Mapping[str, Any]], "tuple[str, bool]"]

DONE = "That answers it."
FAILED = "The tool reports a problem; tell the user."
PLAIN = "No tool is needed."


@dataclass(slots=True, eq=False)
class Declared:
    """A tool as this conversation declares it.

    Attributes:
        name: as declared.
        declaration: OpenAI-style.
        run: arguments (under their declared names) to result text and whether it is an error.
        arguments: declared name of every argument by the name that the code knows it by.
    """

    name: str
    declaration: Mapping[str, Any]
    run: Run
    arguments: Mapping[str, str] = field(default_factory=dict)


class World:
    """Builds one conversation; families speak and call through it.

    Attributes:
        tools: declared tools by the name the code knows them by (their own, when they are not renamed).
        held: whether frames and values come from the held-out side.
        thinking: whether thoughts are written.
    """

    def __init__(
        self, rng: random.Random, *, held: bool = False, thinking: bool = True, effort: str = "max"
    ) -> None:
        self.rng = rng
        self.held = held
        self.thinking = thinking
        self.effort = effort
        self.tools: dict[str, Declared] = {}
        self.messages: list[Message] = []
        self.characters = 0
        self.facts: dict[str, Any] = {}
        self.calls_made = 0
        self.errors: list[bool] = [False]

    def declare(self, key: str, tool: Declared) -> None:
        self.tools[key] = tool

    def has(self, *keys: str) -> bool:
        """Whether all of these tools are declared."""
        return all(key in self.tools for key in keys)

    def title(self, key: str) -> str:
        """The declared name of a tool."""
        return self.tools[key].name

    def system(self, text: str) -> None:
        self._add(Message.system(text), len(text))

    def user(self, *parts: Any) -> None:
        self._add(Message.user(*parts), sum(len(part) if isinstance(part, str) else 60 for part in parts))

    def call(self, think: str, *calls: tuple[str, Mapping[str, Any]], say: str = "") -> list[str]:
        """The assistant calls tools, they run, their results are appended.

        Returns:
            The result texts, in call order. ``self.errors`` tells which of them are errors.
        """
        made: list[ToolCall] = []
        results: list[ToolResult] = []
        self.errors = []
        size = len(say) + 40
        for index, (key, arguments) in enumerate(calls, 1):
            tool = self.tools[key]
            named = {tool.arguments.get(name, name): value for name, value in arguments.items()}
            text, failed = tool.run(named)
            self.calls_made += 1
            made.append(ToolCall(f"c{self.calls_made}", tool.name, named, index))
            results.append(ToolResult(f"c{self.calls_made}", tool.name, (Text(text),), failed))
            self.errors.append(failed)
            size += len(text) + 90 + 40 * len(named)
        self._add(Message.assistant(say, reasoning=self.thought(think), calls=made), size + len(think))
        self._add(Message.tool(*results), 60)
        return [result.text for result in results]

    def retry(self, key: str, arguments: Mapping[str, Any], name: str) -> list[str] | None:
        """Calls once more with what an error suggests for the argument ``name``; ``None`` without a suggestion."""
        text = self.messages[-1].results[-1].text
        if not self.errors[-1] or "Did you mean " not in text:
            return None
        hint = text.split("Did you mean ")[1].rstrip("?").strip("'\"")
        return self.call(f"The tool suggests '{hint}'; try that.", (key, {**arguments, name: hint}))

    def reply(self, text: str, think: str | None = None) -> None:
        """The assistant's words to the user; without a thought of its own it follows from the last results."""
        if think is None:
            think = FAILED if all(self.errors) else DONE
        self._add(Message.assistant(text, reasoning=self.thought(think)), len(text) + len(think) + 40)

    def thought(self, text: str) -> str:
        return text if self.thinking and self.effort != "low" else ""

    def _add(self, message: Message, size: int) -> None:
        self.messages.append(message)
        self.characters += size + 40

    def sample(self, **settings: Any) -> Sample:
        """What has been built so far."""
        return Sample(
            self.messages,
            [tool.declaration for tool in self.tools.values()],
            thinking=self.thinking,
            effort=self.effort,
            **settings,
        )
