"""The loop of a run: order of events, results in call order, errors back to the model, a legal history."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import ContextVar

import anyio
import pytest

from kimi_sdk import (
    Agent,
    CallArgsDelta,
    CallFinished,
    CallReady,
    CallStarted,
    Event,
    Limits,
    Message,
    RunContext,
    StepFinished,
    StepStarted,
    TextDelta,
    tool,
)
from kimi_sdk.errors import Abort, Retry, ToolDefinitionError, ToolFailed
from kimi_sdk.testing import FunctionModel, ScriptedModel, assert_idle

pytestmark = pytest.mark.anyio


@tool
async def wait(seconds: float, word: str = "done") -> str:
    """Wait.

    Args:
        seconds: how long.
        word: what to say then.
    """
    await anyio.sleep(seconds)
    return word


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail(text: str) -> str:
    """Fail."""
    raise ValueError(text)


def check_legal(messages: Sequence[Message]) -> None:
    """Each call is answered at once, in call order."""
    for at, message in enumerate(messages):
        if message.calls:
            asked = [call.id for call in message.calls]
            assert [result.call_id for result in messages[at + 1].results] == asked


async def events_of(agent: Agent[None, str], task: str) -> list[Event]:
    async with agent.stream(task) as stream:
        return [event async for event in stream]


async def test_answer_without_tools() -> None:
    async with ScriptedModel(["Hello there."]) as model:
        result = await Agent(model, instructions="Be brief.").run("Hi")
    assert result.output == str(result) == "Hello there."
    assert [message.role for message in model.seen[0]] == ["system", "user"]
    assert [message.text for message in result.messages] == ["Hi", "Hello there."]
    assert result.new_messages == result.messages
    assert result.usage.steps == 1
    assert result.usage.output_tokens == 2


async def test_calls_then_answer() -> None:
    async with ScriptedModel([[("add", {"a": 2, "b": 3})], "Five."]) as model:
        result = await Agent(model, tools=[add]).run("2+3?")
    assert result.output == "Five."
    assert result.usage.tool_calls == 1
    assert result.usage.steps == 2
    assert model.seen[1][-1].text == "5"
    check_legal(result.messages)


async def test_events_come_in_order() -> None:
    calls = [("wait", {"seconds": 0.05, "word": "slow"}), ("add", {"a": 1, "b": 1})]
    events = await events_of(Agent(ScriptedModel([calls, "Ok."]), tools=[wait, add]), "go")
    kinds = [type(event) for event in events]
    assert kinds == [
        *(StepStarted, CallStarted, CallArgsDelta, CallArgsDelta, CallReady),
        *(CallStarted, CallArgsDelta, CallArgsDelta, CallReady),
        *(CallFinished, CallFinished, StepFinished),
        *(StepStarted, TextDelta, StepFinished),
    ]
    finished = [event.result.name for event in events if isinstance(event, CallFinished)]
    assert finished == ["add", "wait"]
    assert [event.call_id for event in events if isinstance(event, CallStarted)] == ["wait:1:1", "add:2:1"]


async def test_results_keep_call_order_whatever_finishes_first() -> None:
    calls = [
        ("wait", {"seconds": 0.03, "word": "first"}),
        ("nonsense", {}),
        ("wait", {"seconds": 0.01, "word": "third"}),
        ("fail", {"text": "boom"}),
    ]
    result = await Agent(ScriptedModel([calls, "Ok."]), tools=[wait, fail]).run("go")
    results = result.messages[2].results
    assert [item.name for item in results] == ["wait", "nonsense", "wait", "fail"]
    assert [item.is_error for item in results] == [False, True, False, True]
    assert results[1].text == "There is no tool 'nonsense'. Tools: wait, fail."
    assert "ValueError: boom" in results[3].text


async def test_calls_run_side_by_side_and_sequential_ones_alone() -> None:
    running: set[str] = set()
    beside: dict[str, set[str]] = {}

    @tool
    async def free(name: str) -> str:
        """Work."""
        running.add(name)
        await anyio.sleep(0.02)
        beside[name] = set(running)
        running.discard(name)
        return name

    @tool(sequential=True)
    async def alone(name: str) -> str:
        """Work alone."""
        running.add(name)
        await anyio.sleep(0.02)
        beside[name] = set(running)
        running.discard(name)
        return name

    calls = [
        ("free", {"name": "a"}),
        ("free", {"name": "b"}),
        ("alone", {"name": "c"}),
        ("free", {"name": "d"}),
    ]
    await Agent(ScriptedModel([calls, "Ok."]), tools=[free, alone]).run("go")
    assert beside["a"] | beside["b"] == {"a", "b"}
    assert beside["c"] == {"c"}


async def test_def_tools_leave_the_loop_free_and_see_the_callers_context() -> None:
    asked: ContextVar[str] = ContextVar("asked")
    seen: list[object] = []

    @tool
    def block() -> str:
        """Block a thread."""
        threading.Event().wait(0.2)
        seen.append((asked.get(), threading.current_thread() is threading.main_thread()))
        return "ok"

    asked.set("by me")
    worst = 0.0

    async def heartbeat() -> None:
        nonlocal worst
        while True:
            before = anyio.current_time()
            await anyio.sleep(0.01)
            worst = max(worst, anyio.current_time() - before)

    async with anyio.create_task_group() as group:
        group.start_soon(heartbeat)
        await Agent(ScriptedModel([[("block", {})] * 2, "Ok."]), tools=[block]).run("go")
        group.cancel_scope.cancel()
    assert seen == [("by me", False)] * 2
    assert worst < 0.15


async def test_wrong_arguments_go_back_once_and_then_end_the_run() -> None:
    bad = [("add", {"a": "x", "b": 1})]
    good = await Agent(ScriptedModel([bad, [("add", {"a": 1, "b": 1})], "2"]), tools=[add]).run("go")
    assert good.output == "2"
    assert good.messages[2].results[0].is_error
    with pytest.raises(ToolFailed, match="add") as caught:
        await Agent(ScriptedModel([bad, bad, "never"]), tools=[add]).run("go")
    assert caught.value.messages[-1].results[0].is_error
    assert caught.value.usage.tool_calls == 2
    check_legal(caught.value.messages)


async def test_retry_counts_attempts() -> None:
    attempts: list[int] = []

    @tool(retries=2)
    def picky(ctx: RunContext[None], n: int) -> str:
        """Want the third."""
        attempts.append(ctx.attempt)
        if ctx.attempt < 3:
            raise Retry("Once more.")
        return f"{n}"

    turns = [[("picky", {"n": n})] for n in range(3)]
    result = await Agent(ScriptedModel([*turns, "Ok."]), tools=[picky]).run("go")
    assert attempts == [1, 2, 3]
    assert next(m.results[0].text for m in result.messages if m.role == "tool") == "Once more."


async def test_abort_ends_the_run_with_a_legal_history() -> None:
    @tool
    async def stop() -> str:
        """Stop."""
        raise Abort("enough")

    calls = [("wait", {"seconds": 5.0}), ("stop", {})]
    with pytest.raises(ToolFailed, match="enough") as caught:
        await Agent(ScriptedModel([calls]), tools=[wait, stop]).run("go")
    check_legal(caught.value.messages)
    assert "interrupted" in caught.value.messages[-1].results[0].text


async def test_tool_timeout_is_told_to_the_model() -> None:
    @tool(timeout=0.05)
    async def hang() -> str:
        """Hang."""
        await anyio.sleep(60)
        return "never"

    result = await Agent(ScriptedModel([[("hang", {})], "Ok."]), tools=[hang]).run("go")
    (hung,) = result.messages[2].results
    assert hung.is_error
    assert "timed out" in hung.text


async def test_prefix_only_grows() -> None:
    turns = [[("add", {"a": n, "b": n})] for n in range(4)]
    model = ScriptedModel([*turns, "Ok."])
    await Agent(model, instructions="Add.", tools=[add]).run("go")
    for shorter, longer in zip(model.seen, model.seen[1:], strict=False):
        assert longer[: len(shorter)] == shorter
    assert len({request.tools and str(request.tools) for request in model.requests}) == 1


async def test_progress_is_an_event() -> None:
    @tool
    async def work(ctx: RunContext[None]) -> str:
        """Work."""
        await ctx.progress("half")
        return "whole"

    events = await events_of(Agent(ScriptedModel([[("work", {})], "Ok."]), tools=[work]), "go")
    assert [event.text for event in events if hasattr(event, "call_id") and hasattr(event, "text")] == [
        "half"
    ]


async def test_deps_reach_tools() -> None:
    @tool
    def show(ctx: RunContext[list[int]]) -> str:
        """Show."""
        ctx.deps.append(len(ctx.messages))
        return str(ctx.deps)

    deps: list[int] = []
    agent = Agent(ScriptedModel([[("show", {})], "Ok."]), tools=[show], deps_type=list[int])
    await agent.run("go", deps=deps)
    assert deps == [2]
    with pytest.raises(ValueError, match="deps"):
        await agent.run("go")


async def test_names_are_unique() -> None:
    with pytest.raises(ToolDefinitionError, match="Two tools are called 'add'"):
        Agent(ScriptedModel([]), tools=[add, tool(name="add")(wait.function)])


async def test_script_is_strict() -> None:
    with pytest.raises(AssertionError, match="turn 2 was asked for"):
        await Agent(ScriptedModel([[("add", {"a": 1, "b": 1})]]), tools=[add]).run("go")
    with pytest.raises(AssertionError, match="1 of 2 turns"):
        async with ScriptedModel(["a", "b"]) as model:
            await Agent(model).run("go")


async def test_errors_of_the_model_pass_through() -> None:
    model = ScriptedModel([RuntimeError("wires crossed")])
    with pytest.raises(RuntimeError, match="wires crossed"):
        await Agent(model).run("go")
    assert_idle(model)


async def test_many_agents_share_one_function_model() -> None:
    def reply(messages: Sequence[Message]) -> str | list[tuple[str, dict[str, int]]]:
        if messages[-1].role == "user":
            return [("add", {"a": int(messages[-1].text), "b": 1})]
        return messages[-1].text

    agent = Agent(FunctionModel(reply), tools=[add], limits=Limits(steps=3))
    outputs: dict[int, str] = {}

    async def one(n: int) -> None:
        outputs[n] = (await agent.run(str(n))).output

    async with anyio.create_task_group() as group:
        for n in range(40):
            group.start_soon(one, n)
    assert outputs == {n: str(n + 1) for n in range(40)}
