"""One turn of the model in this process: rendered, masked, written by the engine, parsed, as events.

Knows the order of these steps and the end of the context. Leaves the steps to protocol, vision and engine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from anyio import to_thread

from kimi_sdk import background
from kimi_sdk.backend import PromptRequest, TokenLogprob, Turn, TurnEvent, TurnRequest, TurnStream
from kimi_sdk.errors import ConfigError, ContextOverflow
from kimi_sdk.events import FinishReason
from kimi_sdk.output import Constraint
from kimi_sdk.settings import Usage
from kimi_sdk.turn_reader import RawReader, TurnReader

if TYPE_CHECKING:
    from kimi_sdk.engine.generation import Generation
    from kimi_sdk.engine.sampler import SampledToken, TokenMask
    from kimi_sdk.engine.sequence import ImageSpan, Request
    from kimi_sdk.local import LocalBackend
    from kimi_sdk.protocol.segments import EncodedPrompt
    from kimi_sdk.protocol.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A turn that is ready for the engine."""

    request: Request
    reader: TurnReader | RawReader
    image_tokens: int


class LocalTurn(TurnStream):
    """A turn of ``LocalBackend``."""

    def __init__(self, backend: LocalBackend, request: TurnRequest | PromptRequest) -> None:
        self._backend = backend
        self._wanted = request
        self._prepared: _Prepared | None = None
        self._generation: Generation | None = None
        self._events: deque[TurnEvent] = deque()
        self._token_ids: list[int] = []
        self._logprobs: list[TokenLogprob] = []
        self._ended = False

    async def __aenter__(self) -> Self:
        self._backend.check_open()
        self._backend.busier(1)
        try:
            self._prepared = await to_thread.run_sync(self._held, abandon_on_cancel=True)
            await self._backend.start()
            self._generation = self._backend.engine().submit(self._prepared.request)
        except BaseException:
            self._backend.busier(-1)
            raise
        return self

    def _held(self) -> _Prepared:
        with background.held():
            return self._prepare()

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        try:
            if self._generation is not None:
                await self._generation.aclose()
        finally:
            self._backend.busier(-1)

    async def __anext__(self) -> TurnEvent:
        assert self._generation is not None, "iterated before it was entered"
        assert self._prepared is not None
        while not self._events:
            if self._ended:
                raise StopAsyncIteration
            try:
                tokens = await self._generation.__anext__()
            except StopAsyncIteration:
                self._ended = True
                self._events += self._prepared.reader.finish()
            else:
                self._take(tokens)
        return self._events.popleft()

    def _take(self, tokens: Sequence[SampledToken]) -> None:
        assert self._generation is not None
        assert self._prepared is not None
        reader = self._prepared.reader
        for token in tokens:
            if reader.stopped:
                break
            self._token_ids.append(token.id)
            if self._wanted.sampling.logprobs:
                self._logprobs.append(self._logprob(token))
            self._events += reader.push(token.id)
        if reader.stopped:  # by a stop string: the engine does not know these
            self._generation.abort()

    def _logprob(self, token: SampledToken) -> TokenLogprob:
        spelled = self._backend.tokenizer.decode
        top = {spelled([alternative]): logprob for alternative, logprob in token.top}
        return TokenLogprob(token.id, spelled([token.id]), token.logprob, top)

    @property
    def turn(self) -> Turn:
        assert self._ended, "the turn is not finished yet"
        assert self._generation is not None
        assert self._prepared is not None
        reader = self._prepared.reader
        message = reader.message()
        reason: FinishReason = "stop"
        if self._generation.finish_reason == "length" and not reader.stopped:
            reason = "length"
        elif message.calls:
            reason = "tool_calls"
        return Turn(
            message=message,
            usage=self.usage,
            finish_reason=reason,
            logprobs=tuple(self._logprobs),
            token_ids=tuple(self._token_ids),
            seed=self._generation.seed,
        )

    @property
    def usage(self) -> Usage:
        if self._generation is None or self._prepared is None:
            return Usage()
        spent = self._generation.usage
        return Usage(
            prompt_tokens=len(self._prepared.request.ids),
            cached_tokens=spent.cached_tokens,
            image_tokens=self._prepared.image_tokens,
            output_tokens=len(self._token_ids),
            thinking_tokens=self._prepared.reader.thinking_tokens,
            forced_tokens=spent.forced_tokens,
            steps=1,
        )

    # ---- before the engine; runs in a worker thread

    def _prepare(self) -> _Prepared:
        wanted, tokenizer = self._wanted, self._backend.tokenizer
        if isinstance(wanted, PromptRequest):
            ids = (
                tokenizer.encode(wanted.prompt, special=True)
                if isinstance(wanted.prompt, str)
                else wanted.prompt
            )
            reader: TurnReader | RawReader = RawReader(tokenizer, wanted.sampling.stop)
            mask = None if wanted.output is None else _mask(tokenizer, "text", wanted)
            return _Prepared(self._request(ids, self._room(ids), (), mask), reader, 0)
        prompt = _encode(self._backend, wanted)
        room = self._room(prompt.ids)
        spans = self._images(prompt)
        mask = _mask(tokenizer, "think" if prompt.start == "think" else "response", wanted)
        reader = TurnReader(
            tokenizer,
            start=prompt.start,
            tools_declared=bool(wanted.tools) and wanted.tool_choice != "none",
            step=wanted.step,
            stop=wanted.sampling.stop,
            tools=[tool["function"]["name"] for tool in wanted.tools],
            taken=[call.id for message in wanted.messages for call in message.calls],
        )
        image_tokens = sum(place.count for place in prompt.images)
        return _Prepared(self._request(prompt.ids, room, spans, mask), reader, image_tokens)

    def _room(self, ids: Sequence[int]) -> int:
        """How many tokens may follow. Raises ContextOverflow if none."""
        if len(ids) >= self._backend.context:
            raise _overflow(len(ids), self._backend.context)
        return self._backend.context - len(ids)

    def _request(
        self, ids: Sequence[int], room: int, images: Sequence[ImageSpan], mask: TokenMask | None
    ) -> Request:
        from kimi_sdk.engine.sampler import SamplingParams
        from kimi_sdk.engine.sequence import Request

        sampling = self._wanted.sampling
        return Request(
            ids=ids,
            images=images,
            mask=mask,
            sampling=SamplingParams(
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                seed=sampling.seed,
                max_tokens=room if sampling.max_tokens is None else min(room, sampling.max_tokens),
                stop_ids=frozenset({self._backend.tokenizer.stop_id}),
                logprobs=sampling.logprobs,
            ),
        )

    def _images(self, prompt: EncodedPrompt) -> list[ImageSpan]:
        if not prompt.images:
            return []
        from kimi_sdk.engine.sequence import ImageSpan
        from kimi_sdk.vision.image import Image
        from kimi_sdk.vision.preprocess import preprocess

        spans: list[ImageSpan] = []
        for place in prompt.images:
            assert isinstance(place.image, Image)  # messages hold nothing else
            spans.append(ImageSpan(place.start, preprocess(place.image, self._backend.media_limits)))
        return spans


def _mask(
    tokenizer: Tokenizer, start: Literal["think", "response", "text"], wanted: TurnRequest | PromptRequest
) -> TokenMask | None:
    """What the turn may say; ``None`` leaves a K2-format model free, for which there is no grammar."""
    from kimi_sdk.protocol.grammar import TurnGrammar

    if tokenizer.family == "k2":
        if wanted.output is not None:
            raise ConfigError("A typed output cannot be enforced on a K2-format model; ask for text.")
        return None
    if isinstance(wanted, PromptRequest):
        return TurnGrammar.build(tokenizer, start=start, output=wanted.output).matcher()
    return TurnGrammar.build(
        tokenizer,
        start=start,
        tools=wanted.tools,
        tool_choice=wanted.tool_choice,
        output=wanted.output,
        thinking_tokens=wanted.sampling.thinking_tokens,
    ).matcher()


def prompt_size(backend: LocalBackend, request: TurnRequest) -> int:
    """Tokens of the request's prompt, whether they fit or not."""
    return len(_encode(backend, request).ids)


def _encode(backend: LocalBackend, request: TurnRequest) -> EncodedPrompt:
    from kimi_sdk.protocol.dialect import prompt_for
    from kimi_sdk.vision.preprocess import token_count

    prompt = prompt_for(
        backend.tokenizer,
        request.messages,
        tools=request.tools,
        thinking=request.sampling.thinking,
        effort=request.sampling.effort,
        tool_choice=request.tool_choice,
        response_format=_response_format(request.output),
    )
    if backend.config.vision is None and any(segment.image is not None for segment in prompt.segments):
        raise ConfigError(f"The model {backend.name} cannot see images: it has no vision tower.")
    return prompt.encode(backend.tokenizer, image_tokens=lambda size: token_count(size, backend.media_limits))


def _response_format(output: Constraint[Any] | None) -> dict[str, Any] | None:
    """How the prompt tells the model about a typed output; only JSON has a way to be told."""
    if output is None or output.kind != "json":
        return None
    return {"type": "json_schema", "json_schema": {"name": "output", "schema": output.schema}}


def _overflow(needed: int, available: int) -> ContextOverflow:
    return ContextOverflow(
        f"The prompt has {needed} tokens and the context holds {available}, with the answer. Shorten the "
        "conversation, its tool results or its images.",
        needed=needed,
        available=available,
    )
