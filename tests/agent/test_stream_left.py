"""Slips at the door of a run, and a stream that was left early: each has one clear error."""

from __future__ import annotations

from typing import Any

import PIL.Image
import pytest

from kimi_sdk import Agent, Approve, ToolCall, tool
from kimi_sdk.errors import ConfigError
from kimi_sdk.testing import ScriptedModel

pytestmark = pytest.mark.anyio


async def test_a_stream_left_early_has_no_result() -> None:
    agent = Agent(ScriptedModel(["a b c d e f"], seconds_per_token=0.05))
    async with agent.stream("go") as stream:
        async for _ in stream:
            break
    with pytest.raises(ConfigError, match="left before the run had ended"):
        await stream.result()


@pytest.mark.parametrize("part", [PIL.Image.new("RGB", (2, 2)), {"role": "user"}, 3, None])
async def test_a_task_of_something_else_says_what_to_do(part: Any) -> None:
    with pytest.raises(ConfigError, match=r"Image\.from_pil"):
        await Agent(ScriptedModel([])).run([part, "What is it?"])


async def test_an_empty_task_is_refused() -> None:
    with pytest.raises(ConfigError, match="empty"):
        await Agent(ScriptedModel([])).run("")


async def test_an_approver_may_be_an_ordinary_function() -> None:
    @tool(approval=True)
    def wipe() -> str:
        """Wipe it."""
        return "wiped"

    def approve(call: ToolCall) -> Approve:
        asked.append(call.name)
        return Approve()

    asked: list[str] = []
    agent = Agent(ScriptedModel([[("wipe", {})], "Done."]), tools=[wipe])
    assert (await agent.run("go", approve=approve)).output == "Done."
    assert asked == ["wipe"]
