"""Calls that wait for a person: asked in place, or a pause that can be resumed, also twice."""

from __future__ import annotations

import anyio
import pytest

from kimi_sdk import Agent, Approve, Decision, Deny, Session, ToolCall, tool
from kimi_sdk.errors import ConfigError
from kimi_sdk.testing import ScriptedModel

pytestmark = pytest.mark.anyio


class Shop:
    def __init__(self) -> None:
        self.orders: list[str] = []

    def agent(self, *turns: object) -> Agent[None, str]:
        orders = self.orders

        @tool(approval=True)
        def order(item: str) -> str:
            """Order."""
            orders.append(item)
            return f"ordered {item}"

        @tool(approval=lambda call: call.args["item"] == "piano")
        def borrow(item: str) -> str:
            """Borrow."""
            return f"borrowed {item}"

        return Agent(ScriptedModel(turns), tools=[order, borrow])  # type: ignore[arg-type]


async def test_an_approver_is_asked_one_call_at_a_time() -> None:
    shop = Shop()
    asking: list[str] = []

    async def approve(call: ToolCall) -> Decision:
        assert not asking
        asking.append(call.id)
        await anyio.sleep(0.01)
        asking.pop()
        return {"a": Approve(), "b": Deny(), "c": Approve({"item": "C"})}[call.args["item"]]

    calls = [("order", {"item": item}) for item in "abc"]
    result = await shop.agent(calls, "Ok.").run("go", approve=approve)
    assert sorted(shop.orders) == ["C", "a"]
    a, b, c = result.messages[2].results
    assert a.text == "ordered a"
    assert (b.is_error, b.text) == (True, "The user declined this call.")
    assert c.text.endswith("ordered C")
    assert "changed the arguments" in c.text
    assert not result.pending


async def test_without_an_approver_the_run_pauses_and_goes_on() -> None:
    shop = Shop()
    session = Session.new()
    calls = [("order", {"item": "a"}), ("borrow", {"item": "pen"}), ("borrow", {"item": "piano"})]
    paused = await shop.agent(calls, "Ok.").run("go", session=session)
    assert [call.id for call in paused.pending] == ["order:1:1", "borrow:3:1"]
    assert shop.orders == []
    assert len(session.messages) == 0
    with pytest.raises(ConfigError, match="paused"):
        paused.output  # noqa: B018
    with pytest.raises(ConfigError, match="No call 'x'"):
        await paused.resume({"x": Approve()})
    still = await paused.resume({"order:1:1": Approve()})
    assert [call.id for call in still.pending] == ["borrow:3:1"]
    assert shop.orders == ["a"]
    done = await still.resume({"borrow:3:1": Deny("Too heavy.")})
    assert done.output == "Ok."
    assert [item.text for item in done.messages[2].results] == ["ordered a", "borrowed pen", "Too heavy."]
    assert list(session.messages) == list(done.messages)
    assert session.usage == done.usage
    with pytest.raises(ConfigError, match="over"):
        await done.resume({})


async def test_resuming_again_after_a_failure_runs_no_call_twice() -> None:
    shop = Shop()
    session = Session.new()
    agent = shop.agent([("order", {"item": "a"})], RuntimeError("line cut"), "Ok.")
    paused = await agent.run("go", session=session)
    with pytest.raises(RuntimeError, match="line cut"):
        await paused.resume({"order:1:1": Approve()})
    done = await paused.resume({"order:1:1": Approve()})
    assert done.output == "Ok."
    assert shop.orders == ["a"]
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]


async def test_a_session_that_went_on_cannot_be_resumed_into() -> None:
    shop = Shop()
    session = Session.new()
    agent = shop.agent([("order", {"item": "a"})], "Other.", "never")
    paused = await agent.run("go", session=session)
    await agent.run("something else", session=session)
    with pytest.raises(ConfigError, match="has gone on"):
        await paused.resume({"order:1:1": Approve()})


async def test_a_stream_ends_quietly_at_a_pause() -> None:
    async with Shop().agent([("order", {"item": "a"})]).stream("go") as stream:
        events = [event async for event in stream]
        paused = await stream.result()
    assert paused.pending
    assert len(events) == 4
