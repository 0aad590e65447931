"""What type checkers must infer from the public surface. Never run: mypy --strict reads it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, assert_type

from pydantic import BaseModel

from kimi_sdk import (
    Agent,
    Approve,
    Choice,
    Deny,
    Hooks,
    Image,
    JsonSchema,
    Limits,
    Message,
    Model,
    OneOf,
    Regex,
    Reply,
    RunContext,
    RunResult,
    Sampling,
    Session,
    Stream,
    Tool,
    ToolCall,
    ToolResult,
    builtin_tools,
    errors,
    tool,
)
from kimi_sdk.testing import FunctionModel, ScriptedModel


class Trip(BaseModel):
    city: str


class Refund(BaseModel):
    cents: int


class Shop:
    open: bool = True


@tool
def price(article: str, pieces: int = 1) -> float:
    return 1.0 * pieces


@tool(timeout=2, approval=lambda call: bool(call.args))
async def order(ctx: RunContext[Shop], article: str) -> str:
    await ctx.progress("ordering")
    return article if ctx.deps.open else ""


price("pen")
price("pen", pieces=2)
price(3)  # type: ignore[arg-type]
price(article="pen", colour="red")  # type: ignore[call-arg]


class Audit(Hooks[Shop]):
    async def before_call(self, ctx: RunContext[Shop], call: ToolCall) -> ToolCall | ToolResult:
        return call


async def agents(model: Model) -> None:
    assert_type(Agent(model), Agent[None, str])
    assert_type(Agent("k3-mini"), Agent[None, str])
    assert_type(Agent(model, output_type=Trip), Agent[None, Trip])
    assert_type(Agent(model, deps_type=Shop), Agent[Shop, str])
    assert_type(
        Agent(model, deps_type=Shop, output_type=list[Trip], hooks=[Audit()]), Agent[Shop, list[Trip]]
    )
    assert_type(await Agent(model, output_type=list[Trip]).run("x"), RunResult[list[Trip]])
    assert_type(await Agent(model, output_type=bool).run("x"), RunResult[bool])
    assert_type((await Agent(model, output_type=int).run("x")).output, int)
    assert_type(Agent(model).run_sync("x", limits=Limits(steps=1)).output, str)
    assert_type(await Agent(model, output_type=OneOf(Trip, Refund)).run("x"), RunResult[Trip | Refund])
    shop = Agent(model, tools=[price, order, *builtin_tools()], deps_type=Shop)
    task: list[str | Image] = ["Look:", Image.from_path("x.png")]
    result = await shop.run(task, deps=Shop(), session=Session.new())
    await shop.run("x", deps=3)  # type: ignore[arg-type]
    paused = await result.resume({"order:1:1": Approve(), "order:2:1": Deny("No.")})
    assert_type(paused, RunResult[str])
    async with shop.stream("x", deps=Shop()) as stream:
        assert_type(stream, Stream[str])
        assert_type(await stream.result(), RunResult[str])
        async for piece in stream.text():
            assert_type(piece, str)
    assert_type(Agent(model).as_tool(name="ask", description="Ask."), Tool[[str], Awaitable[str]])


async def models(model: Model) -> None:
    assert_type(Model.from_config("tiny"), Model)
    assert_type(await model.chat("x"), Reply[str])
    assert_type(await model.chat([Message.user("x")], tools=[price], tool_choice="price"), Reply[str])
    assert_type(await model.chat("x", output_type=Trip), Reply[Trip])
    assert_type(await model.chat("x", output_type=OneOf(Trip, Refund)), Reply[Trip | Refund])
    assert_type(await model.chat("x", output_type=Choice({"good": 1})), Reply[int])
    assert_type(await model.chat("x", output_type=Regex("[a-z]+")), Reply[str])
    assert_type(await model.chat("x", output_type=JsonSchema({"type": "integer"})), Reply[Any])
    assert_type((await model.generate([1, 2], sampling=Sampling(temperature=0))).output, str)
    assert_type(await model.generate("x", output_type=bool), Reply[bool])
    assert_type(await model.batch(["x"], output_type=Trip), list[Reply[Trip] | errors.KimiError])
    await model.chat("x", sampling={"temperature": 1})  # type: ignore[call-overload]


def doubles() -> None:
    scripted: Model = ScriptedModel(["text", [("price", {"article": "pen"})], ValueError("no")])
    made: Model = FunctionModel(lambda messages: messages[-1].text)
    arguments: Mapping[str, Any] = {}
    ScriptedModel([[("price", arguments)]])
    del scripted, made
