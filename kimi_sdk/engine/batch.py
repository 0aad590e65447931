"""What one forward computes: new tokens of several sequences, one after another, and where their caches are.

Knows positions, pages and slots as index tensors, built once and read by every layer; knows no weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from kimi_sdk.engine.delta_rule import BLOCK, CHUNK
from kimi_sdk.engine.mla import hiding
from kimi_sdk.engine.pages import PAGE, PagePool
from kimi_sdk.engine.slots import SlotPool


@dataclass(frozen=True, slots=True)
class Caches:
    """The two pools that a forward reads and writes."""

    slots: SlotPool
    pages: PagePool


@dataclass(frozen=True, slots=True)
class SinglePlan:
    """The sequences with one new token: S of them."""

    rows: Tensor
    """[S] where their tokens are in the batch."""
    slots: Tensor
    """[S]."""
    run: slice | None
    """The slots as a slice when they lie in a row, so that states are updated in place."""
    table: Tensor
    """[S, P] pages, padded with the sequence's own first page."""
    page_run: slice | None
    """The pages as a slice when there is one sequence and they lie in a row; ``total`` rows are visible."""
    total: int
    """Cached and new tokens of the longest sequence."""
    mask: Tensor | None
    """[S, 1, P * 64] to add to scores, None with ``page_run`` or if every row of every page is visible."""


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """The sequences with several new tokens: S of them, longest first, cut into M chunks at multiples of C.

    The convolution reads one buffer: of each sequence its W - 1 earlier inputs, then its new ones.
    """

    slots: Tensor
    """[S]."""
    tokens: Tensor
    """[T] where their tokens are in the batch."""
    buffer: Tensor
    """[B] rows of (batch tokens, then conv states [S * (W - 1)]) that make up the buffer."""
    tails: Tensor
    """[S * (W - 1)] buffer rows that become the new conv states."""
    mixed: Tensor
    """[M * C] convolution outputs in chunk order; padding repeats a row of the same sequence."""
    sources: Tensor
    """[M * C] the same as batch tokens."""
    real: Tensor
    """bool [M, C], False on padding."""
    back: Tensor
    """[T] chunk rows of ``tokens``."""
    steps: tuple[int, ...]
    """Sequences that have a first chunk, a second, ..."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One sequence with several new tokens, for full attention."""

    start: int
    length: int
    context: int
    pages: Tensor
    mask: Tensor
    """[length, total] to add to scores."""

    @property
    def total(self) -> int:
        """Cached and new tokens."""
        return self.context + self.length


class Batch:
    """S sequences packed one after another.

    Args:
        lengths: new tokens of each, at least 1.
        contexts: tokens already cached of each.
        slots: of each, distinct; int64 [S] or numbers.
        pages: page table of each, long enough for context + length; int64 or numbers.
        device: where the model is.
    """

    def __init__(
        self,
        *,
        lengths: Sequence[int],
        contexts: Sequence[int],
        slots: Tensor | Sequence[int],
        pages: Sequence[Tensor | Sequence[int]],
        device: torch.device | str = "cpu",
    ) -> None:
        assert len(lengths) == len(contexts) == len(pages) == len(slots), "one entry a sequence"
        assert min(lengths) > 0, "a sequence in a batch has new tokens"
        self.lengths, self.contexts = list(lengths), list(contexts)
        self.slots, self.pages = _numbers(slots), [_numbers(table) for table in pages]
        self.device = torch.device(device)
        self._chunks: dict[int, ChunkPlan | None] = {}
        self.starts: list[int] = []
        total = 0
        for length in self.lengths:
            self.starts.append(total)
            total += length
        self.tokens = total
        for length, context, table in zip(self.lengths, self.contexts, self.pages, strict=True):
            assert PagePool.pages_for(context + length) <= len(table), "the page table is too short"

    @property
    def decode(self) -> bool:
        """Whether every sequence has exactly one new token."""
        return self.tokens == len(self.lengths)

    @property
    def last_rows(self) -> list[int]:
        """Each sequence's last token in the batch: the rows whose logits are sampled."""
        return [start + length - 1 for start, length in zip(self.starts, self.lengths, strict=True)]

    @cached_property
    def cache_rows(self) -> Tensor:
        """[N] where each new token's row goes: page * 64 + position in the page."""
        rows = [
            table[position // PAGE] * PAGE + position % PAGE
            for length, context, table in zip(self.lengths, self.contexts, self.pages, strict=True)
            for position in range(context, context + length)
        ]
        return self._index(rows)

    @cached_property
    def singles(self) -> SinglePlan | None:
        """The plan of the sequences with one new token, None without any."""
        members = [index for index, length in enumerate(self.lengths) if length == 1]
        if not members:
            return None
        totals = [self.contexts[index] + 1 for index in members]
        width = PagePool.pages_for(max(totals))
        tables = []
        for index, total in zip(members, totals, strict=True):
            used = self.pages[index][: PagePool.pages_for(total)]
            tables.append(used + used[:1] * (width - len(used)))
        slots = [self.slots[index] for index in members]
        page_run = _run(tables[0]) if len(members) == 1 else None
        full = page_run is not None or min(totals) == width * PAGE
        return SinglePlan(
            rows=self._index([self.starts[index] for index in members]),
            slots=self._index(slots),
            run=_run(slots),
            table=self._index(tables),
            page_run=page_run,
            total=max(totals),
            mask=None if full else self._hidden(totals, width * PAGE),
        )

    def _hidden(self, totals: list[int], rows: int) -> Tensor:
        """[S, 1, rows] that hides what lies beyond each sequence's own tokens."""
        visible = torch.arange(rows, device=self.device) < self._index(totals).unsqueeze(-1)
        return hiding(visible).unsqueeze(1)

    @cached_property
    def stretches(self) -> list[Stretch]:
        """The sequences with several new tokens, for full attention."""
        found = []
        for index, length in enumerate(self.lengths):
            if length == 1:
                continue
            context = self.contexts[index]
            ends = torch.arange(context, context + length, device=self.device).unsqueeze(-1)
            visible = torch.arange(context + length, device=self.device) <= ends
            used = self._index(self.pages[index][: PagePool.pages_for(context + length)])
            found.append(Stretch(self.starts[index], length, context, used, hiding(visible)))
        return found

    def _index(self, values: Sequence[int] | Sequence[Sequence[int]]) -> Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self.device)

    def chunks(self, conv_size: int) -> ChunkPlan | None:
        """The plan of the sequences with several new tokens, for linear attention; None without any."""
        if conv_size not in self._chunks:
            members = [index for index, length in enumerate(self.lengths) if length > 1]
            self._chunks[conv_size] = _chunk_plan(self, members, conv_size - 1) if members else None
        return self._chunks[conv_size]


def _numbers(values: Tensor | Sequence[int]) -> list[int]:
    found: list[int] = values.tolist() if isinstance(values, Tensor) else list(values)
    return found


def _run(values: list[int]) -> slice | None:
    """The indices as a slice if they rise one by one."""
    first, last = values[0], values[0] + len(values) - 1
    return slice(first, last + 1) if values == list(range(first, last + 1)) else None


def _chunk_plan(batch: Batch, members: list[int], history: int) -> ChunkPlan:
    size = CHUNK if max(batch.lengths[index] for index in members) > BLOCK else BLOCK
    pads = {index: batch.contexts[index] % size for index in members}
    counts = {index: -(-(pads[index] + batch.lengths[index]) // size) for index in members}
    members = sorted(members, key=lambda index: -counts[index])
    buffer, tails, offsets = _conv_buffer(batch, members, history)
    steps: list[int] = []
    mixed: list[Tensor] = []
    sources: list[Tensor] = []
    real: list[Tensor] = []
    back: list[Tensor] = []
    place: dict[tuple[int, int], int] = {}
    for step in range(counts[members[0]]):
        active = [index for index in members if counts[index] > step]
        steps.append(len(active))
        for index in active:
            place[index, step] = len(mixed)
            positions = torch.arange(step * size, (step + 1) * size) - pads[index]
            inside = (positions >= 0) & (positions < batch.lengths[index])
            positions = positions.clamp(0, batch.lengths[index] - 1)
            mixed.append(positions + offsets[index])
            sources.append(positions + batch.starts[index])
            real.append(inside)
    for index in members:
        positions = torch.arange(batch.lengths[index]) + pads[index]
        first = torch.tensor([place[index, step] for step in range(counts[index])])
        back.append(first[positions // size] * size + positions % size)
    tokens = [torch.arange(batch.lengths[index]) + batch.starts[index] for index in members]
    device = batch.device
    return ChunkPlan(
        slots=torch.tensor([batch.slots[index] for index in members], device=device),
        tokens=torch.cat(tokens).to(device),
        buffer=buffer.to(device),
        tails=tails.to(device),
        mixed=torch.cat(mixed).to(device),
        sources=torch.cat(sources).to(device),
        real=torch.stack(real).to(device),
        back=torch.cat(back).to(device),
        steps=tuple(steps),
    )


def _conv_buffer(batch: Batch, members: list[int], history: int) -> tuple[Tensor, Tensor, dict[int, int]]:
    """Buffer rows, the rows that become new conv states, and where each sequence's outputs begin."""
    rows, tails, offsets, filled = [], [], {}, 0
    for rank, index in enumerate(members):
        length = batch.lengths[index]
        rows.append(torch.arange(history) + batch.tokens + rank * history)
        rows.append(torch.arange(length) + batch.starts[index])
        offsets[index] = filled
        filled += history + length
        tails.append(torch.arange(filled - history, filled))
    return torch.cat(rows), torch.cat(tails), offsets
