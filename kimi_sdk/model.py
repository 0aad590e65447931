"""A model that answers once: messages in, one typed reply out.

Knows how a task becomes a request and a turn becomes a reply. Leaves writing the turn to a ``Backend`` and
going on after it (tools, limits, retries) to ``Agent``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeVar, overload

import anyio
from anyio import to_thread

from kimi_sdk.backend import Backend, Declaration, PromptRequest, ToolChoice, TurnRequest, TurnStream
from kimi_sdk.errors import ConfigError, KimiError
from kimi_sdk.messages import Task, conversation
from kimi_sdk.output import Constraint, constraint_for
from kimi_sdk.reply import Reply, reply_of
from kimi_sdk.settings import Sampling
from kimi_sdk.tools.tool import AnyTool, toolset

if TYPE_CHECKING:
    from kimi_sdk.source import PathLike

T = TypeVar("T")


class Model:
    """A model in this process. Built cheaply; weights load on entry, or on first use.

    Use it as ``async with Model.from_pretrained("k3-mini") as model``; without the block it is closed by
    ``close``, or with the process. Any number of tasks, on any number of event loops, may share one model.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @classmethod
    def from_pretrained(
        cls,
        source: PathLike,
        *,
        revision: str | None = None,
        device: str = "auto",
        dtype: str = "auto",
        context: int | None = None,
        cache_bytes: int | None = None,
        max_running: int = 8,
    ) -> Self:
        """A model from files on this machine.

        Args:
            source: a folder; ``"k3-mini"``, which comes with the package; or a hub name whose files are in
                the local hub cache.
            revision: which of the cached revisions of a hub name.
            device: ``"cpu"``, ``"cuda"``, ``"cuda:1"``; ``"auto"`` is the CPU.
            dtype: ``"float32"`` or ``"bfloat16"``; ``"auto"`` suits the device.
            context: most tokens a conversation may have; ``None`` takes the model's own limit.
            cache_bytes: memory for cached conversations; ``None`` leaves it to the engine.
            max_running: turns that are written at the same time; others wait their turn.

        Raises:
            LoadError: the files are not there, or are not a model that this engine runs.
        """
        from kimi_sdk.local import LocalBackend

        backend = LocalBackend.from_pretrained(
            source,
            revision=revision,
            device=device,
            dtype=dtype,
            context=context,
            cache_bytes=cache_bytes,
            max_running=max_running,
        )
        return cls._around(backend)

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | Literal["tiny"] = "tiny", *, seed: int = 0) -> Self:
        """A model with random weights and a byte-level tokenizer: right in form, senseless in content.

        Args:
            config: a K3 ``config.json`` as a mapping, or ``"tiny"``.
            seed: of the weights.
        """
        from kimi_sdk.local import LocalBackend

        return cls._around(LocalBackend.from_config(config, seed=seed))

    def save_pretrained(self, folder: PathLike, *, max_shard_bytes: int = 4 * 2**30) -> None:
        """Writes the model as a folder that ``from_pretrained`` reads: the same tensors, byte for byte.

        Tensors have the released names, routed experts of a quantized model are MXFP4; tokenizer, generation
        settings and other side files come along. Weights are loaded first if they are not.

        Args:
            folder: created if missing; a model that it holds is replaced.
            max_shard_bytes: a new file of weights begins before one would grow beyond this.

        Raises:
            ConfigError: the folder cannot be written, or this model has no weights in this process.
            LoadError: as ``from_pretrained``.
        """
        from kimi_sdk.local import LocalBackend

        if type(max_shard_bytes) is not int or max_shard_bytes < 1:
            raise ConfigError(f"max_shard_bytes must be a positive whole number, not {max_shard_bytes!r}.")
        if not isinstance(self._backend, LocalBackend):
            raise ConfigError(f"{self.name} has no weights in this process, so there is nothing to save.")
        try:
            self._backend.save(Path(folder).expanduser(), max_shard_bytes=max_shard_bytes)
        except OSError as error:
            raise ConfigError(f"The model cannot be saved to {os.fspath(folder)}: {error}") from error

    @classmethod
    def _around(cls, backend: Backend) -> Self:
        model = cls.__new__(cls)
        Model.__init__(model, backend)
        return model

    @property
    def name(self) -> str:
        return self._backend.name

    @property
    def sampling(self) -> Sampling:
        """What is used where a call names no sampling: the checkpoint's own generation settings."""
        return self._backend.sampling

    @property
    def active_requests(self) -> int:
        """How many turns are being written now."""
        return self._backend.active

    async def start(self) -> None:
        """Loads the weights now, so that the first turn need not wait. May be called again."""
        await self._backend.start()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends every turn, stops the engine and frees the weights. May be called again."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._backend.close)

    def close(self) -> None:
        """As ``aclose``, for code without an event loop."""
        self._backend.close()

    def turn(self, request: TurnRequest | PromptRequest) -> TurnStream:
        """Begins one turn, to be entered and iterated: what ``chat`` folds and ``Agent`` streams."""
        return self._backend.turn(request)

    @overload
    async def generate(
        self, prompt: str | Sequence[int], *, output_type: None = None, sampling: Sampling | None = None
    ) -> Reply[str]: ...
    @overload
    async def generate(
        self,
        prompt: str | Sequence[int],
        *,
        output_type: type[T] | Constraint[T],
        sampling: Sampling | None = None,
    ) -> Reply[T]: ...
    async def generate(
        self, prompt: str | Sequence[int], *, output_type: Any = None, sampling: Sampling | None = None
    ) -> Reply[Any]:
        """Continues a raw prompt: text in which the model's markers count, or token ids.

        Raises:
            ContextOverflow: the prompt is longer than the context.
            OutputError: the typed output was cut short or refused by its validators.
        """
        if not isinstance(prompt, (str, Sequence)):
            raise ConfigError(f"A prompt is text or token ids, not {type(prompt).__name__}.")
        constraint = constraint_for(output_type)
        request = PromptRequest(
            prompt=prompt if isinstance(prompt, str) else tuple(prompt),
            output=constraint,
            sampling=sampling or self.sampling,
        )
        async with self.turn(request) as stream:
            async for _ in stream:
                pass
        return reply_of(stream.turn, constraint, ())

    @overload
    async def chat(
        self,
        messages: Task,
        *,
        tools: Iterable[AnyTool] = (),
        tool_choice: ToolChoice = "auto",
        output_type: None = None,
        sampling: Sampling | None = None,
    ) -> Reply[str]: ...
    @overload
    async def chat(
        self,
        messages: Task,
        *,
        tools: Iterable[AnyTool] = (),
        tool_choice: ToolChoice = "auto",
        output_type: type[T] | Constraint[T],
        sampling: Sampling | None = None,
    ) -> Reply[T]: ...
    async def chat(
        self,
        messages: Task,
        *,
        tools: Iterable[AnyTool] = (),
        tool_choice: ToolChoice = "auto",
        output_type: Any = None,
        sampling: Sampling | None = None,
    ) -> Reply[Any]:
        """Answers a conversation with one turn. Calls are returned, not executed.

        Args:
            messages: text, an image, a mix of both, or a history of messages.
            tools: functions that the model may ask for.
            tool_choice: ``auto``, ``none``, ``required``, or the name of the tool to call.
            output_type: what the answer must be; it is enforced while the tokens are written.
            sampling: replaces the model's own.

        Raises:
            ConfigError: a tool or a schema that cannot be used, before any token is spent.
            ContextOverflow: the conversation is longer than the context.
            OutputError: the typed output was cut short or refused by its validators.
        """
        constraint = constraint_for(output_type)
        request = TurnRequest(
            messages=conversation(messages),
            tools=declarations(tools),
            tool_choice=tool_choice,
            output=constraint,
            sampling=sampling or self.sampling,
        )
        async with self.turn(request) as stream:
            async for _ in stream:
                pass
        return reply_of(stream.turn, constraint, request.messages)

    @overload
    async def batch(
        self,
        tasks: Sequence[Task],
        *,
        output_type: None = None,
        sampling: Sampling | None = None,
        concurrency: int = 16,
    ) -> list[Reply[str] | KimiError]: ...
    @overload
    async def batch(
        self,
        tasks: Sequence[Task],
        *,
        output_type: type[T] | Constraint[T],
        sampling: Sampling | None = None,
        concurrency: int = 16,
    ) -> list[Reply[T] | KimiError]: ...
    async def batch(
        self,
        tasks: Sequence[Task],
        *,
        output_type: Any = None,
        sampling: Sampling | None = None,
        concurrency: int = 16,
    ) -> list[Reply[Any] | KimiError]:
        """Answers many tasks, at most ``concurrency`` at a time; a failed one gives its error in its place.

        With ``Sampling.seed`` set, task ``i`` gets the seed plus ``i``.
        """
        if concurrency < 1:
            raise ConfigError(f"concurrency must be at least 1, not {concurrency!r}.")
        constraint = constraint_for(output_type)
        chosen = sampling or self.sampling
        answers: dict[int, Reply[Any] | KimiError] = {}
        limiter = anyio.CapacityLimiter(concurrency)

        histories = [conversation(task) for task in tasks]

        async def answer(index: int, task: Task) -> None:
            own = chosen if chosen.seed is None else replace(chosen, seed=chosen.seed + index)
            async with limiter:
                try:
                    answers[index] = await self.chat(task, output_type=constraint, sampling=own)
                except KimiError as error:
                    answers[index] = error

        async with anyio.create_task_group() as group:
            for index, task in enumerate(histories):
                group.start_soon(answer, index, task)
        return [answers[index] for index in range(len(tasks))]

    def count(self, messages: Task, *, tools: Iterable[AnyTool] = ()) -> int:
        """Tokens that a conversation has as a prompt, tools and images included."""
        return self.prompt_tokens(
            TurnRequest(messages=conversation(messages), tools=declarations(tools), sampling=self.sampling)
        )

    def check(self, tools: Iterable[AnyTool], output: Constraint[Any] | None) -> None:
        """Refuses what this model could never be held to.

        Raises:
            ToolDefinitionError: something cannot be a tool, or two tools have one name.
            SchemaError: a schema that cannot be enforced.
        """
        self._backend.check(declarations(tools), output)

    def prompt_tokens(self, request: TurnRequest) -> int:
        """Tokens that the prompt of a request has."""
        return self._backend.count(request)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __reduce__(self) -> NoReturn:
        raise ConfigError("A Model does not pickle: it owns an engine. Pickle its source and load it again.")


def declarations(tools: Iterable[AnyTool]) -> tuple[Declaration, ...]:
    """What a model reads about tools, in their order.

    Raises:
        ToolDefinitionError: something cannot be a tool, or two tools have one name.
    """
    return tuple(tool.declaration for tool in toolset(tools).values())
