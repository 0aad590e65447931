"""Batches of fixed shape: what the data's packed rows become before they travel to the device.

Every array keeps its size from step to step, so that one captured graph serves the whole run. No torch here:
this runs in the feed's workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from training.data.document import Batch as Packed
from training.data.document import Document, pack
from training.feed import Batch

Array = np.ndarray[Any, Any]
GAP = 4
"""Tokens of padding between documents: there the decay is at its bound and nothing is written, which empties
the state."""
ASSISTANT = 100
"""Least weight, in hundredths, of a token that the model itself writes."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a batch.

    Attributes:
        rows: sequences.
        length: tokens of each.
        images: image slots; unused ones hold a blank 2x2 grid whose features go nowhere.
        segments: most documents (and stretches of padding) in a batch.
        patches: patch places of a slot.
    """

    rows: int = 32
    length: int = 2048
    images: int = 160
    segments: int = 1536
    patches: int = 64

    @property
    def tokens(self) -> int:
        """Tokens of a batch, padding included."""
        return self.rows * self.length


def grid_index(grid: tuple[int, int], side: int = 8) -> int:
    """Number of an even grid (rows, columns) of at most side x side patches."""
    return (grid[0] // 2 - 1) * (side // 2) + grid[1] // 2 - 1


def fixed(batch: Packed, shape: Shape, families: tuple[str, ...]) -> Batch:
    """Gives a packed batch its fixed form.

    Args:
        batch: rows of whole documents.
        shape: sizes.
        families: names, in the order of their numbers.

    Returns:
        ids, targets int16 [rows, length]: targets are the following tokens; weights uint8 [rows, length],
        hundredths, of the target; segments uint8 [rows, length], 0 for padding; bounds int32 [segments + 1]:
        starts of the documents in the flattened rows, filled up with the end; patches uint8 [images, patches,
        588]; grids uint8 [images] (see `grid_index`); places int32 [images, patches / 4]: flat token
        positions of the features, the token count where there is none; family uint8 [rows, length], of the
        target.

    Images beyond the slots are dropped and their documents lose all weight.
    """
    weights = batch.weights.copy()
    count = min(len(batch.patches), shape.images)
    for row, column in batch.places[count:]:
        weights[row][batch.segments[row] == batch.segments[row, column]] = 0
    new = np.ones(batch.segments.shape, bool)
    new[:, 1:] = batch.segments[:, 1:] != batch.segments[:, :-1]
    starts = np.flatnonzero(new)
    if len(starts) > shape.segments:
        raise ValueError(f"{len(starts)} documents and gaps in a batch, {shape.segments} fit")
    bounds = np.full(shape.segments + 1, shape.tokens, np.int32)
    bounds[: len(starts)] = starts
    return {
        "ids": batch.ids.astype(np.int16),
        "targets": _following(batch.ids).astype(np.int16),
        "weights": _following(weights),
        "segments": batch.segments,
        "bounds": bounds,
        "family": _following(_families(batch, families)),
        **_images(batch, shape, count),
    }


def _following(rows: Array) -> Array:
    """Each place holds what stood one later; the last holds 0."""
    moved = np.zeros_like(rows)
    moved[:, :-1] = rows[:, 1:]
    return moved


def _families(batch: Packed, families: tuple[str, ...]) -> Array:
    number = {name: index for index, name in enumerate(families)}
    out = np.zeros(batch.segments.shape, np.uint8)
    for row, names in enumerate(batch.families):
        table = np.array([0, *(number[name] for name in names)], np.uint8)
        out[row] = table[batch.segments[row]]
    return out


def _images(batch: Packed, shape: Shape, count: int) -> Batch:
    patches = np.zeros((shape.images, shape.patches, batch.patches.shape[-1]), np.uint8)
    patches[:count] = batch.patches[:count]
    grids = np.zeros(shape.images, np.uint8)
    places = np.full((shape.images, shape.patches // 4), shape.tokens, np.int32)
    for index in range(count):
        grid = (int(batch.grids[index, 0]), int(batch.grids[index, 1]))
        row, column = batch.places[index]
        size = grid[0] * grid[1] // 4
        grids[index] = grid_index(grid)
        places[index, :size] = row * shape.length + column + np.arange(size)
    return {"patches": patches, "grids": grids, "places": places}


def produce(
    documents: Callable[[int], Iterator[Document]],
    shape: Shape,
    families: tuple[str, ...],
    pad: int,
    seed: int,
) -> Iterator[Batch]:
    """A worker's endless batches.

    Args:
        documents: called with the seed in the worker.
        shape: sizes.
        families: names in the order of their numbers.
        pad: token that fills the ends of rows.
        seed: the worker's.
    """
    for batch in pack(documents(seed), shape.rows, shape.length, pad=pad, patch_limit=shape.patches, gap=GAP):
        yield fixed(batch, shape, families)


def producer(
    documents: Callable[[int], Iterator[Document]], shape: Shape, families: tuple[str, ...], pad: int
) -> Callable[[int], Iterator[Batch]]:
    """`produce` waiting for its seed; picklable if `documents` is."""
    return partial(produce, documents, shape, families, pad)


def turns(batch: Batch) -> tuple[Array, Array]:
    """The assistant's turns: number of the turn of each target, and family of each turn.

    Returns:
        int64 [rows * length] with -1 outside the assistant's own words, and uint8 [turns].
    """
    own = batch["weights"] >= ASSISTANT
    first = own.copy()
    first[:, 1:] &= ~own[:, :-1] | (batch["segments"][:, 1:] != batch["segments"][:, :-1])
    numbers = np.where(own, np.cumsum(first).reshape(own.shape) - 1, -1).reshape(-1)
    return numbers, batch["family"].reshape(-1)[first.reshape(-1)]
