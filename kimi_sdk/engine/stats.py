"""What the engine has done so far, and where its time went; written by the engine thread only."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Self


class Stopwatch:
    """Adds up the seconds spent inside its ``with`` blocks, which do not nest."""

    __slots__ = ("_begun", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self._begun = 0.0

    def __enter__(self) -> Self:
        self._begun = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds += perf_counter() - self._begun


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStats:
    """Totals since the engine was built.

    Attributes:
        steps: forwards that were run.
        prefill_tokens: tokens processed in chunks of more than one: prompts and forced runs.
        decode_tokens: tokens processed one at a time.
        output_tokens: tokens given to callers, forced ones included.
        forced_tokens: output tokens that their mask left no choice about.
        busy_seconds: in steps altogether; the others are parts of it.
        vision_seconds: in the vision tower and its projector.
        forward_seconds: in the language model.
        mask_seconds: in masks: filling rows, accepting tokens, asking for forced ones.
        sampling_seconds: choosing tokens, masks not included.
    """

    steps: int = 0
    prefill_tokens: int = 0
    decode_tokens: int = 0
    output_tokens: int = 0
    forced_tokens: int = 0
    busy_seconds: float = 0.0
    vision_seconds: float = 0.0
    forward_seconds: float = 0.0
    mask_seconds: float = 0.0
    sampling_seconds: float = 0.0

    @property
    def mask_share(self) -> float:
        """Share of the busy time that went into masks, in [0, 1]."""
        return self.mask_seconds / self.busy_seconds if self.busy_seconds else 0.0


class Meter:
    """The counters behind ``EngineStats``."""

    def __init__(self) -> None:
        self.steps = 0
        self.prefill_tokens = 0
        self.decode_tokens = 0
        self.output_tokens = 0
        self.forced_tokens = 0
        self.busy = Stopwatch()
        self.vision = Stopwatch()
        self.forward = Stopwatch()
        self.mask = Stopwatch()
        self.sampling = Stopwatch()

    def snapshot(self) -> EngineStats:
        """The totals as they stand; safe to call from any thread."""
        return EngineStats(
            steps=self.steps,
            prefill_tokens=self.prefill_tokens,
            decode_tokens=self.decode_tokens,
            output_tokens=self.output_tokens,
            forced_tokens=self.forced_tokens,
            busy_seconds=self.busy.seconds,
            vision_seconds=self.vision.seconds,
            forward_seconds=self.forward.seconds,
            mask_seconds=self.mask.seconds,
            sampling_seconds=self.sampling.seconds,
        )
