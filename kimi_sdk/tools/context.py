"""What a tool may know about the run that called it.

A tool asks for it by annotating its first parameter with ``RunContext``; the model never sees that parameter.
The loop makes one context for each call.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from typing_extensions import TypeVar

from kimi_sdk.messages import Message, ToolCall
from kimi_sdk.settings import Limits, Usage

DepsT = TypeVar("DepsT", default=None)


@dataclass(slots=True)
class RunContext(Generic[DepsT]):
    """One call's view of its run.

    Attributes:
        deps: the caller's own object, as given to ``Agent.run(deps=...)``.
        usage: what the run has spent so far.
        limits: what it may spend.
        messages: the conversation up to the call.
        call: the call itself.
        attempt: 1 for the first try of this tool, one more after each call that it refused.
        report: receives the texts of ``progress``; ``None`` drops them.
        refused: after the call, whether its arguments were refused or the tool asked for another try.
    """

    deps: DepsT
    usage: Usage
    limits: Limits
    messages: Sequence[Message]
    call: ToolCall
    attempt: int = 1
    report: Callable[[str], Awaitable[None]] | None = field(default=None, repr=False)
    refused: bool = field(default=False, init=False, repr=False)
    _cancelled: threading.Event = field(default_factory=threading.Event, init=False, repr=False)

    async def progress(self, text: str) -> None:
        """Say how far the call is; listeners of the run get a ``CallProgress`` event.

        A ``def`` tool, which runs in a worker thread, calls ``anyio.from_thread.run(ctx.progress, text)``.
        """
        if self.report is not None:
            await self.report(text)

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for this call any more.

        A thread cannot be stopped from outside: a long ``def`` tool polls this and returns early. What it
        returns after a cancel or a timeout is dropped.
        """
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Tell the tool that nobody waits for it any more."""
        self._cancelled.set()
