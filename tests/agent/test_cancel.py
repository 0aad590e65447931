"""Cancelling at any point leaves nothing running, nothing lost, and a history that the next run can use."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kimi_sdk import Agent, Session, tool
from kimi_sdk.testing import ScriptedModel, assert_idle

pytestmark = pytest.mark.anyio


@tool
async def slow(seconds: float) -> str:
    """Wait."""
    await anyio.sleep(seconds)
    return "done"


def check_legal(session: Session) -> None:
    for at, message in enumerate(session.messages):
        if message.calls:
            assert [r.call_id for r in session.messages[at + 1].results] == [c.id for c in message.calls]


async def test_cancel_in_a_tool() -> None:
    model = ScriptedModel([[("slow", {"seconds": 60.0}), ("slow", {"seconds": 0.0})], "never"])
    session = Session.new()
    with anyio.move_on_after(0.5) as scope:
        await Agent(model, tools=[slow]).run("go", session=session)
    assert scope.cancelled_caught
    assert_idle(model)
    check_legal(session)
    first, second = session.messages[-1].results
    assert first.is_error
    assert "interrupted" in first.text
    assert second.text == "done"


@pytest.mark.parametrize("after", range(26))
async def test_cancel_at_every_checkpoint(after: int) -> None:
    """The k-th time the run gives way to others, for every k of a run with two calls."""
    turns = [[("slow", {"seconds": 0.0}), ("slow", {"seconds": 0.0})], "All done now."]
    model = ScriptedModel(turns)
    session = Session.new()
    agent = Agent(model, tools=[slow])

    async with anyio.create_task_group() as group:

        async def work() -> None:
            with scope:
                await agent.run("go", session=session)

        scope = anyio.CancelScope()
        group.start_soon(work)
        for _ in range(after):
            await checkpoint()
        scope.cancel()
    assert_idle(model)
    check_legal(session)
    again = ScriptedModel(["Fine."])
    result = await Agent(again, tools=[slow]).run("go on", session=session)
    assert result.output == "Fine."
    assert again.seen[0][:-1] == (*session.messages[:-2],)


async def test_cancel_in_a_def_tool_does_not_wait_for_it() -> None:
    import threading

    release = threading.Event()
    late: list[str] = []

    @tool
    def stubborn() -> str:
        """Hold on."""
        release.wait(5)
        late.append("came back")
        return "late"

    session = Session.new()
    before = anyio.current_time()
    with anyio.move_on_after(0.05):
        await Agent(ScriptedModel([[("stubborn", {})]]), tools=[stubborn]).run("go", session=session)
    assert anyio.current_time() - before < 4.0
    release.set()
    assert "interrupted" in session.messages[-1].text


async def test_leaving_a_stream_early_stops_the_run() -> None:
    model = ScriptedModel(["a b c d e f"] * 10, seconds_per_token=0.01)
    agent = Agent(model)

    async def one() -> None:
        async with agent.stream("go") as stream:
            async for _ in stream:
                break

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(one)
    assert_idle(model)


async def test_errors_in_a_stream_block_come_out_as_they_are() -> None:
    model = ScriptedModel(["a b c"], seconds_per_token=0.01)

    async def read() -> None:
        async with Agent(model).stream("go") as stream:
            async for _ in stream:
                raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await read()
    assert_idle(model)


async def test_a_tool_that_awaits_something_cancelled_gives_an_error_result(anyio_backend_name: str) -> None:
    if anyio_backend_name != "asyncio":
        pytest.skip("only asyncio lets a task end as cancelled for whoever awaits it")
    import asyncio

    @tool
    async def look() -> str:
        """Look."""
        task = asyncio.ensure_future(asyncio.sleep(5))
        task.cancel()
        await task
        return "seen"

    model = ScriptedModel([[("look", {})], "Done."])
    result = await Agent(model, tools=[look]).run("go")
    assert result.output == "Done."
    (told,) = result.messages[-2].results
    assert told.is_error
    assert "CancelledError" in told.text


async def test_cancel_from_outside_a_stream() -> None:
    model = ScriptedModel([[("slow", {"seconds": 60.0})]])
    session = Session.new()
    with anyio.move_on_after(0.05) as scope:
        async with Agent(model, tools=[slow]).stream("go", session=session) as stream:
            async for _ in stream:
                pass
    assert scope.cancelled_caught
    assert_idle(model)
    check_legal(session)
