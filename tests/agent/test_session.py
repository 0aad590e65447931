"""Sessions grow by whole steps, belong to one run at a time, and fork."""

from __future__ import annotations

import anyio
import pytest

from kimi_sdk import Agent, Message, Session, tool
from kimi_sdk.errors import ConfigError
from kimi_sdk.testing import ScriptedModel

pytestmark = pytest.mark.anyio


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def test_runs_continue_each_other() -> None:
    session = Session.new(id="s")
    model = ScriptedModel([[("add", {"a": 1, "b": 1})], "2", "I said 2."])
    agent = Agent(model, instructions="Add.", tools=[add])
    await agent.run("1+1?", session=session)
    second = await agent.run("What did you say?", session=session)
    assert [message.role for message in session.messages] == [
        *("user", "assistant", "tool", "assistant"),
        *("user", "assistant"),
    ]
    assert len(second.new_messages) == 2
    assert second.messages == list(session.messages)
    assert session.usage.steps == 3
    assert [message.role for message in model.seen[2]].count("system") == 1


async def test_forks_part() -> None:
    session = Session.new()
    agent = Agent(ScriptedModel([[("add", {"a": 1, "b": 1})], "2", "left", "right"]), tools=[add])
    await agent.run("1+1?", session=session)
    left, right = session.fork(), session.fork(at=3)
    await agent.run("l", session=left)
    await agent.run("r", session=right)
    assert [len(s.messages) for s in (session, left, right)] == [4, 6, 5]
    assert len({session.id, left.id, right.id}) == 3
    with pytest.raises(ConfigError, match="part calls"):
        session.fork(at=2)
    with pytest.raises(ConfigError, match="outside"):
        session.fork(at=9)


async def test_one_run_at_a_time() -> None:
    session = Session.new()
    agent = Agent(ScriptedModel(["a b c d"] * 2, seconds_per_token=0.02))
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: agent.run("x", session=session))
        await anyio.sleep(0.01)
        with pytest.raises(ConfigError, match="in use"):
            await agent.run("y", session=session)
    assert len(session.messages) == 2


async def test_a_failed_first_turn_leaves_no_trace() -> None:
    session = Session.new()
    with pytest.raises(RuntimeError):
        await Agent(ScriptedModel([RuntimeError("no")])).run("x", session=session)
    assert list(session.messages) == []


async def test_histories_are_tasks() -> None:
    history = [Message.user("Hi"), Message.assistant("Hello"), Message.user("Again?")]
    result = await Agent(ScriptedModel(["Yes."])).run(history)
    assert [m.text for m in result.messages] == ["Hi", "Hello", "Again?", "Yes."]
