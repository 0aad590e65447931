"""What a run gave, or where it paused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from typing_extensions import TypeVar

from kimi_sdk.approval import Decision
from kimi_sdk.errors import ConfigError
from kimi_sdk.messages import Message, ToolCall
from kimi_sdk.settings import Usage
from kimi_sdk.trace import Trace

T_co = TypeVar("T_co", covariant=True, default=str)

Resume = Callable[[Mapping[str, Decision]], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunResult(Generic[T_co]):
    """The end of a run, or its pause.

    Attributes:
        messages: the conversation, without the agent's instructions; the next run can begin with it.
        new_messages: the part that this run added, its task included.
        usage: summed over all steps, those of sub-agents included.
        pending: calls that wait for a decision; empty when the run is over.
        trace: the record of the run.
    """

    messages: Sequence[Message]
    new_messages: Sequence[Message]
    usage: Usage
    trace: Trace
    pending: Sequence[ToolCall] = ()
    outputs: tuple[T_co, ...] = ()
    continuation: Resume | None = field(default=None, compare=False)

    @property
    def output(self) -> T_co:
        """The answer. Raises ConfigError while the run is paused."""
        if not self.outputs:
            raise ConfigError(f"This run is paused and has no output yet; decide about {self._waiting()}.")
        return self.outputs[0]

    async def resume(self, decisions: Mapping[str, Decision]) -> RunResult[T_co]:
        """Goes on with a paused run.

        May be called again after a failure: calls that have run are not run twice.

        Args:
            decisions: by call id. Ids without a decision stay pending.

        Raises:
            ConfigError: nothing is pending, or an id is not among the pending ones.
        """
        if self.continuation is None:
            raise ConfigError("This run is over; there is nothing to resume.")
        result: RunResult[T_co] = await self.continuation(decisions)
        return result

    def _waiting(self) -> str:
        return ", ".join(f"{call.id!r}" for call in self.pending)

    def __str__(self) -> str:
        return str(self.outputs[0]) if self.outputs else f"(paused: {self._waiting()})"

    def __repr__(self) -> str:
        state = f"output={self.outputs[0]!r}" if self.outputs else f"pending=[{self._waiting()}]"
        return (
            f"RunResult({state}, steps={self.usage.steps}, tool_calls={self.usage.tool_calls}, "
            f"prompt_tokens={self.usage.prompt_tokens}, output_tokens={self.usage.output_tokens})"
        )
