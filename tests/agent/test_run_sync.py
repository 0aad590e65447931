"""Agents from code without await: in a script, and inside a running loop."""

from __future__ import annotations

import asyncio
import pickle
from contextvars import ContextVar

import pytest

from kimi_sdk import Agent, Model, tool
from kimi_sdk.errors import ConfigError
from kimi_sdk.testing import ScriptedModel

asked: ContextVar[str] = ContextVar("asked", default="nobody")


@tool
def who() -> str:
    """Who asks."""
    return asked.get()


def test_in_a_script() -> None:
    assert Agent(ScriptedModel(["Hello."])).run_sync("Hi").output == "Hello."


@pytest.mark.anyio
async def test_inside_a_running_loop() -> None:
    assert Agent(ScriptedModel(["Hello."])).run_sync("Hi").output == "Hello."


def test_beside_a_loop_that_was_closed() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    asyncio.set_event_loop(loop)
    try:
        assert Agent(ScriptedModel(["Hello."])).run_sync("Hi").output == "Hello."
    finally:
        asyncio.set_event_loop(None)


def test_the_callers_context_reaches_tools() -> None:
    asked.set("me")
    result = Agent(ScriptedModel([[("who", {})], "Ok."]), tools=[who]).run_sync("Hi")
    assert result.messages[2].results[0].text == "me"


def test_errors_come_out_as_they_are() -> None:
    with pytest.raises(RuntimeError, match="wires"):
        Agent(ScriptedModel([RuntimeError("wires crossed")])).run_sync("Hi")


def test_a_model_does_not_pickle_and_says_so() -> None:
    with pytest.raises(ConfigError, match="pickle"):
        pickle.dumps(ScriptedModel([]))


def test_values_print_well() -> None:
    result = Agent(ScriptedModel([[("who", {})], "Ok."]), tools=[who], name="clerk").run_sync("Hi")
    assert str(result) == "Ok."
    assert repr(result) == "RunResult(output='Ok.', steps=2, tool_calls=1, prompt_tokens=4, output_tokens=2)"
    assert (
        repr(Agent(ScriptedModel([]), tools=[who], name="clerk")) == "<Agent clerk on scripted, tools: who>"
    )
    assert isinstance(ScriptedModel([]), Model)
    assert repr(ScriptedModel([])) == "<ScriptedModel scripted>"
