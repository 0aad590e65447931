"""Models for tests: turns from a script or a function, no weights, behind the same seam as the engine."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

import anyio

from kimi_sdk.backend import Declaration, PromptRequest, Turn, TurnEvent, TurnRequest, TurnStream
from kimi_sdk.events import CallArgsDelta, CallReady, CallStarted, FinishReason, ReasoningDelta, TextDelta
from kimi_sdk.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult
from kimi_sdk.model import Model
from kimi_sdk.output import Constraint
from kimi_sdk.settings import Sampling, Usage

ScriptTurn: TypeAlias = str | Sequence[tuple[str, Mapping[str, Any]]] | Message | BaseException
"""A turn: its text, its calls as (name, arguments), a whole assistant message, or what to raise."""


class ScriptedModel(Model):
    """Answers with the given turns, in order; fails the test on a turn too many or one left over.

    What is left over is noticed when the model is left as a context, or by ``assert_finished``.

    Args:
        turns: what to answer.
        seconds_per_token: how long each word takes; 0 waits only for the event loop.

    Attributes:
        seen: the messages of each turn that was asked for.
    """

    def __init__(self, turns: Iterable[ScriptTurn], *, seconds_per_token: float = 0.0) -> None:
        self._turns = list(turns)
        self._script = _Scripted(self._next, seconds_per_token, "scripted")
        super().__init__(self._script)

    @property
    def seen(self) -> Sequence[Sequence[Message]]:
        return [request.messages for request in self.requests]

    @property
    def requests(self) -> Sequence[TurnRequest]:
        """Everything that was asked for, with tools, sampling and output."""
        return self._script.requests

    def _next(self, messages: Sequence[Message]) -> ScriptTurn:
        number = len(self._script.requests)
        if number > len(self._turns):
            raise AssertionError(f"The script has {len(self._turns)} turns; turn {number} was asked for.")
        return self._turns[number - 1]

    def assert_finished(self) -> None:
        """Raises AssertionError if turns of the script are left over."""
        left = len(self._turns) - len(self._script.requests)
        if left > 0:
            raise AssertionError(f"{left} of {len(self._turns)} turns of the script were never asked for.")

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await super().__aexit__(exc_type, exc, tb)
        if exc is None:
            self.assert_finished()


class FunctionModel(Model):
    """Answers with what a function makes of the messages."""

    def __init__(self, function: Callable[[Sequence[Message]], ScriptTurn]) -> None:
        super().__init__(_Scripted(function, 0.0, "function"))


def assert_idle(model: Model) -> None:
    """Raises AssertionError if the model is still writing a turn."""
    if model.active_requests:
        raise AssertionError(f"{model.name} is still writing {model.active_requests} turns.")


def forbid_loading() -> None:
    """From now on, loading the weights of a model checkpoint in this process raises ``LoadError``."""
    os.environ["KIMI_SDK_FORBID_LOADING"] = "1"


class _Scripted:
    """The backend of both: a function decides each turn. One word is one token."""

    sampling = Sampling()

    def __init__(
        self, decide: Callable[[Sequence[Message]], ScriptTurn], seconds_per_token: float, name: str
    ) -> None:
        self.decide = decide
        self.seconds_per_token = seconds_per_token
        self.name = name
        self.requests: list[TurnRequest] = []
        self.active = 0
        self.lock = threading.Lock()
        self._sizes: dict[int, tuple[Message, int]] = {}

    async def start(self) -> None:
        await anyio.lowlevel.checkpoint()

    def turn(self, request: TurnRequest | PromptRequest) -> TurnStream:
        if isinstance(request, PromptRequest):
            prompt = request.prompt if isinstance(request.prompt, str) else repr(request.prompt)
            request = TurnRequest(
                messages=(Message.user(prompt),), output=request.output, sampling=request.sampling
            )
        return _ScriptedTurn(self, request)

    def count(self, request: TurnRequest) -> int:
        return sum(self._size(message) for message in request.messages)

    def _size(self, message: Message) -> int:
        # A history grows by its end: what was counted once need not be counted at every step.
        known = self._sizes.get(id(message))
        if known is None or known[0] is not message:
            known = self._sizes[id(message)] = (message, _size(message.parts))
        return known[1]

    def check(self, tools: Sequence[Declaration], output: Constraint[Any] | None) -> None:
        """A script enforces nothing."""

    def close(self) -> None:
        """There is nothing to give back."""


class _ScriptedTurn(TurnStream):
    def __init__(self, backend: _Scripted, request: TurnRequest) -> None:
        self._backend = backend
        self._request = request
        self._prompt_tokens = 0
        self._words = 0
        self._thoughts = 0
        self._done: list[Part] = []
        self._reason: FinishReason = "stop"
        self._events: Iterator[TurnEvent] = iter(())

    async def __aenter__(self) -> Self:
        await anyio.lowlevel.checkpoint()
        with self._backend.lock:
            self._backend.requests.append(self._request)
            turn = self._backend.decide(self._request.messages)
            if isinstance(turn, BaseException):
                raise turn
            self._backend.active += 1
        self._prompt_tokens = self._backend.count(self._request)
        self._events = self._write(_as_message(turn, self._request.step))
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        with self._backend.lock:
            self._backend.active -= 1

    async def __anext__(self) -> TurnEvent:
        await anyio.sleep(self._backend.seconds_per_token)
        event = next(self._events, None)
        if event is None:
            raise StopAsyncIteration
        return event

    def _write(self, message: Message) -> Iterator[TurnEvent]:
        """The events of a message, word by word, until ``max_tokens`` is reached."""
        most = self._request.sampling.max_tokens
        step = self._request.step
        if message.calls:
            self._reason = "tool_calls"
        for part in message.parts:
            if isinstance(part, (Text, Reasoning)):
                text = ""
                for word in _words(part.text):
                    if most is not None and self._words >= most:
                        break
                    self._words += 1
                    self._thoughts += isinstance(part, Reasoning)
                    text += word
                    yield (TextDelta if isinstance(part, Text) else ReasoningDelta)(step, word)
                self._done.append(type(part)(text))
            elif isinstance(part, ToolCall):
                if most is not None and self._words + _size((part,)) > most:
                    self._reason = "length"
                    return
                self._words += _size((part,))
                self._done.append(part)
                yield CallStarted(step, part.id, part.name)
                for key, value in part.args.items():
                    yield CallArgsDelta(step, part.id, key, _spelled(value))
                yield CallReady(step, part)
        if sum(_size((part,)) for part in message.parts) > self._words:
            self._reason = "length"

    @property
    def turn(self) -> Turn:
        parts = tuple(part for part in self._done if not isinstance(part, (Text, Reasoning)) or part.text)
        return Turn(message=Message("assistant", parts), usage=self.usage, finish_reason=self._reason)

    @property
    def usage(self) -> Usage:
        return Usage(
            prompt_tokens=self._prompt_tokens,
            output_tokens=self._words,
            thinking_tokens=self._thoughts,
            steps=1 if self._prompt_tokens else 0,
        )


def _as_message(turn: str | Sequence[tuple[str, Mapping[str, Any]]] | Message, step: int) -> Message:
    if isinstance(turn, Message):
        return turn
    if isinstance(turn, str):
        return Message.assistant(turn)
    calls = [
        ToolCall(f"{name}:{index}:{step}", name, dict(args), index)
        for index, (name, args) in enumerate(turn, start=1)
    ]
    return Message.assistant("", calls=calls)


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _size(parts: Iterable[Part]) -> int:
    """Words, at least one for each part that is not text."""
    total = 0
    for part in parts:
        if isinstance(part, (Text, Reasoning)):
            total += len(_words(part.text))
        elif isinstance(part, ToolCall):
            total += 1 + sum(max(1, len(_words(_spelled(value)))) for value in part.args.values())
        elif isinstance(part, ToolResult):
            total += _size(part.content)
        else:
            total += 1
    return total
