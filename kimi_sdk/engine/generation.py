"""The bridge between the engine thread and whoever waits for tokens, on any event loop or none.

The engine thread writes into a ``Stream`` and never waits for a reader: it wakes one by the loop's own
non-blocking call. A ``Generation`` is the reader's end. What the tokens are is left to others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import anyio
from anyio.lowlevel import checkpoint, current_token

from kimi_sdk.settings import Usage

if TYPE_CHECKING:
    from kimi_sdk.engine.sampler import SampledToken

FinishReason: TypeAlias = Literal["stop", "length", "abort"]


class _Loop:
    """An event loop that waits for a stream, asyncio's or trio's."""

    __slots__ = ("_token",)

    def __init__(self) -> None:
        self._token: Any = current_token().native_token

    def post(self, call: Callable[[], object]) -> bool:
        """Have the loop run ``call`` soon; at once and without waiting. False if the loop is gone."""
        try:
            if hasattr(self._token, "run_sync_soon"):
                self._token.run_sync_soon(call)
            else:
                self._token.call_soon_threadsafe(call)
        except RuntimeError:
            return False
        return True

    def alive(self) -> bool:
        """Whether the loop can still be posted to."""
        if not hasattr(self._token, "run_sync_soon"):
            return not self._token.is_closed()
        try:
            self._token.run_sync_soon(_nothing, idempotent=True)
        except RuntimeError:
            return False
        return True


def _nothing() -> None:
    """What a loop is asked to run to see whether it lives."""


class Stream:
    """Tokens on their way from the engine thread to one reader; every method returns at once."""

    def __init__(self) -> None:
        self.aborted = False
        self.ended = False
        self.reason: FinishReason | None = None
        self.error: Exception | None = None
        self.usage = Usage()
        self._lock = threading.Lock()
        self._tokens: list[SampledToken] = []
        self._wakers: list[Callable[[], bool]] = []
        self._loop: _Loop | None = None

    def push(self, tokens: list[SampledToken], usage: Usage) -> None:
        """Hand over tokens (engine thread). A reader whose loop has died counts as an abort."""
        with self._lock:
            self._tokens += tokens
            self.usage = usage
            wakers, self._wakers = self._wakers, []
        if wakers:
            alive = [wake() for wake in wakers].count(False) == 0
        else:
            alive = self._loop is None or self._loop.alive()
        if not alive:
            self.aborted = True

    def end(self, reason: FinishReason | None, error: Exception | None = None) -> None:
        """Nothing follows; ``error`` is what the reader gets after the tokens that came before it."""
        with self._lock:
            if self.ended:
                return
            self.ended, self.reason, self.error = True, reason, error
            wakers, self._wakers = self._wakers, []
        for wake in wakers:
            wake()

    def take(self, arm: Callable[[], Callable[[], bool]]) -> list[SampledToken] | None:
        """The tokens that have come, None at the end; if there are none yet, ``arm`` makes the waker to call.

        Looking and arming are one step under the lock, so that no wake-up can fall between them.
        """
        with self._lock:
            tokens, self._tokens = self._tokens, []
            if tokens:
                return tokens
            if self.ended:
                return None
            self._wakers.append(arm())
            return tokens

    def settle(self, arm: Callable[[], Callable[[], bool]]) -> bool:
        """Whether the stream has ended; if not, the waker that ``arm`` makes is called at the next news."""
        with self._lock:
            if not self.ended:
                self._wakers.append(arm())
            return self.ended

    def follow(self, loop: _Loop | None) -> None:
        """Take ``loop`` for the one the reader lives on, None for a plain thread."""
        self._loop = loop


class Generation:
    """One request's answer while it is written.

    ``async for tokens in generation`` gives lists of ``SampledToken``, each with all that came since the last
    one, on asyncio and trio, from any loop in any thread. Plain ``for`` does the same where no loop runs.
    Leaving a loop early, cancelling it, ``abort()``, dropping the object or the death of the reader's event
    loop ends the request within one step of the engine. As a context manager it also waits for that end:

        async with engine.submit(request) as generation:
            async for tokens in generation: ...

    Attributes:
        seed: the seed in use, also when the request left it open.
    """

    def __init__(self, stream: Stream, *, seed: int, owner: object) -> None:
        """``owner`` lives at least as long as this object does."""
        self.seed = seed
        self._stream = stream
        self._owner = owner

    @property
    def finish_reason(self) -> FinishReason | None:
        """``"stop"`` (a stop id, or a completed mask), ``"length"``, ``"abort"``; None before the end."""
        return self._stream.reason

    @property
    def usage(self) -> Usage:
        """Prompt, cached, image, output and forced tokens so far."""
        return self._stream.usage

    def abort(self) -> None:
        """End the request at the engine's next step; returns at once, from any thread; again is harmless."""
        self._stream.aborted = True

    async def wait(self) -> None:
        """Wait until the engine has ended the request and freed all that it held."""
        await _settled(self._stream)

    async def aclose(self) -> None:
        """Abort, and wait for the end even if the caller is cancelled: at most one step."""
        self.abort()
        with anyio.CancelScope(shield=True):
            await _settled(self._stream)

    def close(self) -> None:
        """``aclose`` for callers without an event loop."""
        self.abort()
        ready = threading.Event()
        while not self._stream.settle(lambda: _setter(ready)):
            ready.wait()
            ready.clear()

    def __aiter__(self) -> Reader:
        return Reader(self)

    async def __anext__(self) -> list[SampledToken]:
        return await _next(self._stream)

    def __iter__(self) -> Iterator[list[SampledToken]]:
        stream, ready = self._stream, threading.Event()
        stream.follow(None)
        try:
            while True:
                ready.clear()
                tokens = stream.take(lambda: _setter(ready))
                if tokens is None:
                    _raise_error(stream)
                    return
                if tokens:
                    yield tokens
                else:
                    ready.wait()
        finally:
            stream.aborted = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._stream.aborted = True


class Reader:
    """The iterator of one ``async for``; if the loop lets go of it before the end, the request is aborted."""

    __slots__ = ("_generation", "_stream")

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._stream = generation._stream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[SampledToken]:
        return await _next(self._stream)

    def __del__(self) -> None:
        self._stream.aborted = True


async def _next(stream: Stream) -> list[SampledToken]:
    """The next tokens of ``stream``. Raises its error, or ``StopAsyncIteration`` at its end."""
    loop = _Loop()
    stream.follow(loop)
    try:
        await checkpoint()
        while True:
            event = anyio.Event()
            tokens = stream.take(partial(_poster, loop, event))
            if tokens:
                return tokens
            if tokens is None:
                break
            await event.wait()
    except BaseException:
        stream.aborted = True
        raise
    _raise_error(stream)
    raise StopAsyncIteration


async def _settled(stream: Stream) -> None:
    """Wait for the end of ``stream``."""
    loop = _Loop()
    while True:
        event = anyio.Event()
        if stream.settle(partial(_poster, loop, event)):
            return
        await event.wait()


def _poster(loop: _Loop, event: anyio.Event) -> Callable[[], bool]:
    """A waker for a task of ``loop`` that waits for ``event``."""
    return partial(loop.post, event.set)


def _setter(ready: threading.Event) -> Callable[[], bool]:
    """A waker for a thread that waits for ``ready``."""

    def wake() -> bool:
        ready.set()
        return True

    return wake


def _raise_error(stream: Stream) -> None:
    """Raise what the stream ended with, if it ended badly."""
    if stream.error is not None:
        raise stream.error
