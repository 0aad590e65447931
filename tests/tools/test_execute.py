"""One call, run: validation, threads, timeouts, errors, results, on both event loops."""

from __future__ import annotations

import contextvars
import dataclasses
import logging
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import PIL.Image
import pytest
from pydantic import BaseModel

from kimi_sdk.errors import Abort, Retry
from kimi_sdk.messages import Text, ToolCall, ToolResult
from kimi_sdk.settings import Limits, Usage
from kimi_sdk.tools import RunContext, Tool, tool
from kimi_sdk.tools.execute import execute
from kimi_sdk.vision.image import Image

pytestmark = pytest.mark.anyio


def call_of(made: Tool[..., Any], args: dict[str, Any]) -> ToolCall:
    return ToolCall(f"{made.name}:1:1", made.name, args, 1)


def context(call: ToolCall, deps: Any = None) -> RunContext[Any]:
    return RunContext(deps=deps, usage=Usage(), limits=Limits(), messages=(), call=call)


async def run(made: Tool[..., Any], args: dict[str, Any] | None = None, **more: Any) -> ToolResult:
    call = call_of(made, args or {})
    return await execute(made, call, context(call), **more)


async def test_async_and_sync_tools_give_their_result() -> None:
    @tool
    async def double(n: int) -> int:
        await anyio.sleep(0)
        return 2 * n

    @tool
    def half(n: float) -> float:
        assert threading.current_thread() is not threading.main_thread()
        return n / 2

    assert await run(double, {"n": "4"}) == ToolResult("double:1:1", "double", (Text("8"),))
    assert (await run(half, {"n": 5})).text == "2.5"


async def test_a_sync_tool_may_return_something_to_await() -> None:
    async def inner() -> str:
        return "later"

    @tool
    def outer() -> Any:
        return inner()

    assert (await run(outer)).text == "later"


async def test_the_context_comes_first_and_progress_is_heard() -> None:
    heard: list[str] = []

    async def report(text: str) -> None:
        heard.append(text)

    @tool
    async def ask(ctx: RunContext[int], n: int) -> int:
        await ctx.progress("half way")
        return ctx.deps + n

    @tool
    def ask_in_thread(ctx: RunContext[int]) -> int:
        anyio.from_thread.run(ctx.progress, "from a thread")
        return ctx.deps

    for made, args in ((ask, {"n": 1}), (ask_in_thread, {})):
        call = call_of(made, args)
        ctx = context(call, deps=41)
        ctx.report = report
        assert (await execute(made, call, ctx)).text == str(41 + args.get("n", 0))
        await context(call).progress("unheard")
    assert heard == ["half way", "from a thread"]


async def test_bad_arguments_become_an_error_result() -> None:
    @tool
    async def never(n: int) -> None:
        raise AssertionError

    result = await run(never, {"m": 1})
    assert result.is_error
    assert "n: this argument is required" in result.text
    assert "m: there is no such argument" in result.text


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("boom"), "ValueError: boom"),
        (KeyError("k"), "KeyError: 'k'"),
        (RuntimeError(), "RuntimeError"),
        (StopIteration(3), "RuntimeError: coroutine raised StopIteration"),
        (TimeoutError("mine"), "TimeoutError: mine"),
        (Retry("Ask again."), "Ask again."),
        (ExceptionGroup("g", [ValueError("a"), Retry("inner")]), "inner"),
        (ExceptionGroup("g", [ValueError("a")]), "ValueError: a"),
        (ValueError("<Weird object at 0x7f00deadbeef>"), "ValueError: <Weird object>"),
        (ValueError("\ud800"), "ValueError: ?"),
        (ValueError("x" * 9000), None),
    ],
    ids=repr,
)
async def test_exceptions_become_error_results(sync: bool, error: Exception, text: str | None) -> None:
    def fails() -> None:
        raise error

    async def fails_later() -> None:
        raise error

    result = await run(tool(fails if sync else fails_later))
    assert result.is_error
    assert len(result.text) < 5000
    assert text is None or result.text == text


@pytest.mark.parametrize(
    "error", [Abort("enough"), ExceptionGroup("g", [ExceptionGroup("h", [Abort("enough")])])]
)
async def test_abort_leaves(error: Exception) -> None:
    @tool
    def stop() -> None:
        raise error

    with pytest.raises(Abort, match="enough"):
        await run(stop)


async def test_timeouts_are_told_and_the_tool_can_notice() -> None:
    seen = threading.Event()

    @tool(timeout=0.05)
    async def slow() -> str:
        await anyio.sleep(30)
        return "never"

    @tool(timeout=0.05)
    def busy(ctx: RunContext[None]) -> str:
        while not ctx.cancelled:
            time.sleep(0.005)
        seen.set()
        return "late"

    for made in (slow, busy):
        result = await run(made)
        assert result.is_error
        assert result.text == f"{made.name} timed out after 0.05 s."
    assert await anyio.to_thread.run_sync(seen.wait, 5)


async def test_cancel_ends_at_once_and_the_late_result_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    release, ended = threading.Event(), threading.Event()

    @tool
    def stubborn() -> str:
        release.wait(5)
        ended.set()
        return "late"

    with caplog.at_level(logging.WARNING):
        started = time.monotonic()
        with anyio.move_on_after(0.05) as scope:
            await run(stubborn)
        assert scope.cancelled_caught
        assert time.monotonic() - started < 1
        release.set()
        assert await anyio.to_thread.run_sync(ended.wait, 5)
        for _ in range(200):
            if caplog.records:
                break
            await anyio.sleep(0.01)
    assert [record.getMessage() for record in caplog.records] == [
        "Tool stubborn came to an end after its call was given up; its result is dropped."
    ]


async def test_a_blocking_tool_does_not_stop_the_loop() -> None:
    @tool
    def block() -> None:
        time.sleep(0.3)

    worst = 0.0
    async with anyio.create_task_group() as group:

        async def beat() -> None:
            nonlocal worst
            while True:
                before = time.monotonic()
                await anyio.sleep(0.01)
                worst = max(worst, time.monotonic() - before)

        group.start_soon(beat)
        await run(block)
        group.cancel_scope.cancel()
    assert worst < 0.2


variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")


async def test_threads_see_the_callers_context_variables() -> None:
    @tool
    def look() -> str:
        found = variable.get()
        variable.set("changed")
        return found

    variable.set("mine")
    assert (await run(look)).text == "mine"
    assert variable.get() == "mine"


async def test_a_tool_from_a_schema_gets_one_mapping() -> None:
    async def far(args: Any) -> str:
        return f"{args['n']}!"

    made = Tool.from_schema(
        far, name="far", description="", parameters={"properties": {"n": {"type": "integer"}}}
    )
    assert (await run(made, {"n": 3})).text == "3!"
    assert (await run(made, {"n": "x"})).is_error


class Shape(BaseModel):
    name: str


@dataclasses.dataclass
class Size:
    w: int


def weird() -> Any:
    class Weird:
        pass

    return Weird()


def circle() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain\ntext", "plain\ntext"),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (0.5, "0.5"),
        (float("nan"), "NaN"),
        ({"名": "月"}, '{"名":"月"}'),
        ({"a": "\ud800"}, '{"a":"?"}'),
        ("\ud800", "?"),
        ([1, "a"], '[1,"a"]'),
        (Shape(name="a"), '{"name":"a"}'),
        ([Size(3)], '[{"w":3}]'),
        (Decimal("1.50"), '"1.50"'),
        (Path("a/b"), '"a/b"'),
        (b"bytes", "bytes"),
        (Text("part"), "part"),
    ],
    ids=repr,
)
async def test_results_become_text(value: Any, text: str) -> None:
    result = await run(tool(name="give")(lambda: value))
    assert (result.text, result.is_error) == (text, False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (weird(), "give returned a Weird that cannot be shown: it has no form as text or JSON."),
        ({"a": weird()}, "give returned a dict that cannot be shown: it has no form as text or JSON."),
        (circle(), "give returned a list that cannot be shown: it holds itself."),
        ((n for n in range(3)), "give returned a generator; a tool returns a list instead."),
        (b"\xff\xfe\x00", "give returned 3 bytes that are neither UTF-8 text nor an image."),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_unreadable_results_are_errors_without_addresses(value: Any, text: str) -> None:
    result = await run(tool(name="give")(lambda: value))
    assert result.is_error
    assert result.text == f"TypeError: {text}"


async def test_images_stay_images() -> None:
    picture = PIL.Image.new("RGB", (3, 2), "red")
    image = Image.from_pil(picture)
    values = (image, picture, image.png(), [image, "and", image], (picture,))
    contents = []
    for value in values:

        @tool
        def give(value: Any = value) -> Any:
            return value

        contents.append((await run(give)).content)
    assert contents == [(image,), (image,), (image,), (image, Text("and"), image), (image,)]


async def test_long_results_are_cut_and_say_so() -> None:
    text = "".join(f"line {n}\n" for n in range(2000))

    @tool(max_result_tokens=50)
    def long() -> str:
        return text

    result = await run(long)
    assert result.truncated_from == -(-len(text) // 4)
    shown = result.content[0]
    assert isinstance(shown, Text)
    assert text.startswith(shown.text)
    assert 0 < len(shown.text) <= 200
    assert result.text.endswith(f"\n[cut: about 50 of {result.truncated_from:,} tokens are shown]")
    counted = await run(long, count_tokens=lambda t: len(t.split("\n")))
    assert counted.truncated_from == 2001
    assert counted.text.count("\n") <= 51

    whole = await run(tool(name="long", max_result_tokens=None)(lambda: text))
    assert (whole.text, whole.truncated_from) == (text, None)


async def test_many_tools_run_beside_each_other() -> None:
    barrier = threading.Barrier(8)

    @tool
    def meet() -> int:
        return barrier.wait(5)

    results: list[str] = []
    async with anyio.create_task_group() as group:

        async def one() -> None:
            results.append((await run(meet)).text)

        for _ in range(8):
            group.start_soon(one)
    assert sorted(results) == [str(n) for n in range(8)]


@pytest.mark.parametrize("error", [SystemExit(3), SystemExit(), KeyboardInterrupt(), GeneratorExit()])
async def test_a_tool_cannot_end_the_program(error: BaseException) -> None:
    def leave() -> str:
        """Leave."""
        raise error

    async def leave_async() -> str:
        """Leave."""
        raise error

    for function in (leave, leave_async) if isinstance(error, SystemExit) else (leave,):
        result = await run(tool(function))
        assert result.is_error
        assert f"the tool raised {type(error).__name__}" in result.text


async def test_an_exception_that_cannot_be_spelled_is_an_error_result() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("no words")

    @tool
    def fail() -> str:
        """Fail."""
        raise Mute

    result = await run(fail)
    assert (result.is_error, result.text) == (True, "Mute")
