"""Hooks see everything and may change what is sent, called and answered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kimi_sdk import (
    Agent,
    Event,
    Hooks,
    Message,
    RunContext,
    StepFinished,
    StepStarted,
    Text,
    ToolCall,
    ToolResult,
    tool,
)
from kimi_sdk.testing import ScriptedModel, assert_idle

pytestmark = pytest.mark.anyio


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Meddler(Hooks[None]):
    def __init__(self) -> None:
        self.events: list[Event] = []

    async def before_step(self, ctx: RunContext[None], messages: list[Message]) -> list[Message]:
        return [Message.system("Be kind."), *messages]

    async def before_call(self, ctx: RunContext[None], call: ToolCall) -> ToolCall | ToolResult:
        if call.args["a"] == 13:
            return ToolResult("", "", (Text("Not with 13."),), is_error=True)
        return replace(call, args={**call.args, "b": 100})

    async def after_call(self, ctx: RunContext[None], result: ToolResult) -> ToolResult:
        return replace(result, content=(Text(f"= {result.text}"),))

    async def on_event(self, ctx: RunContext[None], event: Event) -> None:
        self.events.append(event)


async def test_hooks_change_what_happens() -> None:
    meddler = Meddler()
    model = ScriptedModel([[("add", {"a": 1, "b": 1}), ("add", {"a": 13, "b": 1})], "Ok."])
    result = await Agent(model, tools=[add], hooks=[meddler]).run("go")
    assert model.seen[0][0].text == "Be kind."
    assert result.messages[0].text == "go"
    first, second = result.messages[2].results
    assert (first.text, first.call_id) == ("= 101", "add:1:1")
    assert (second.text, second.call_id, second.name) == ("Not with 13.", "add:2:1", "add")
    assert result.messages[1].calls[0].args == {"a": 1, "b": 1}
    assert isinstance(meddler.events[0], StepStarted)
    assert isinstance(meddler.events[-1], StepFinished)


async def test_a_hook_that_raises_ends_the_run_with_its_own_error() -> None:
    class Broken(Hooks[None]):
        async def after_call(self, ctx: RunContext[None], result: ToolResult) -> ToolResult:
            raise LookupError("hook broke")

    model = ScriptedModel([[("add", {"a": 1, "b": 1})] * 2])
    with pytest.raises(LookupError, match="hook broke"):
        await Agent(model, tools=[add], hooks=[Broken()]).run("go")
    assert_idle(model)
