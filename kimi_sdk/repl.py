"""A conversation on a terminal: one agent, one session, a line a turn.

Ctrl-C stops the turn that is being written and keeps the conversation; Ctrl-D or /quit leaves.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import wait
from functools import partial
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from kimi_sdk.agent import Agent
from kimi_sdk.approval import Approve, Decision, Deny
from kimi_sdk.errors import KimiError
from kimi_sdk.messages import ToolCall
from kimi_sdk.result import RunResult
from kimi_sdk.session import Session
from kimi_sdk.terminal import Printer, spell_call, spell_usage

HELP = """/help   this text
/reset  begin a new conversation
/quit   leave (so does Ctrl-D); Ctrl-C stops the turn that is being written"""


class Repl:
    """Reads lines from stdin and prints what the agent does with them."""

    def __init__(self, agent: Agent[None, Any]) -> None:
        self._agent = agent
        self._session = Session.new()
        self._printer = Printer()

    def run(self) -> int:
        """Talks until the input ends. Returns the exit code.

        Raises:
            LoadError: the model cannot be loaded.
        """
        if sys.stdin.isatty():
            import readline  # noqa: F401 - line editing and history for input()

        with start_blocking_portal() as portal:
            portal.call(self._agent.model.start)
            if sys.stdin.isatty():
                self._printer.line(f"{self._agent.model.name} · /help for help")
            while True:
                try:
                    line = input("> " if sys.stdin.isatty() else "").strip()
                except EOFError:
                    return 0
                except KeyboardInterrupt:
                    self._printer.line("\n(/quit or Ctrl-D leaves)")
                    continue
                if line == "/quit":
                    return 0
                self._answer(portal, line)

    def _answer(self, portal: BlockingPortal, line: str) -> None:
        if line == "/help":
            self._printer.line(HELP)
        elif line == "/reset":
            self._session = Session.new()
            self._printer.line("A new conversation.")
        elif line.startswith("/"):
            self._printer.line(f"There is no command {line.split()[0]}. /help lists them.")
        elif line:
            self._turn(portal, line)

    def _turn(self, portal: BlockingPortal, line: str) -> None:
        """One task, on the portal's event loop; Ctrl-C here cancels it there."""

        async def work() -> RunResult[Any]:
            async with self._agent.stream(line, session=self._session) as stream:
                async for event in stream:
                    self._printer.event(event)
                return await stream.result()

        try:
            result = _interruptible(portal, work)
            self._printer.finish()
            while result.pending:
                decisions = {call.id: self._ask(call) for call in result.pending}
                result = _interruptible(portal, partial(result.resume, decisions))
                if not result.pending:
                    self._printer.line(str(result))
            cost = spell_usage(result.usage, result.trace.seconds)
            self._printer.line(self._printer.styled(cost, "dim"))
        except KeyboardInterrupt:
            self._printer.line(self._printer.styled("(stopped)", "dim"))
        except KimiError as error:
            self._printer.line(self._printer.styled(f"{type(error).__name__}: {error}", "error"))

    def _ask(self, call: ToolCall) -> Decision:
        """Asks the person whether a call may run."""
        self._printer.line(f"May this run? {spell_call(call)}")
        try:
            return Approve() if input("[y/N] ").strip().lower() in ("y", "yes") else Deny()
        except EOFError:
            return Deny()


def _interruptible(portal: BlockingPortal, work: Callable[[], Awaitable[RunResult[Any]]]) -> RunResult[Any]:
    """Runs work on the portal's event loop; Ctrl-C here cancels it there, and returns when it has ended."""
    scope = portal.call(anyio.CancelScope)
    results: list[RunResult[Any]] = []

    async def watched() -> None:
        with scope:
            results.append(await work())

    future = portal.start_task_soon(watched)
    try:
        future.result()
    except KeyboardInterrupt:
        portal.call(scope.cancel)
        wait([future])
        raise
    return results[0]
