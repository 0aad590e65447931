"""Which sequences run, and what each step computes of them.

Admission is first come, first served. A sequence is admitted once there is a free slot and, beyond what the
running ones may still come to need, enough pages for its prompt and all the tokens it may write. So a running
sequence always gets its next page, nobody has to be thrown out, and no two can wait for each other. Pages are
taken only as a sequence grows; the rest of its share is a number. Computing a chunk is left to ``runner.py``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from kimi_sdk.engine.batch import Caches
from kimi_sdk.engine.pages import PagePool
from kimi_sdk.engine.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Chunk:
    """The next ``count`` tokens of a sequence that are not in the caches yet."""

    sequence: Sequence
    count: int

    @property
    def last(self) -> bool:
        """Whether nothing is pending behind it, so that the next token can be chosen."""
        return self.count == self.sequence.pending


class Scheduler:
    """The waiting and the running sequences; the engine thread is its only caller."""

    def __init__(self, caches: Caches, *, step_tokens: int) -> None:
        """``step_tokens`` is the most tokens a step computes; it must exceed the number of slots."""
        assert step_tokens > caches.slots.count, (
            "a step must hold one token of every sequence and a prefill token"
        )
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self._slots = caches.slots
        self._pages = caches.pages
        self._step_tokens = step_tokens
        self._promised = 0

    @property
    def busy(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.waiting or self.running)

    def add(self, sequence: Sequence) -> None:
        """Queue a sequence that fits into the empty engine."""
        assert PagePool.pages_for(sequence.longest) <= self._pages.count
        self.waiting.append(sequence)

    def aborted(self) -> list[Sequence]:
        """Every sequence whose reader has gone, running or waiting."""
        return [s for s in (*self.running, *self.waiting) if s.stream.aborted]

    def admit(self) -> list[Sequence]:
        """Move sequences that fit now from waiting to running, each with a zeroed slot; gives them back."""
        admitted = []
        while self.waiting and self._slots.available:
            need = PagePool.pages_for(self.waiting[0].longest)
            if self._promised + need > self._pages.count:
                break
            sequence = self.waiting.popleft()
            self._promised += need
            sequence.slot = self._slots.allocate()
            self.running.append(sequence)
            admitted.append(sequence)
        return admitted

    def plan(self) -> list[Chunk]:
        """The next step: one token of every sequence that decodes, then prompts, oldest first, in the rest.

        The pages that the step writes are taken here. Decoding sequences come in the order of their slots:
        states that lie in a row are updated in place.
        """
        decode = [Chunk(s, 1) for s in self.running if s.pending == 1]
        decode.sort(key=_slot)
        left = self._step_tokens - len(decode)
        chunks = []
        for sequence in self.running:
            if sequence.pending > 1 and left > 0:
                chunks.append(Chunk(sequence, min(sequence.pending, left)))
                left -= chunks[-1].count
        step = decode + chunks
        for chunk in step:
            sequence = chunk.sequence
            missing = PagePool.pages_for(sequence.cached + chunk.count) - len(sequence.pages)
            if missing > 0:
                sequence.pages += self._pages.allocate(missing)
        return step

    def release(self, sequence: Sequence) -> None:
        """Forget a sequence, and free its slot and its pages."""
        if sequence.slot is None:
            self.waiting.remove(sequence)
            return
        self.running.remove(sequence)
        self._promised -= PagePool.pages_for(sequence.longest)
        self._slots.free(sequence.slot)
        self._pages.free(sequence.pages)
        sequence.slot, sequence.pages = None, []


def _slot(chunk: Chunk) -> int:
    """The slot of a running sequence."""
    assert chunk.sequence.slot is not None
    return chunk.sequence.slot
