"""The calls of one turn: who may run, who runs beside whom, and a result for each of them.

Knows approval, hooks and order. Leaves running one function to ``tools.execute`` and what follows to ``Run``.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

from kimi_sdk.approval import Approve, Decision, Deny
from kimi_sdk.backend import Turn
from kimi_sdk.errors import Abort, ConfigError
from kimi_sdk.events import CallFinished, CallProgress
from kimi_sdk.messages import Text, ToolCall, ToolResult
from kimi_sdk.tools.execute import execute
from kimi_sdk.tools.tool import Tool

if TYPE_CHECKING:
    from kimi_sdk.run import Run

current_run: ContextVar[Run | None] = ContextVar("current_run", default=None)
"""The run whose tool is executing; a sub-agent charges what it spends to it."""


class OpenStep:
    """A turn with calls, until each of them has its result.

    Attributes:
        turn: what the model wrote.
        step: its number.
        seconds: how long the model wrote.
        results: by call id.
        executed: calls that were handed to their tools.
        refused: names of the tools that refused arguments.
        decisions: what persons have said, by call id.
    """

    def __init__(self, turn: Turn, step: int, seconds: float) -> None:
        self.turn = turn
        self.step = step
        self.seconds = seconds
        self.results: dict[str, ToolResult] = {}
        self.executed = 0
        self.refused: set[str] = set()
        self.decisions: dict[str, Decision] = {}

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.turn.message.calls

    @property
    def unanswered(self) -> tuple[ToolCall, ...]:
        return tuple(call for call in self.calls if call.id not in self.results)

    @property
    def signature(self) -> frozenset[tuple[str, str]]:
        """What is asked for, whatever the order."""
        return frozenset(_asked(call) for call in self.calls)

    def decide(self, decisions: Mapping[str, Decision]) -> None:
        """Takes what persons said. The first word on a call counts; calls that have run are left alone.

        Raises:
            ConfigError: an id that is no call of this step, or something that is no decision.
        """
        known = {call.id for call in self.calls}
        for call_id, decision in decisions.items():
            if call_id not in known:
                raise ConfigError(f"No call {call_id!r} is pending; pending: {', '.join(sorted(known))}.")
            if not isinstance(decision, (Approve, Deny)):
                raise ConfigError(f"A decision is Approve() or Deny(), not {decision!r}.")
        for call_id, decision in decisions.items():
            if call_id not in self.results:
                self.decisions.setdefault(call_id, decision)

    def closed(self, missing: str) -> tuple[ToolResult, ...]:
        """A result for every call, in call order; ``missing`` is the text of those that have none."""
        return tuple(self.results.get(call.id) or error_result(call, missing) for call in self.calls)


@dataclass(frozen=True, slots=True)
class Streak:
    """How many steps in a row have asked for the same and got the same."""

    signature: frozenset[tuple[str, str]] = frozenset()
    outcome: frozenset[object] = frozenset()
    length: int = 0

    def after(self, step: OpenStep, results: Sequence[ToolResult]) -> Streak:
        """The streak with one more step."""
        outcome = frozenset(
            (_asked(call), result.content, result.is_error)
            for call, result in zip(step.calls, results, strict=True)
        )
        same = outcome == self.outcome
        return Streak(step.signature, outcome, self.length + 1 if same else 1)


def _asked(call: ToolCall) -> tuple[str, str]:
    return call.name, json.dumps(dict(call.args), sort_keys=True, ensure_ascii=False, default=repr)


def error_result(call: ToolCall, text: str) -> ToolResult:
    """A result that tells the model what went wrong."""
    return ToolResult(call.id, call.name, (Text(text),), is_error=True)


class Calls:
    """Gives the calls of one step their results, on behalf of a run."""

    def __init__(self, run: Run, step: OpenStep) -> None:
        self._run = run
        self._step = step
        self._failure: Exception | None = None
        self._scope = anyio.CancelScope()
        self._asking = anyio.Lock()

    async def answer(self) -> None:
        """Executes what may be executed; afterwards ``OpenStep.unanswered`` waits for decisions.

        Raises:
            Abort: a tool ended the run.
            Exception: whatever hooks or approvers raise.
        """
        for batch in self._batches():
            async with anyio.create_task_group() as group:
                self._scope = group.cancel_scope
                for call in batch:
                    group.start_soon(self._one, call)
            if self._failure is not None:
                raise self._failure

    def _batches(self) -> Iterator[Sequence[ToolCall]]:
        """Calls that may run at the same time; a sequential tool runs alone."""
        batch: list[ToolCall] = []
        for call in self._step.unanswered:
            tool = self._run.plan.tools.get(call.name)
            if tool is not None and tool.options.sequential:
                if batch:
                    yield batch
                    batch = []
                yield [call]
            else:
                batch.append(call)
        if batch:
            yield batch

    async def _one(self, call: ToolCall) -> None:
        began = anyio.current_time()
        try:
            result = await self._result(call)
            if result is None:
                return
            self._step.results[call.id] = result
            await self._run.emit(CallFinished(self._step.step, result, anyio.current_time() - began))
        except Exception as error:
            # Nothing leaves the group as a group of errors: the first failure ends the step, and the run.
            if isinstance(error, Abort):
                text = f"The tool ended the run: {error}" if str(error) else "The tool ended the run."
                self._step.results[call.id] = error_result(call, text)
            if self._failure is None:
                self._failure = error
            self._scope.cancel()

    async def _result(self, call: ToolCall) -> ToolResult | None:
        """What the model reads about a call; ``None`` while nobody has decided about it."""
        plan = self._run.plan
        tool = plan.tools.get(call.name)
        if tool is None:
            known = ", ".join(plan.tools) or "there are none"
            return error_result(call, f"There is no tool {call.name!r}. Tools: {known}.")
        changed = False
        if tool.needs_approval(call):
            decision = await self._decision(call)
            if decision is None:
                return None
            if isinstance(decision, Deny):
                return error_result(call, decision.reason)
            if decision.args is not None:
                call, changed = replace(call, args=dict(decision.args)), True
        result = await self._hooked(tool, call)
        return _with_note(result, call.args) if changed else result

    async def _decision(self, call: ToolCall) -> Decision | None:
        known = self._step.decisions.get(call.id)
        approve = self._run.plan.approve
        if known is not None or approve is None:
            return known
        async with self._asking:  # a person answers one question at a time
            asked = approve(call)
            decision = await asked if isinstance(asked, Awaitable) else asked
        self._step.decide({call.id: decision})
        return decision

    async def _hooked(self, tool: Tool[..., Any], call: ToolCall) -> ToolResult:
        run = self._run

        async def report(text: str) -> None:
            await run.emit(CallProgress(self._step.step, call.id, text))

        context = run.context(call=call, message=self._step.turn.message, report=report)
        for hook in run.plan.hooks:
            before = await hook.before_call(context, call)
            if isinstance(before, ToolResult):
                return replace(before, call_id=call.id, name=call.name)
            context.call = call = before
        current_run.set(run)
        self._step.executed += 1
        result = await execute(tool, call, context)
        if context.refused:
            self._step.refused.add(call.name)
        for hook in run.plan.hooks:
            result = await hook.after_call(context, result)
        return replace(result, call_id=call.id, name=call.name)


def _with_note(result: ToolResult, args: Mapping[str, Any]) -> ToolResult:
    note = Text(f"(The user changed the arguments to {dict(args)!r}.)\n")
    return replace(result, content=(note, *result.content))
