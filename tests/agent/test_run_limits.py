"""What a run may spend: every limit stops it before the spending, with all that was done inside the error."""

from __future__ import annotations

import anyio
import pytest

from kimi_sdk import Agent, Limits, Message, Reasoning, Sampling, Text, tool
from kimi_sdk.errors import ConfigError, LimitExceeded, ModelStalled, OutputError
from kimi_sdk.testing import FunctionModel, ScriptedModel, assert_idle

pytestmark = pytest.mark.anyio


@tool
def echo(text: str) -> str:
    """Say it."""
    return text


def endless(text: str = "x") -> FunctionModel:
    return FunctionModel(lambda messages: [("echo", {"text": f"{text}{len(messages)}"})])


def check_legal(error: LimitExceeded | ModelStalled) -> None:
    for at, message in enumerate(error.messages):
        if message.calls:
            assert len(error.messages[at + 1].results) == len(message.calls)


@pytest.mark.parametrize("steps", [0, 1, 3])
async def test_steps(steps: int) -> None:
    with pytest.raises(LimitExceeded, match=f"steps={steps}") as caught:
        await Agent(endless(), tools=[echo], limits=Limits(steps=steps)).run("go")
    assert (caught.value.limit, caught.value.value) == ("steps", steps)
    assert caught.value.usage.steps == steps
    check_legal(caught.value)


async def test_tool_calls_are_counted_before_they_run() -> None:
    ran: list[str] = []

    @tool
    def note(text: str) -> str:
        """Note."""
        ran.append(text)
        return text

    model = ScriptedModel([[("note", {"text": "a"})], [("note", {"text": "b"}), ("note", {"text": "c"})]])
    with pytest.raises(LimitExceeded, match="tool_calls=2") as caught:
        await Agent(model, tools=[note], limits=Limits(tool_calls=2)).run("go")
    assert ran == ["a"]
    assert caught.value.usage.tool_calls == 1
    assert all("Not executed" in result.text for result in caught.value.messages[-1].results)
    check_legal(caught.value)


async def test_output_tokens_are_exact() -> None:
    model = ScriptedModel(["one two three four five six"])
    with pytest.raises(LimitExceeded, match="output_tokens=4") as caught:
        await Agent(model, limits=Limits(output_tokens=4)).run("go")
    assert caught.value.usage.output_tokens == 4
    assert caught.value.messages[-1].text == "one two three four"


async def test_tokens_count_the_prompt_before_it_is_paid_for() -> None:
    with pytest.raises(LimitExceeded, match="tokens=3") as caught:
        await Agent(ScriptedModel([]), limits=Limits(tokens=3)).run("one two three")
    assert caught.value.usage.prompt_tokens == 0
    with pytest.raises(LimitExceeded) as caught:
        await Agent(ScriptedModel(["a b c d"]), limits=Limits(tokens=5)).run("one two three")
    usage = caught.value.usage
    assert usage.prompt_tokens + usage.output_tokens == 5


async def test_seconds_cancel_what_is_running() -> None:
    @tool
    async def hang() -> str:
        """Hang."""
        await anyio.sleep(60)
        return "never"

    model = ScriptedModel([[("hang", {})]])
    with pytest.raises(LimitExceeded, match="seconds") as caught:
        await Agent(model, tools=[hang], limits=Limits(seconds=0.05)).run("go")
    assert "interrupted" in caught.value.messages[-1].text
    assert_idle(model)
    slow = ScriptedModel(["a b c d e f g h"], seconds_per_token=0.05)
    with pytest.raises(LimitExceeded, match="seconds"):
        await Agent(slow, limits=Limits(seconds=0.08)).run("go")
    assert_idle(slow)


async def test_repeats_stop_a_stalled_model_before_the_next_call() -> None:
    ran: list[str] = []

    @tool
    def same(text: str) -> str:
        """Always the same."""
        ran.append(text)
        return "nothing new"

    model = FunctionModel(lambda _: [("same", {"text": "again"})])
    with pytest.raises(ModelStalled, match="3 times") as caught:
        await Agent(model, tools=[same]).run("go")
    assert len(ran) == 3
    check_legal(caught.value)


async def test_same_call_with_new_results_is_no_stall() -> None:
    count = iter(range(100))

    @tool
    def poll() -> int:
        """Look again."""
        return next(count)

    turns = [[("poll", {})]] * 8
    result = await Agent(ScriptedModel([*turns, "Done."]), tools=[poll]).run("go")
    assert result.usage.tool_calls == 8


async def test_an_answer_cut_by_a_cap_is_never_an_empty_success() -> None:
    thoughts = Message("assistant", (Reasoning("so many thoughts here"), Text("The answer.")))
    with pytest.raises(OutputError, match="cut"):
        await Agent(ScriptedModel([thoughts]), sampling=Sampling(max_tokens=3)).run("go")
    reply = await ScriptedModel([thoughts]).chat("go", sampling=Sampling(max_tokens=3))
    assert (reply.output, reply.finish_reason) == ("", "length")


async def test_sub_agents_spend_their_callers_tokens() -> None:
    inner = Agent(ScriptedModel(["one two three four five six seven"]))
    ask = inner.as_tool(name="ask", description="Ask.")
    outer = Agent(
        ScriptedModel([[("ask", {"task": "what"})], "Done."]), tools=[ask], limits=Limits(output_tokens=20)
    )
    result = await outer.run("go")
    assert result.usage.output_tokens == 2 + 7 + 1
    assert result.usage.steps == 3
    poor = Agent(
        ScriptedModel([[("ask", {"task": "what"})], "Done."]),
        tools=[Agent(ScriptedModel(["one two three four five"])).as_tool(name="ask", description="Ask.")],
        limits=Limits(output_tokens=5),
    )
    with pytest.raises(LimitExceeded, match="output_tokens") as caught:
        await poor.run("go")
    assert caught.value.usage.output_tokens == 5


async def test_limits_of_one_run_replace_the_agents() -> None:
    agent = Agent(endless(), tools=[echo], limits=Limits(steps=1))
    with pytest.raises(LimitExceeded, match="steps=2"):
        await agent.run("go", limits=Limits(steps=2))
    with pytest.raises(ConfigError, match="negative"):
        Agent(endless(), output_retries=-1)
