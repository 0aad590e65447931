"""An agent: a model with instructions, tools and a type of answer, that works until it is done.

Knows what a user configures and how a run may be driven (awaited, streamed, from sync code, as a tool).
Leaves the loop to ``run.py``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from types import NoneType
from typing import Any, Generic

import anyio
from anyio.from_thread import start_blocking_portal
from typing_extensions import TypeVar

from kimi_sdk.approval import Approver
from kimi_sdk.calls import current_run
from kimi_sdk.errors import ConfigError
from kimi_sdk.hooks import Hooks
from kimi_sdk.messages import Task, conversation
from kimi_sdk.model import Model
from kimi_sdk.output import Constraint, constraint_for
from kimi_sdk.result import RunResult
from kimi_sdk.run import Plan, Run
from kimi_sdk.session import Session
from kimi_sdk.settings import Limits, Sampling
from kimi_sdk.stream import Stream
from kimi_sdk.tools.context import RunContext
from kimi_sdk.tools.tool import AnyTool, Tool, tool, toolset

T = TypeVar("T", default=str)
DepsT = TypeVar("DepsT", default=None)

_DEFAULT_LIMITS = Limits()


class Agent(Generic[DepsT, T]):
    """Works on a task in turns: the model thinks and calls, tools answer, until there is an answer.

    An agent is a value: it holds no conversation, and any number of runs may go on at once.

    Args:
        model: a model, or what ``Model.from_pretrained`` takes.
        instructions: the system message of every run.
        tools: functions the model may call; plain functions are taken as they are.
        output_type: what an answer is: ``str``, a pydantic model, ``int``, ``list[...]``, a ``Literal``, a
            ``Constraint``. It is enforced while tokens are written and validated after.
        deps_type: type of the object that tools find as ``ctx.deps``.
        name: for people.
        sampling: how turns are sampled; ``None`` takes the model's own settings.
        limits: what a run may spend.
        output_retries: how often an answer that its validators refuse may be written again.
        hooks: places to look into runs.

    Raises:
        ToolDefinitionError: something cannot be a tool, or two tools share a name.
        SchemaError: ``output_type`` cannot be enforced.
        LoadError: there is no model of that name on this machine.
    """

    def __init__(
        self,
        model: Model | str,
        *,
        instructions: str = "",
        tools: Iterable[AnyTool] = (),
        output_type: type[T] | Constraint[T] = str,  # type: ignore[assignment]
        deps_type: type[DepsT] = NoneType,  # type: ignore[assignment]
        name: str | None = None,
        sampling: Sampling | None = None,
        limits: Limits = _DEFAULT_LIMITS,
        output_retries: int = 1,
        hooks: Sequence[Hooks[DepsT]] = (),
    ) -> None:
        if output_retries < 0:
            raise ConfigError(f"output_retries must not be negative: {output_retries!r}.")
        self.tools = toolset(tools)
        self.constraint = constraint_for(output_type)
        self.model = Model.from_pretrained(model) if isinstance(model, str) else model
        self.model.check(self.tools.values(), self.constraint)
        self.instructions = instructions
        self.deps_type = deps_type
        self.name = name
        self.sampling = sampling
        self.limits = limits
        self.output_retries = output_retries
        self.hooks = tuple(hooks)

    async def run(
        self,
        task: Task,
        *,
        deps: DepsT = None,  # type: ignore[assignment]
        session: Session | None = None,
        approve: Approver | None = None,
        limits: Limits | None = None,
        sampling: Sampling | None = None,
    ) -> RunResult[T]:
        """Works until there is an answer, or until a call waits for approval that nobody here can give.

        Args:
            task: text, an image, a mix of both, or a history of messages to go on from.
            deps: what tools find as ``ctx.deps``.
            session: a conversation to continue; it gets what this run adds, step by step.
            approve: asked about every call that needs approval; without it the run pauses there.
            limits: instead of the agent's own.
            sampling: instead of the agent's own.

        Raises:
            ConfigError: the caller's mistake, before any token is spent.
            ContextOverflow: the conversation is longer than the model's context.
            RunError: a limit was reached, a tool gave up, the output would not validate. It carries the
                messages and the usage up to there.
        """
        run = self._run(task, deps, session, approve, limits, sampling)
        await run.go()
        return run.result()

    def run_sync(
        self,
        task: Task,
        *,
        deps: DepsT = None,  # type: ignore[assignment]
        session: Session | None = None,
        approve: Approver | None = None,
        limits: Limits | None = None,
        sampling: Sampling | None = None,
    ) -> RunResult[T]:
        """As ``run``, for code without ``await``: also where a loop is running, as in a notebook.

        The run lives on an event loop of its own in another thread; Ctrl-C here cancels it.
        """
        work = partial(
            self.run, task, deps=deps, session=session, approve=approve, limits=limits, sampling=sampling
        )
        with start_blocking_portal() as portal:
            return portal.call(work)

    def stream(
        self,
        task: Task,
        *,
        deps: DepsT = None,  # type: ignore[assignment]
        session: Session | None = None,
        approve: Approver | None = None,
        limits: Limits | None = None,
        sampling: Sampling | None = None,
    ) -> AbstractAsyncContextManager[Stream[T]]:
        """As ``run``, seen while it goes on. Leaving the block early stops the model and the tools."""
        return _streaming(self._run(task, deps, session, approve, limits, sampling))

    def as_tool(self, *, name: str, description: str) -> Tool[[str], Awaitable[str]]:
        """This agent as a tool of another one: a task goes in, the answer comes out as text.

        What it spends counts as spent by the calling run, whose limits of tokens hold for both.
        """

        async def ask(ctx: RunContext[Any], task: str) -> str:
            run = self._run(task, ctx.deps, None, None, None, None, parent=current_run.get())
            await run.go()
            return str(run.result())

        made: Tool[..., Awaitable[str]] = tool(name=name, description=description)(ask)
        return made

    def _run(
        self,
        task: Task,
        deps: Any,
        session: Session | None,
        approve: Approver | None,
        limits: Limits | None,
        sampling: Sampling | None,
        parent: Run | None = None,
    ) -> Run:
        if deps is None and self.deps_type is not NoneType:
            raise ConfigError(
                f"This agent's tools need deps of type {self.deps_type.__name__}: pass deps=..."
            )
        plan = Plan(
            model=self.model,
            instructions=self.instructions,
            tools=self.tools,
            constraint=self.constraint,
            sampling=sampling or self.sampling or self.model.sampling,
            limits=limits or self.limits,
            output_retries=self.output_retries,
            hooks=self.hooks,
            deps=deps,
            approve=approve,
        )
        return Run(plan, conversation(task), session=session, parent=parent)

    def __repr__(self) -> str:
        tools = f", tools: {', '.join(self.tools)}" if self.tools else ""
        return f"<Agent {self.name or 'unnamed'} on {self.model.name}{tools}>"


@asynccontextmanager
async def _streaming(run: Run) -> AsyncIterator[Stream[Any]]:
    stream: Stream[Any] = Stream(run)
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(stream.pump)
        try:
            yield stream
        except Exception as error:
            failure = error  # leaves the group as it is, not wrapped into a group of errors
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    stream.check_untold()
