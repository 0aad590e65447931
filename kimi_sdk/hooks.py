"""Places where a program may look into a run, or change what it does, without being its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from typing_extensions import TypeVar

from kimi_sdk.messages import Message, ToolCall, ToolResult

if TYPE_CHECKING:
    from kimi_sdk.events import Event
    from kimi_sdk.tools.context import RunContext

DepsT = TypeVar("DepsT", default=None)


class Hooks(Generic[DepsT]):
    """Subclass it and override what you need; several are called in the order given.

    Outside of a call ``ctx.call`` is an empty one, with index 0. An exception raised here ends the run.
    """

    async def before_step(self, ctx: RunContext[DepsT], messages: list[Message]) -> list[Message]:
        """Returns what the model reads in this step; the run's own history stays as it is."""
        return messages

    async def before_call(self, ctx: RunContext[DepsT], call: ToolCall) -> ToolCall | ToolResult:
        """Returns the call to execute, or a result that stands in for executing it."""
        return call

    async def after_call(self, ctx: RunContext[DepsT], result: ToolResult) -> ToolResult:
        """Returns the result that the model reads."""
        return result

    async def on_event(self, ctx: RunContext[DepsT], event: Event) -> None:
        """Sees every event, before whoever streams the run."""
