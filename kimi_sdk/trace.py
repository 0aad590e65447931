"""The record of a run: what was asked, and step by step what the model wrote and what the tools gave back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kimi_sdk.backend import Declaration, Turn
from kimi_sdk.messages import Message, ToolResult
from kimi_sdk.settings import Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One step of a run.

    Attributes:
        step: its number, from 1.
        turn: what the model wrote: token ids, seed, usage.
        results: what the calls of the turn gave back, in call order.
        seconds: wall-clock time that the model took.
    """

    step: int
    turn: Turn
    results: tuple[ToolResult, ...] = ()
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Trace:
    """Every token id, seed and tool result of a run.

    Attributes:
        model: its name.
        messages: what the run began with, instructions included.
        tools: what was declared.
        sampling: how turns were sampled.
        steps: what happened.
    """

    model: str
    messages: Sequence[Message]
    tools: Sequence[Declaration] = field(repr=False)
    sampling: Sampling
    steps: list[TraceStep] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Wall-clock time that the model took, all steps together."""
        return sum(step.seconds for step in self.steps)
