"""Running one call of a tool: arguments checked, time bounded, the result made into what a model can read.

Whatever goes wrong inside a tool becomes an error result; only ``Abort`` and cancellation leave. The loop
decides about limits, approval and repetition.
"""

from __future__ import annotations

import functools
import inspect
import logging
import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from kimi_sdk.errors import Abort, Retry
from kimi_sdk.messages import Text, ToolCall, ToolResult
from kimi_sdk.tools.context import RunContext
from kimi_sdk.tools.result import content_of, cut, estimate_tokens, readable
from kimi_sdk.tools.tool import Tool

if TYPE_CHECKING:
    from kimi_sdk.vision.image import Image

THREADS = 32  # calls of "def" tools that run at once in one event loop
LONGEST_ERROR = 4000  # characters of an exception's text

log = logging.getLogger(__name__)
_limiter: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("kimi_sdk_tool_threads")


class _TimedOut(Retry):
    """The tool's time was over: said to the model like a ``Retry``, but nothing was refused."""


async def execute(
    tool: Tool[..., Any],
    call: ToolCall,
    ctx: RunContext[Any],
    *,
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> ToolResult:
    """Run one call.

    Args:
        tool: the tool that the call names.
        call: its arguments need not be valid.
        ctx: given to the tool if it asks for one; told when nobody waits for the call any more.
        count_tokens: measures a result against ``max_result_tokens``.

    Returns:
        The result; ``is_error`` when the arguments were refused, the tool raised, or its time was over.

    Raises:
        Abort: the tool asked for the end of the run.
    """
    try:
        positional, named = tool.bind(call.args)
        if tool.takes_context:
            positional = (ctx, *positional)
        value = await _timed(tool, ctx, positional, named)
        content: tuple[Text | Image, ...] = content_of(value, tool.name)
    except Abort:
        raise
    except Exception as error:
        return _refusal(call, error, ctx)
    content, before = cut(content, tool.options.max_result_tokens, count_tokens)
    return ToolResult(call.id, call.name, content, truncated_from=before)


def _refusal(call: ToolCall, error: Exception, ctx: RunContext[Any]) -> ToolResult:
    """The error result of what a tool raised, or its Abort if that was inside a group."""
    while isinstance(error, ExceptionGroup):
        told = error.subgroup((Abort, Retry))
        found = (told or error).exceptions
        error = next((one for one in found if isinstance(one, Abort)), found[0])
    if isinstance(error, Abort):
        raise error
    ctx.refused = isinstance(error, Retry) and not isinstance(error, _TimedOut)
    said = _said(error)
    text = said if isinstance(error, Retry) else f"{type(error).__name__}: {said}".rstrip(": ")
    text = readable(text)
    if len(text) > LONGEST_ERROR:
        text = f"{text[:LONGEST_ERROR]}\n[cut: {LONGEST_ERROR:,} of {len(text):,} characters]"
    return ToolResult(call.id, call.name, (Text(text or "The tool refused this call."),), is_error=True)


def _said(error: BaseException) -> str:
    """The text of an exception, which its own code may fail to give."""
    try:
        return str(error)
    except Exception:
        return ""


async def _timed(
    tool: Tool[..., Any], ctx: RunContext[Any], positional: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """The tool's value. A tool that is cancelled or late is told by ``ctx.cancelled``."""
    with anyio.CancelScope() as scope:
        if tool.options.timeout is not None:
            scope.deadline = anyio.current_time() + tool.options.timeout
        done = False
        try:
            value = await _called(tool, positional, named)
            done = True
            return value
        finally:
            if not done:
                ctx.cancel()
    raise _TimedOut(f"{tool.name} timed out after {tool.options.timeout:g} s.")


async def _called(tool: Tool[..., Any], positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
    bound = functools.partial(tool.function, *positional, **named)
    try:
        value = await bound() if tool.is_async else await _in_thread(tool.name, bound)
        return await value if inspect.isawaitable(value) else value
    except SystemExit as left:
        raise _left(left) from left
    except anyio.get_cancelled_exc_class() as cancelled:
        if anyio.current_effective_deadline() == -math.inf:
            raise
        # Nobody has cancelled this call: the tool awaited something of its own that was.
        raise _left(cancelled) from cancelled


def _left(error: BaseException) -> RuntimeError:
    """What is said of a tool that raised what would end more than its own call."""
    return RuntimeError(f"the tool raised {type(error).__name__} {_said(error)}".rstrip())


async def _in_thread(name: str, bound: Callable[[], Any]) -> Any:
    """Run in a worker thread, with the caller's context variables.

    A thread cannot be stopped: when the caller is cancelled it is left alone, and what it returns is dropped.
    """
    abandoned = threading.Event()

    def run() -> tuple[Any, Exception | None]:
        value, error = None, None
        try:
            value = bound()
        except Exception as raised:  # not left to the thread's bridge, which cannot carry a StopIteration
            error = raised
        except (SystemExit, KeyboardInterrupt, GeneratorExit) as raised:  # no Ctrl-C: that never comes here
            error = _left(raised)
        if abandoned.is_set():
            log.warning("Tool %s came to an end after its call was given up; its result is dropped.", name)
        return value, error

    try:
        value, error = await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=_threads())
    except BaseException:
        abandoned.set()
        raise
    if error is not None:
        raise error
    return value


def _threads() -> anyio.CapacityLimiter:
    """This event loop's limit; the loop's default one is left to the caller's own threads."""
    limiter = _limiter.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(THREADS)
        _limiter.set(limiter)
    return limiter
