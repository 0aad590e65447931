"""What happens while a run goes on, as a stream of plain values.

Order within one step: StepStarted, ReasoningDelta*, then TextDelta* or OutputDelta*, then for each call
CallStarted, CallArgsDelta*, CallReady; CallFinished in order of completion; StepFinished last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kimi_sdk.messages import ToolCall, ToolResult
from kimi_sdk.settings import Usage

FinishReason: TypeAlias = Literal["stop", "tool_calls", "length"]


@dataclass(frozen=True, slots=True)
class StepStarted:
    step: int


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class OutputDelta:
    """``partial`` is the best valid prefix of the typed output so far."""

    step: int
    partial: Any


@dataclass(frozen=True, slots=True)
class CallStarted:
    step: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallArgsDelta:
    step: int
    call_id: str
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class CallReady:
    step: int
    call: ToolCall


@dataclass(frozen=True, slots=True)
class CallProgress:
    step: int
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    step: int
    result: ToolResult
    seconds: float


@dataclass(frozen=True, slots=True)
class StepFinished:
    step: int
    usage: Usage
    finish_reason: FinishReason


Event: TypeAlias = (
    StepStarted
    | ReasoningDelta
    | TextDelta
    | OutputDelta
    | CallStarted
    | CallArgsDelta
    | CallReady
    | CallProgress
    | CallFinished
    | StepFinished
)
