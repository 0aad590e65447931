"""One request inside the engine: its tokens, how many of them are in the caches, and what it holds there.

Knows when an answer is over and what its mask forces. Which sequences run, and how tokens are computed, is
left to ``scheduler.py`` and ``runner.py``.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kimi_sdk.engine.generation import FinishReason, Stream
from kimi_sdk.engine.sampler import Draw, SampledToken, SamplingParams, TokenMask, fresh_seed
from kimi_sdk.settings import Usage

if TYPE_CHECKING:
    import torch

    from kimi_sdk.engine.stats import Meter
    from kimi_sdk.vision.preprocess import Patches


@dataclass(frozen=True, slots=True)
class ImageSpan:
    """An image in a prompt: its patches, and the position of the first of the tokens that stand for it."""

    start: int
    patches: Patches


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the engine is asked for.

    Attributes:
        ids: the prompt.
        images: where images stand in it, in order.
        mask: the tokens that may come, ``None`` for any; it belongs to this request alone.
        sampling: how tokens are chosen.
    """

    ids: abc.Sequence[int]
    images: abc.Sequence[ImageSpan] = ()
    mask: TokenMask | None = None
    sampling: SamplingParams = field(default_factory=SamplingParams)


class Sequence:
    """A request on its way; touched by the engine thread only once it has been submitted.

    Attributes:
        tokens: the prompt and what has been written since.
        prompt: length of the prompt.
        limit: most tokens that may be written.
        cached: how many of ``tokens`` the caches hold; the next step goes on there.
        slot: its KDA state while it runs.
        pages: its MLA rows while it runs, 64 tokens each, in order.
        places: the tokens that stand for each image.
        features: the rows that go there instead of embeddings, ``[image tokens, hidden]``, while needed.
        finish: why it is over, ``None`` while it is not.
    """

    def __init__(
        self, request: Request, *, limit: int, forced: bool, meter: Meter, places: abc.Sequence[range] = ()
    ) -> None:
        self.request = request
        self.stream = Stream()
        self.seed = fresh_seed() if request.sampling.seed is None else request.sampling.seed
        self.tokens = list(request.ids)
        self.prompt = len(self.tokens)
        self.limit = limit
        self.cached = 0
        self.slot: int | None = None
        self.pages: list[int] = []
        self.places = tuple(places)
        self.features: torch.Tensor | None = None
        self.finish: FinishReason | None = None
        self._forced = forced
        self._forced_tokens = 0
        self._fresh: list[SampledToken] = []
        self._meter = meter

    @property
    def pending(self) -> int:
        """Tokens that the caches do not hold yet; at least one while the sequence runs."""
        return len(self.tokens) - self.cached

    @property
    def written(self) -> int:
        """Tokens of the answer so far."""
        return len(self.tokens) - self.prompt

    @property
    def longest(self) -> int:
        """Most tokens the caches can ever have to hold: the last one written is never read."""
        return self.prompt + self.limit - 1

    @property
    def usage(self) -> Usage:
        """What it has taken so far; nothing is reused from other requests yet, so ``cached_tokens`` is 0."""
        return Usage(
            prompt_tokens=self.prompt,
            image_tokens=sum(map(len, self.places)),
            output_tokens=self.written,
            forced_tokens=self._forced_tokens,
        )

    @property
    def draw(self) -> Draw:
        """What the sampler has to know for the next token."""
        return Draw(self.request.sampling, self.seed, self.written, self.request.mask)

    def begin(self) -> None:
        """Take the tokens that the mask forces before any is sampled; they join the prompt's last chunk.

        Raises whatever the mask raises.
        """
        mask = self.request.mask
        if mask is not None:
            with self._meter.mask:
                if mask.finished:
                    self.finish = "stop"
            self._follow(mask)

    def advance(self, token: SampledToken) -> None:
        """Take the sampled token and the forced ones after it.

        Raises whatever the mask raises; what was taken by then stays.
        """
        self._take(token)
        if self.request.mask is not None:
            self._follow(self.request.mask)

    def hand_over(self) -> list[SampledToken]:
        """The tokens taken since the last time."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def _follow(self, mask: TokenMask) -> None:
        """Take the run of tokens that must come now."""
        while self._forced and self.finish is None:
            with self._meter.mask:
                run = mask.forced()
            if not run:
                break
            for token in run:
                self._take(SampledToken.only(token, self.request.sampling))
                if self.finish is not None:
                    break

    def _take(self, token: SampledToken) -> None:
        """Append one token, and see whether it is the last."""
        mask = self.request.mask
        complete = False
        if mask is not None:
            with self._meter.mask:
                mask.accept(token.id)
                complete = mask.finished
        self.tokens.append(token.id)
        self._fresh.append(token)
        self._meter.output_tokens += 1
        if token.forced:
            self._forced_tokens += 1
            self._meter.forced_tokens += 1
        if complete or token.id in self.request.sampling.stop_ids:
            self.finish = "stop"
        elif self.written >= self.limit:
            self.finish = "length"
