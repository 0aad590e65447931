"""What a run has spent and may still spend. Knows limits; leaves stopping the run to ``Run``."""

from __future__ import annotations

import math
from dataclasses import replace

from kimi_sdk.session import Session
from kimi_sdk.settings import Limits, Sampling, Usage


class Budget:
    """Limits and usage of one run. What a sub-agent spends is spent by its parent as well.

    Attributes:
        limits: what may be spent.
        usage: what has been spent, by sub-agents too.
        steps: turns begun by this run itself.
        seconds: wall-clock time used, over all resumptions.
    """

    def __init__(
        self, limits: Limits, *, parent: Budget | None = None, session: Session | None = None
    ) -> None:
        self.limits = limits
        self.parent = parent
        self.session = session
        self.usage = Usage()
        self.steps = 0
        self.seconds = 0.0

    def copy(self) -> Budget:
        """The same state, to go on from separately."""
        twin = Budget(self.limits, parent=self.parent, session=self.session)
        twin.usage, twin.steps, twin.seconds = self.usage, self.steps, self.seconds
        return twin

    def charge(self, usage: Usage) -> None:
        """Adds to what has been spent, here, in the session and in every parent."""
        self.usage = self.usage + usage
        if self.session is not None:
            self.session.charge(usage)
        if self.parent is not None:
            self.parent.charge(usage)

    @property
    def seconds_left(self) -> float:
        return math.inf if self.limits.seconds is None else self.limits.seconds - self.seconds

    @property
    def needs_prompt_size(self) -> bool:
        """Whether a limit counts prompt tokens, so that ``cap`` must be told how many there will be."""
        return self.limits.tokens is not None or (self.parent is not None and self.parent.needs_prompt_size)

    def step_limit(self) -> str | None:
        """The limit that forbids another turn, whatever its size."""
        if self.limits.steps is not None and self.steps >= self.limits.steps:
            return "steps"
        return None

    def call_limit(self, count: int) -> str | None:
        """The limit that forbids ``count`` more calls."""
        allowed = self.limits.tool_calls
        return "tool_calls" if allowed is not None and self.usage.tool_calls + count > allowed else None

    def cap(self, sampling: Sampling, prompt_tokens: int) -> tuple[Sampling, str | None]:
        """Sampling that cannot overspend, and the limit that shortened it.

        Args:
            sampling: what the turn would use.
            prompt_tokens: size of the turn's prompt; 0 where ``needs_prompt_size`` is false.

        Returns:
            ``max_tokens`` below 1 stands for nothing left: then the sampling is returned as it was.
        """
        left, name = self._output_left(prompt_tokens)
        if name is None or (sampling.max_tokens is not None and sampling.max_tokens <= left):
            return sampling, None
        return (replace(sampling, max_tokens=int(left)) if left >= 1 else sampling), name

    def exhausted(self, prompt_tokens: int) -> bool:
        """Whether not one token may be written after a prompt of this size."""
        return self._output_left(prompt_tokens)[0] < 1

    def _output_left(self, prompt_tokens: int) -> tuple[float, str | None]:
        """How many tokens may still be written, and which limit says so."""
        left: tuple[float, str | None] = (math.inf, None)
        if self.limits.output_tokens is not None:
            left = (self.limits.output_tokens - self.usage.output_tokens, "output_tokens")
        if self.limits.tokens is not None:
            spent = self.usage.prompt_tokens + self.usage.output_tokens
            left = min(left, (self.limits.tokens - spent - prompt_tokens, "tokens"), key=lambda item: item[0])
        if self.parent is not None:
            left = min(left, self.parent._output_left(prompt_tokens), key=lambda item: item[0])
        return left
