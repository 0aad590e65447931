"""Streams: several readers, text and thoughts apart, errors told once, pauses that end quietly."""

from __future__ import annotations

import anyio
import pytest

from kimi_sdk import Agent, Limits, Message, OutputDelta, Reasoning, StepFinished, StepStarted, Text
from kimi_sdk.errors import LimitExceeded
from kimi_sdk.testing import ScriptedModel

pytestmark = pytest.mark.anyio

THOUGHTFUL = Message("assistant", (Reasoning("Hm, yes."), Text("It is so.")))


async def test_text_and_reasoning_can_be_read_side_by_side() -> None:
    pieces: dict[str, list[str]] = {"text": [], "reasoning": []}
    async with Agent(ScriptedModel([THOUGHTFUL])).stream("go") as stream:

        async def read(name: str) -> None:
            pieces[name] += [piece async for piece in getattr(stream, name)()]

        async with anyio.create_task_group() as group:
            group.start_soon(read, "text")
            group.start_soon(read, "reasoning")
        result = await stream.result()
    assert "".join(pieces["text"]) == result.output == "It is so."
    assert "".join(pieces["reasoning"]) == result.messages[-1].reasoning == "Hm, yes."


async def test_iteration_goes_on_where_it_stopped() -> None:
    async with Agent(ScriptedModel(["a b"])).stream("go") as stream:
        async for event in stream:
            assert isinstance(event, StepStarted)
            break
        rest = [event async for event in stream]
    assert len(rest) == 3
    assert isinstance(rest[-1], StepFinished)


async def test_result_without_reading() -> None:
    async with Agent(ScriptedModel(["a b"])).stream("go") as stream:
        assert (await stream.result()).output == "a b"


async def test_failures_are_raised_at_the_end_of_the_iteration() -> None:
    seen: list[object] = []

    async def read() -> None:
        async with Agent(ScriptedModel([]), limits=Limits(steps=0)).stream("go") as stream:
            seen.extend([event async for event in stream])

    with pytest.raises(LimitExceeded):
        await read()
    assert seen == []


async def test_failures_that_nobody_noticed_are_raised_at_the_end_of_the_block() -> None:
    with pytest.raises(LimitExceeded):
        async with Agent(ScriptedModel([]), limits=Limits(steps=0)).stream("go"):
            await anyio.sleep(0.02)


async def test_typed_output_comes_as_growing_values() -> None:
    model = ScriptedModel(['{"a": 1, "b": [1, 2]}'])
    async with Agent(model, output_type=dict[str, object]).stream("go") as stream:
        partials = [event.partial async for event in stream if isinstance(event, OutputDelta)]
        result = await stream.result()
    assert partials[-1] == result.output == {"a": 1, "b": [1, 2]}
    assert len(partials) > 1
