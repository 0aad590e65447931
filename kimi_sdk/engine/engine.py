"""The engine as its callers see it: submit a request from any loop or thread, read its ``Generation``.

Knows what a request may ask of this model and these caches. The work is done by the one thread of
``worker.py``, which owns the model, the caches and every running request.
"""

from __future__ import annotations

import os
import weakref
from collections import abc
from typing import TYPE_CHECKING

from kimi_sdk.engine.generation import Generation
from kimi_sdk.engine.pages import PAGE, PagePool
from kimi_sdk.engine.sequence import ImageSpan, Request, Sequence
from kimi_sdk.engine.stats import EngineStats
from kimi_sdk.engine.worker import Worker
from kimi_sdk.errors import ConfigError, ContextOverflow, OutOfMemory

if TYPE_CHECKING:
    from kimi_sdk.engine.k3 import K3
    from kimi_sdk.vision.preprocess import Patches

__all__ = ["Engine", "Generation", "ImageSpan", "Request"]

_THREADS = "KIMI_SDK_THREADS"
_PAGE_MEMORY = 1 << 30


class Engine:
    """Runs requests on a model, many at once.

    The thread starts with the first request and ends with ``close()``, when the engine is dropped, or when
    Python exits. Building an engine needs no event loop.
    """

    def __init__(
        self,
        model: K3,
        *,
        slots: int = 16,
        pages: int | None = None,
        step_tokens: int = 512,
        vocab: int | None = None,
        forced: bool = True,
        threads: int | None = None,
    ) -> None:
        """Build the caches.

        Args:
            model: what computes; the engine is its only user from now on.
            slots: most sequences that run at once.
            pages: pages of 64 tokens to share among them; ``None`` lets every slot reach the end of the
                context, but takes 1 GiB at most.
            step_tokens: most tokens that one step computes; smaller steps keep running answers smoother
                while a long prompt comes in.
            vocab: real tokens of the vocabulary; the model's ids from there on are padding.
            forced: process the tokens that a mask forces as one chunk; off, they are computed one by one.
            threads: CPU threads of torch; ``None`` reads KIMI_SDK_THREADS, else 1. torch shares the
                number with the rest of the process.

        Raises:
            ConfigError: a number that cannot work.
        """
        text = model.config.text
        vocab = text.vocab if vocab is None else vocab
        if slots < 1 or step_tokens <= slots:
            raise ConfigError(f"Engine needs 1 <= slots < step_tokens, not {slots} and {step_tokens}.")
        if not 1 <= vocab <= text.vocab:
            raise ConfigError(f"Engine.vocab must lie in 1..{text.vocab}, the model's, not {vocab}.")
        if pages is not None and pages < 1:
            raise ConfigError(f"Engine.pages must be at least 1, not {pages}.")
        threads = int(os.environ.get(_THREADS, "1")) if threads is None else threads
        if threads < 1:
            raise ConfigError(f"Engine.threads must be at least 1, not {threads}.")
        self.context = text.context
        self._config = model.config
        self._vocab = vocab
        self._forced = forced
        caches = model.caches(slots=slots, pages=pages or _page_count(model, slots))
        self._worker = Worker(model, caches, step_tokens=step_tokens, vocab=vocab, threads=threads)
        weakref.finalize(self, self._worker.stop).atexit = False

    def submit(self, request: Request) -> Generation:
        """Queue a request; returns at once, from any thread, inside or outside an event loop.

        Raises:
            ConfigError: ids or images that the model does not have.
            ContextOverflow: the prompt leaves no room for a token in the context.
            OutOfMemory: more pages than the engine has would be needed, even alone.
            EngineClosed: the engine was closed before.
        """
        self._check(request.ids)
        sequence = Sequence(
            request,
            limit=self._limit(request),
            forced=self._forced,
            meter=self._worker.meter,
            places=self._places(request),
        )
        generation = Generation(sequence.stream, seed=sequence.seed, owner=self)
        self._worker.submit(sequence)
        return generation

    def close(self) -> None:
        """End every request with ``EngineClosed`` and join the thread, within a step; again is harmless."""
        self._worker.close()

    @property
    def active(self) -> int:
        """Requests that have been submitted and still hold, or wait for, something."""
        return self._worker.active

    def idle(self) -> bool:
        """Whether nothing waits or runs, and every slot and page is free."""
        return self._worker.idle()

    def stats(self) -> EngineStats:
        """Totals since the engine was built."""
        return self._worker.meter.snapshot()

    def _check(self, ids: abc.Sequence[int]) -> None:
        """Refuse ids that the model does not have."""
        if not ids:
            raise ConfigError("The prompt is empty; it needs at least one token.")
        if not {*map(type, ids)} <= {int}:  # found in the forward, it would end the neighbours as well
            raise ConfigError("A prompt is text, or token ids, which are whole numbers.")
        for extreme in (min(ids), max(ids)):
            if not 0 <= extreme < self._vocab:
                raise ConfigError(
                    f"The prompt holds token {extreme}; the vocabulary has ids 0..{self._vocab - 1}."
                )

    def _places(self, request: Request) -> list[range]:
        """The tokens that stand for each image; refuses images that are not where they are said to be."""
        places: list[range] = []
        ids, pad = request.ids, self._config.media_token_id
        for number, span in enumerate(request.images, 1):
            place = range(span.start, span.start + self._image_tokens(span.patches, number))
            text = f"Image {number} stands for the tokens {place.start}..{place.stop - 1}"
            if place.start < (places[-1].stop if places else 0) or place.stop > len(ids):
                raise ConfigError(f"{text}, which overlap another image or the end of the {len(ids)} tokens.")
            if pad is not None and any(token != pad for token in ids[place.start : place.stop]):
                raise ConfigError(f"{text}, but not all of these are the media token {pad}.")
            places.append(place)
        return places

    def _image_tokens(self, patches: Patches, number: int) -> int:
        """How many tokens the tower makes of an image's patches."""
        vision = self._config.vision
        if vision is None:
            raise ConfigError("The prompt holds an image, but the model has no vision tower.")
        frames, rows, columns = patches.grid
        high, wide = vision.merge_kernel_size
        whole = rows % high == 0 and columns % wide == 0
        if not whole or len(patches.pixels) != frames * rows * columns:
            raise ConfigError(
                f"Image {number} has {len(patches.pixels)} patches on a grid of {patches.grid}; "
                f"the model merges {high}x{wide} of them."
            )
        return (rows // high) * (columns // wide)

    def _limit(self, request: Request) -> int:
        """Most tokens the request may write: its own wish, the context, and what the pages can hold."""
        prompt, wish = len(request.ids), request.sampling.max_tokens
        room = self.context - prompt
        if room < 1:
            raise ContextOverflow(
                f"The prompt has {prompt} tokens, and the context holds {self.context}, the answer included: "
                "shorten the conversation.",
                needed=prompt,
                available=self.context - 1,
            )
        limit = room if wish is None else min(wish, room)
        held = self._worker.caches.pages.count * PAGE
        if wish is None:
            limit = min(limit, held - prompt + 1)
        if limit < 1 or prompt + limit - 1 > held:
            raise OutOfMemory(
                f"The request may need {prompt + max(limit, 1) - 1} tokens of cache; the engine has {held}: "
                "give it more pages, or ask for less."
            )
        return limit


def _page_count(model: K3, slots: int) -> int:
    """Enough pages for every slot to reach the end of the context, as far as the default memory goes."""
    most = _PAGE_MEMORY // max(1, model.caches(slots=1, pages=1).pages.bytes_per_page)
    return max(1, min(slots * PagePool.pages_for(model.config.text.context), most))
