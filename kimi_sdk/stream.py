"""A run as it goes on: its events for whoever iterates, its result for whoever waits.

Events are kept until the stream is left, so that a slow reader holds nothing up and several may read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Generic, Self

import anyio
from typing_extensions import TypeVar

from kimi_sdk.errors import ConfigError
from kimi_sdk.events import Event, ReasoningDelta, TextDelta
from kimi_sdk.result import RunResult
from kimi_sdk.run import Run

T_co = TypeVar("T_co", covariant=True, default=str)


class Stream(Generic[T_co]):
    """Iterate it for events, or ask for ``text()``, ``reasoning()`` or ``result()``; all may be combined.

    An error of the run is raised where it is noticed first: at the end of an iteration, or by ``result()``.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._events: list[Event] = []
        self._news = anyio.Event()
        self._ended = anyio.Event()
        self._failure: Exception | None = None
        self._told = False
        self._stopped = True  # until the run has come to its end, or its pause
        self._own = _Reader(self)
        run.listener = self._push

    async def pump(self) -> None:
        """Runs the run; for the task that owns the stream."""
        try:
            await self._run.go()
            self._stopped = False
        except Exception as error:
            self._failure = error
        finally:
            self._ended.set()
            self._news.set()

    def _push(self, event: Event) -> None:
        self._events.append(event)
        self._news.set()

    async def event(self, position: int) -> Event | None:
        """The event at a position, ``None`` after the last one. Raises what the run failed with."""
        while position >= len(self._events):
            if self._ended.is_set():
                self.check()
                return None
            if self._news.is_set():
                self._news = anyio.Event()
            await self._news.wait()
        await anyio.lowlevel.checkpoint()
        return self._events[position]

    def check(self) -> None:
        """Raises what the run failed with."""
        if self._failure is not None:
            self._told = True
            raise self._failure

    def check_untold(self) -> None:
        """Raises what the run failed with, unless somebody has got it already."""
        if not self._told:
            self.check()

    def __aiter__(self) -> AsyncIterator[Event]:
        """Goes on where the last iteration stopped."""
        return self._own

    def text(self) -> AsyncIterator[str]:
        """The pieces of the answer, from the beginning."""
        return _Texts(self, TextDelta)

    def reasoning(self) -> AsyncIterator[str]:
        """The pieces of the thoughts, from the beginning."""
        return _Texts(self, ReasoningDelta)

    async def result(self) -> RunResult[T_co]:
        """Waits for the end of the run, or for its pause."""
        await self._ended.wait()
        self.check()
        if self._stopped:
            raise ConfigError("The stream's block was left before the run had ended: there is no result.")
        return self._run.result()


class _Reader:
    """One reader's place in a stream. A plain object: leaving it half read needs no cleaning up."""

    def __init__(self, stream: Stream[object]) -> None:
        self._stream = stream
        self._position = 0

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        event = await self._stream.event(self._position)
        if event is None:
            raise StopAsyncIteration
        self._position += 1
        return event


class _Texts:
    """The texts of one kind of event."""

    def __init__(self, stream: Stream[object], kind: Callable[..., TextDelta | ReasoningDelta]) -> None:
        self._reader = _Reader(stream)
        self._kind = kind

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while True:
            event = await self._reader.__anext__()
            if isinstance(event, (TextDelta, ReasoningDelta)) and type(event) is self._kind:
                return event.text
