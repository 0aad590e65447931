"""Typed answers of agents and replies: validated, written again once, refused with everything inside."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from kimi_sdk import Agent, Choice, JsonSchema, Reply, Sampling
from kimi_sdk.errors import ConfigError, OutputError, SchemaError
from kimi_sdk.testing import FunctionModel, ScriptedModel

pytestmark = pytest.mark.anyio


class Trip(BaseModel):
    city: str
    days: Annotated[int, Field(ge=1)]

    @field_validator("city")
    @classmethod
    def not_nowhere(cls, value: str) -> str:
        if value == "nowhere":
            raise ValueError("There is no such city.")
        return value


@pytest.mark.parametrize(
    ("output_type", "text", "value"),
    [
        (Trip, '{"city": "Oslo", "days": 2}', Trip(city="Oslo", days=2)),
        (int, "42", 42),
        (bool, "true", True),
        (list[int], "[1, 2]", [1, 2]),
        (Literal["red", "blue"], '"red"', "red"),
        (Choice({"good": 1, "bad": -1}), "bad", -1),
        (JsonSchema({"type": "object", "properties": {"x": {"type": "integer"}}}), '{"x": 1}', {"x": 1}),
        (str, "text", "text"),
    ],
)
async def test_values(output_type: type[object], text: str, value: object) -> None:
    assert (await Agent(ScriptedModel([text]), output_type=output_type).run("go")).output == value
    assert (await ScriptedModel([text]).chat("go", output_type=output_type)).output == value
    assert (await ScriptedModel([text]).generate("go", output_type=output_type)).output == value


async def test_validators_get_one_retry() -> None:
    bad, good = '{"city": "nowhere", "days": 1}', '{"city": "Oslo", "days": 1}'
    model = ScriptedModel([bad, good])
    result = await Agent(model, output_type=Trip).run("go")
    assert result.output.city == "Oslo"
    assert "There is no such city." in model.seen[1][-1].text
    with pytest.raises(OutputError, match="no such city") as caught:
        await Agent(ScriptedModel([bad, bad]), output_type=Trip).run("go")
    assert caught.value.messages[-1].text == bad
    assert caught.value.usage.steps == 2
    with pytest.raises(OutputError, match="no such city"):
        await ScriptedModel([bad]).chat("go", output_type=Trip)


async def test_a_cut_output_is_refused_at_once() -> None:
    model = ScriptedModel(['{"city": "Oslo", "days": 2}'])
    with pytest.raises(OutputError, match="cut"):
        await Agent(model, output_type=Trip, sampling=Sampling(max_tokens=2)).run("go")


async def test_what_cannot_be_a_schema_is_refused_when_the_agent_is_made() -> None:
    with pytest.raises(SchemaError):
        Agent(ScriptedModel([]), output_type=JsonSchema({"type": "no such type"}))
    with pytest.raises(SchemaError):
        Agent(ScriptedModel([]), output_type=type(lambda: None))


async def test_a_reply_that_ends_in_calls_has_no_output() -> None:
    def look(place: str) -> str:
        """Look."""
        return place

    reply = await ScriptedModel([[("look", {"place": "here"})]]).chat("go", tools=[look])
    assert reply.finish_reason == "tool_calls"
    assert reply.message.calls[0].args == {"place": "here"}
    with pytest.raises(ConfigError, match="look"):
        reply.output  # noqa: B018


async def test_bad_tool_choice() -> None:
    with pytest.raises(ConfigError, match="needs at least one tool"):
        await ScriptedModel(["x"]).chat("go", tool_choice="required")
    with pytest.raises(ConfigError, match="'nope'"):
        await ScriptedModel(["x"]).chat("go", tool_choice="nope")


async def test_batch_keeps_order_and_errors() -> None:
    model = FunctionModel(lambda messages: messages[-1].text)
    replies = await model.batch(["1", "x", "3", "4"], output_type=int, concurrency=2)
    outputs = [reply.output if isinstance(reply, Reply) else type(reply) for reply in replies]
    assert outputs == [1, OutputError, 3, 4]
    with pytest.raises(ConfigError, match="concurrency"):
        await model.batch([], concurrency=0)
