"""The seam between a model and whatever writes its turns: one request in, events out, then the turn.

Knows messages, declarations, constraints and sampling. Leaves to its bodies (the engine in this process,
a script in a test, a server) how a turn comes about.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias

from kimi_sdk.errors import ConfigError
from kimi_sdk.events import (
    CallArgsDelta,
    CallReady,
    CallStarted,
    FinishReason,
    ReasoningDelta,
    TextDelta,
)
from kimi_sdk.messages import Message
from kimi_sdk.settings import Sampling, Usage

if TYPE_CHECKING:
    from kimi_sdk.output import Constraint

ToolChoice: TypeAlias = Literal["auto", "none", "required"] | str
"""``auto``, ``none``, ``required``; any other string is the name of the one tool to call."""

Declaration: TypeAlias = Mapping[str, Any]
"""A tool as the model reads it: ``{"type": "function", "function": {name, description, parameters}}``."""

TurnEvent: TypeAlias = ReasoningDelta | TextDelta | CallStarted | CallArgsDelta | CallReady


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """Everything that decides one turn.

    Attributes:
        messages: the conversation so far, a legal history.
        tools: declarations of the tools that may be called.
        tool_choice: whether a tool may, must or must not be called.
        output: what the response must match; ``None`` is free text.
        sampling: how tokens are chosen.
        step: number of the turn within its run; it is part of the call ids.
    """

    messages: tuple[Message, ...]
    tools: tuple[Declaration, ...] = ()
    tool_choice: ToolChoice = "auto"
    output: Constraint[Any] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    step: int = 1

    def __post_init__(self) -> None:
        if not self.messages:
            raise ConfigError("There is nothing to answer: the conversation has no messages.")
        names = [str(tool["function"]["name"]) for tool in self.tools]
        if self.tool_choice == "required" and not names:
            raise ConfigError('tool_choice="required" needs at least one tool.')
        if self.tool_choice not in ("auto", "none", "required") and self.tool_choice not in names:
            raise ConfigError(
                f"tool_choice names {self.tool_choice!r}, which is not among the tools: "
                f"{', '.join(names) or 'there are none'}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRequest:
    """A prompt to be continued as it stands: text in which markers count, or token ids."""

    prompt: str | tuple[int, ...]
    output: Constraint[Any] | None = None
    sampling: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        if not self.prompt:
            raise ConfigError("There is nothing to continue: the prompt is empty.")


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a turn and what else could have stood there.

    Attributes:
        token_id: the token that was taken.
        text: its spelling.
        logprob: natural logarithm of its probability among the tokens allowed there.
        top: the most probable alternatives, by spelling.
    """

    token_id: int
    text: str
    logprob: float
    top: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One assistant message, complete, with what it cost."""

    message: Message
    usage: Usage
    finish_reason: FinishReason
    logprobs: tuple[TokenLogprob, ...] = ()
    token_ids: tuple[int, ...] = ()
    seed: int | None = None


class TurnStream(ABC):
    """A turn while it is written: enter it, iterate its events, then read ``turn``.

    Leaving the block early aborts the turn and waits until whatever writes it has let go of it.
    """

    async def __aenter__(self) -> Self:
        return self

    @abstractmethod
    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None: ...

    def __aiter__(self) -> Self:
        return self

    @abstractmethod
    async def __anext__(self) -> TurnEvent: ...

    @property
    @abstractmethod
    def turn(self) -> Turn:
        """The whole turn; only after the last event."""

    @property
    @abstractmethod
    def usage(self) -> Usage:
        """What has been spent up to now."""


class Backend(Protocol):
    """Something that writes turns."""

    @property
    def name(self) -> str:
        """How people call the model."""

    @property
    def sampling(self) -> Sampling:
        """What is used where the caller names no sampling."""

    @property
    def active(self) -> int:
        """How many turns are being written now."""

    async def start(self) -> None:
        """Make ready what the first turn would otherwise wait for. May be called again."""

    def turn(self, request: TurnRequest | PromptRequest) -> TurnStream:
        """Begin a turn; nothing happens before the stream is entered."""

    def count(self, request: TurnRequest) -> int:
        """Tokens that the request's prompt has."""

    def check(self, tools: Sequence[Declaration], output: Constraint[Any] | None) -> None:
        """Refuses what could never be enforced while a turn is written.

        Raises:
            SchemaError: a schema of a tool or of the output; says where and why.
        """

    def close(self) -> None:
        """End every turn and give back what is held. May be called again."""
