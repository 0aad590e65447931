"""What is said in a conversation: messages and the parts they are made of.

A history is a sequence of ``Message`` values. Every part is a plain, immutable value; nothing here
knows how a message is written for a model, or who runs a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from kimi_sdk.errors import ConfigError

if TYPE_CHECKING:
    from kimi_sdk.vision.image import Image

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Part: TypeAlias = "Text | Image | Reasoning | ToolCall | ToolResult"
Task: TypeAlias = "str | Image | Sequence[str | Image | Message]"


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text, shown as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought before it answered."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStats:
    """What the engine knew while it wrote one call.

    Attributes:
        logprob: of the whole call, among the tokens that the grammar allowed.
        entropy: nats, where the tool's name was decided.
        name_probs: every legal continuation there; ``""`` is an answer without a tool.
        arg_logprobs: by argument name.
        forced_tokens: tokens that the grammar left no choice about.
    """

    logprob: float
    entropy: float
    name_probs: Mapping[str, float]
    arg_logprobs: Mapping[str, float]
    forced_tokens: int


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asked for. ``index`` counts from 1 within its message."""

    id: str
    name: str
    args: Mapping[str, Any]
    index: int
    stats: CallStats | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one call gave back. ``truncated_from`` is the size in tokens before a cut."""

    call_id: str
    name: str
    content: tuple[Text | Image, ...]
    is_error: bool = False
    truncated_from: int | None = None

    @property
    def text(self) -> str:
        """The text parts, joined without a separator."""
        return "".join(part.text for part in self.content if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. A tool message holds one ``ToolResult`` for each call it answers."""

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None

    @classmethod
    def system(cls, text: str) -> Self:
        return cls("system", (Text(text),))

    @classmethod
    def user(cls, *parts: str | Image) -> Self:
        return cls("user", tuple(Text(part) if isinstance(part, str) else part for part in parts))

    @classmethod
    def assistant(cls, text: str, *, reasoning: str = "", calls: Iterable[ToolCall] = ()) -> Self:
        parts: list[Part] = []
        if reasoning:
            parts.append(Reasoning(reasoning))
        if text:
            parts.append(Text(text))
        return cls("assistant", (*parts, *calls))

    @classmethod
    def tool(cls, *results: ToolResult) -> Self:
        return cls("tool", results)

    @property
    def text(self) -> str:
        """The text parts (for a tool message, those of its results), joined without a separator."""
        return "".join(part.text for part in self.parts if isinstance(part, (Text, ToolResult)))

    @property
    def reasoning(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Reasoning))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))


def conversation(task: Task) -> tuple[Message, ...]:
    """The messages that a task stands for: a task is text, an image, a mix of both, or messages.

    Raises:
        ConfigError: the task is empty, or mixes messages with text and images.
    """
    if isinstance(task, str) or not isinstance(task, Sequence):
        if task == "":
            raise ConfigError("The task is empty.")
        task = (task,)
    messages = tuple(item for item in task if isinstance(item, Message))
    parts = tuple(item for item in task if not isinstance(item, Message))
    if bool(messages) == bool(parts):
        raise ConfigError("A task is either messages, or text and images: not empty, and not a mix of both.")
    for part in parts:
        if not isinstance(part, str) and not hasattr(part, "digest"):  # an Image is of a higher floor
            raise ConfigError(
                f"A task holds text and images, not {type(part).__name__} values. Make an image with "
                "Image.from_path or Image.from_pil, and a conversation of messages with Message.user."
            )
    return messages or (Message.user(*parts),)
