"""One run of an agent: turn, calls, results, turn, until there is an answer.

Knows the order of things. Leaves writing turns to the model, calls to ``calls.py``, sums to ``budget.py``.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from kimi_sdk.approval import Approver, Decision
from kimi_sdk.backend import Turn, TurnRequest
from kimi_sdk.budget import Budget
from kimi_sdk.calls import Calls, OpenStep, Streak
from kimi_sdk.errors import Abort, LimitExceeded, ModelStalled, OutputError, RunError, ToolFailed
from kimi_sdk.events import Event, StepFinished, StepStarted, TextDelta
from kimi_sdk.hooks import Hooks
from kimi_sdk.messages import Message, ToolCall
from kimi_sdk.model import Model
from kimi_sdk.output import Constraint
from kimi_sdk.partial import Partial
from kimi_sdk.reply import read_output
from kimi_sdk.result import RunResult
from kimi_sdk.session import Session
from kimi_sdk.settings import Limits, Sampling, Usage
from kimi_sdk.tools.context import RunContext
from kimi_sdk.tools.tool import Tool
from kimi_sdk.trace import Trace, TraceStep

E = TypeVar("E", bound=RunError)

INTERRUPTED = "This call was interrupted before it finished; whether it had an effect is not known."
NO_CALL = ToolCall("", "", {}, 0)
"""Stands in a context for the call where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run is given and never changes."""

    model: Model
    instructions: str
    tools: Mapping[str, Tool[..., Any]]
    constraint: Constraint[Any] | None
    sampling: Sampling
    limits: Limits
    output_retries: int
    hooks: Sequence[Hooks[Any]]
    deps: Any
    approve: Approver | None


class Run:
    """The state of one run and the loop that moves it forward.

    A run ends in ``outputs``, pauses in ``open`` (a step whose calls wait for decisions), or raises. However
    it ends, each call in ``messages`` has its result.
    """

    def __init__(
        self,
        plan: Plan,
        task: Sequence[Message],
        *,
        session: Session | None = None,
        parent: Run | None = None,
    ) -> None:
        earlier = () if session is None else tuple(session.messages)
        self.plan = plan
        self.session = session
        callers = None if parent is None else parent.budget
        self.budget: Budget = Budget(plan.limits, parent=callers, session=session)
        self.messages: list[Message] = [*earlier, *task]
        self.begin = self.saved = len(earlier)
        self.refused: dict[str, int] = {}
        self.refused_outputs = 0
        self.streak = Streak()
        self.open: OpenStep | None = None
        self.outputs: tuple[Any, ...] = ()
        self.listener: Callable[[Event], None] | None = None
        self.trace = Trace(
            model=plan.model.name,
            messages=tuple(self._prompt()),
            tools=tuple(tool.declaration for tool in plan.tools.values()),
            sampling=plan.sampling,
        )

    async def go(self) -> None:
        """Runs until there is an answer or a pause.

        Raises:
            RunError: a limit, a tool that gave up, an output that nobody could make valid.
            KimiError: what the model raises.
        """
        began = anyio.current_time()
        with self.session.lent() if self.session else nullcontext():
            try:
                with anyio.move_on_after(self.budget.seconds_left) as scope:
                    await self._loop()
            finally:
                self.budget.seconds += anyio.current_time() - began
            if scope.cancelled_caught:
                raise self._exceeded("seconds")

    def result(self) -> RunResult[Any]:
        """What the run has come to; after ``go``."""
        messages = list(self.messages)
        if self.open is not None:
            messages.append(self.open.turn.message)
            if self.open.results:
                messages.append(Message.tool(*self.open.results.values()))
        return RunResult(
            messages=messages,
            new_messages=messages[self.begin :],
            usage=self.budget.usage,
            trace=self.trace,
            pending=() if self.open is None else self.open.unanswered,
            outputs=self.outputs,
            continuation=None if self.open is None else self._resume,
        )

    async def _resume(self, decisions: Mapping[str, Decision]) -> RunResult[Any]:
        assert self.open is not None
        self.open.decide(decisions)
        if self.session is not None:
            self.session.rewind(self.saved, self.open.turn.message)
        following = self._copy()
        await following.go()
        return following.result()

    def _copy(self) -> Run:
        """A run that goes on from this pause. What its calls give is shared, so that none runs twice."""
        twin = copy.copy(self)
        twin.budget = self.budget.copy()
        twin.messages = list(self.messages)
        twin.refused = dict(self.refused)
        twin.trace = replace(self.trace, steps=list(self.trace.steps))
        twin.listener = None
        return twin

    # ---- the loop

    async def _loop(self) -> None:
        if self.open is not None:
            await self._answer_calls(self.open)
        while not self.outputs and self.open is None:
            await self._step()

    async def _step(self) -> None:
        """One turn of the model and all that follows from it."""
        if (limit := self.budget.step_limit()) is not None:
            raise self._exceeded(limit)
        request, capped_by = await self._request()
        self.budget.steps += 1
        await self.emit(StepStarted(request.step))
        began = anyio.current_time()
        turn = await self._write(request)
        step = OpenStep(turn, request.step, anyio.current_time() - began)
        if capped_by is not None and turn.finish_reason == "length":
            await self._close(step, f"Not executed: the run has used up its {capped_by}.")
            raise self._exceeded(capped_by)
        if not turn.message.calls:
            await self._finish(step)
            return
        refusal = self._refusal(step)
        if refusal is not None:
            kind, message = refusal
            await self._close(step, f"Not executed: {message}")
            raise self._error(kind, message)
        await self._answer_calls(step)

    async def _request(self) -> tuple[TurnRequest, str | None]:
        """The next turn's request, within the budget, and the limit that shortened it."""
        messages = self._prompt()
        for hook in self.plan.hooks:
            messages = await hook.before_step(self.context(), messages)
        request = TurnRequest(
            messages=tuple(messages),
            tools=tuple(self.trace.tools),
            output=self.plan.constraint,
            sampling=self.plan.sampling,
            step=self.budget.steps + 1,
        )
        prompt_tokens = 0
        if self.budget.needs_prompt_size:
            prompt_tokens = await to_thread.run_sync(self.plan.model.prompt_tokens, request)
        sampling, capped_by = self.budget.cap(request.sampling, prompt_tokens)
        if capped_by is not None and self.budget.exhausted(prompt_tokens):
            raise self._exceeded(capped_by)
        return replace(request, sampling=sampling), capped_by

    async def _write(self, request: TurnRequest) -> Turn:
        """One turn by the model; its events go to whoever listens."""
        typed = None if request.output is None else Partial(request.output)
        stream = self.plan.model.turn(request)
        try:
            async with stream:
                async for event in stream:
                    if typed is None or not isinstance(event, TextDelta):
                        await self.emit(event)
                    elif (delta := typed.push(event)) is not None:
                        await self.emit(delta)
        finally:
            self.budget.charge(stream.usage)
        return stream.turn

    async def _answer_calls(self, step: OpenStep) -> None:
        """Has calls executed and results appended, unless some of them wait for a decision."""
        self.open = None
        try:
            await Calls(self, step).answer()
            self.open = step if step.unanswered else None
        except Abort as error:
            self._append(step, INTERRUPTED)
            raise self._error(ToolFailed, f"A tool ended the run: {error}") from error
        finally:
            if self.open is None:
                self._append(step, INTERRUPTED)
        if self.open is None:
            await self.emit(_finished(step))
            self._check_retries(step)

    async def _finish(self, step: OpenStep) -> None:
        """A turn without calls: the answer, or one that has to be written again."""
        turn = step.turn
        await self._close(step, "")
        if turn.finish_reason == "length" and (self.plan.constraint is not None or not turn.message.text):
            raise self._error(
                OutputError,
                "The turn was cut before the answer was complete. Raise Sampling.max_tokens, or set "
                "Sampling.thinking_tokens so that room is left for the answer.",
            )
        try:
            self.outputs = (read_output(turn, self.plan.constraint),)
        except ValueError as error:
            self.refused_outputs += 1
            if self.refused_outputs > self.plan.output_retries:
                raise self._error(OutputError, f"The output does not validate: {error}") from error
            self.messages.append(
                Message.user(f"That answer is not valid:\n{error}\nWrite it again, corrected.")
            )

    # ---- what stops a run

    def _refusal(self, step: OpenStep) -> tuple[Callable[..., RunError], str] | None:
        """Why the calls of a step must not be executed: the kind of error, and what it says."""
        limit = self.budget.call_limit(len(step.calls))
        if limit is not None:
            return self._limit(limit)
        allowed = self.plan.limits.repeats
        if allowed is not None and self.streak.length >= allowed and self.streak.signature == step.signature:
            names = ", ".join(sorted({call.name for call in step.calls}))
            return (
                ModelStalled,
                f"The model asked for {names} with the same arguments again after the same result came back "
                f"{self.streak.length} times in a row.",
            )
        return None

    def _check_retries(self, step: OpenStep) -> None:
        """Ends the run when a tool has refused more calls than its retries allow."""
        for call in step.calls:
            tool = self.plan.tools.get(call.name)
            if (
                tool is not None
                and call.name in step.refused
                and self.refused[call.name] > tool.options.retries
            ):
                raise self._error(
                    ToolFailed,
                    f"{call.name} refused its arguments in {self.refused[call.name]} steps of this run, "
                    f"and it has {tool.options.retries} retries: {step.results[call.id].text}",
                )

    def _exceeded(self, limit: str) -> RunError:
        return self._error(*self._limit(limit))

    def _limit(self, limit: str) -> tuple[Callable[..., RunError], str]:
        value = getattr(self.plan.limits, limit)
        if value is None:  # the parent's, on which a sub-agent draws
            return partial(LimitExceeded, limit=limit, value=0), f"The calling run's {limit} are used up."
        kind = partial(LimitExceeded, limit=limit, value=value)
        return kind, f"The run stopped at its limit of {limit}={value}."

    def _error(self, kind: Callable[..., E], message: str) -> E:
        return kind(message, messages=tuple(self.messages), usage=self.budget.usage, trace=self.trace)

    # ---- history and events

    def _prompt(self) -> list[Message]:
        head = [Message.system(self.plan.instructions)] if self.plan.instructions else []
        return [*head, *self.messages]

    async def _close(self, step: OpenStep, missing: str) -> None:
        self._append(step, missing)
        await self.emit(_finished(step))

    def _append(self, step: OpenStep, missing: str) -> None:
        """Adds a step to the history, once, with a result for each call. Never waits: also on cancel."""
        if self.trace.steps and self.trace.steps[-1].step == step.step:
            return
        results = step.closed(missing)
        self.messages.append(step.turn.message)
        if results:
            self.messages.append(Message.tool(*results))
            self.budget.charge(Usage(tool_calls=step.executed))
            self.streak = self.streak.after(step, results)
            for name in step.refused:
                self.refused[name] = self.refused.get(name, 0) + 1
        self.trace.steps.append(
            TraceStep(step=step.step, turn=step.turn, results=results, seconds=step.seconds)
        )
        if self.session is not None:
            self.session.extend(self.messages[self.saved :])
            self.saved = len(self.messages)

    def context(
        self,
        call: ToolCall = NO_CALL,
        message: Message | None = None,
        report: Callable[[str], Awaitable[None]] | None = None,
    ) -> RunContext[Any]:
        """What tools and hooks may know."""
        return RunContext(
            deps=self.plan.deps,
            usage=self.budget.usage,
            limits=self.plan.limits,
            messages=tuple(self.messages) if message is None else (*self.messages, message),
            call=call,
            attempt=self.refused.get(call.name, 0) + 1,
            report=report,
        )

    async def emit(self, event: Event) -> None:
        """Tells hooks and then whoever streams the run."""
        for hook in self.plan.hooks:
            await hook.on_event(self.context(), event)
        if self.listener is not None:
            self.listener(event)


def _finished(step: OpenStep) -> StepFinished:
    return StepFinished(step.step, step.turn.usage, step.turn.finish_reason)
