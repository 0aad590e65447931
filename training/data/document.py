"""What a trainer eats: encoded documents, and rows packed from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

PICTURED, ASSISTANT, TEXT, DECLARED, UNTRAINED = 160, 100, 10, 4, 0
"""Loss weights in hundredths: what the model writes about pictures, what it writes else, what users and tools say, tool declarations, markers of the host."""


@dataclass(frozen=True, slots=True, eq=False)
class Picked:
    """An image in a document.

    Attributes:
        start: index of its first ``<|media_pad|>`` in the document's ids.
        patches: ``uint8 [n, 588]``: channel-major 3x14x14 pixels, in ``vision.preprocess`` order;
            the model's input is ``(x / 255 - 0.5) / 0.5``.
        grid: patch rows and columns, both even; the image takes ``rows * columns / 4`` pads.
    """

    start: int
    patches: np.ndarray
    grid: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One conversation as tokens.

    Attributes:
        ids: ``uint16 [tokens]``.
        weights: ``uint8 [tokens]``: how much predicting ``ids[i]`` (from ``ids[:i]``) counts, in hundredths.
        images: in order of ``start``.
        family: where it comes from, for the evaluation by family.
    """

    ids: np.ndarray
    weights: np.ndarray
    images: tuple[Picked, ...] = ()
    family: str = ""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows of whole documents; what is left of a row is padding.

    Attributes:
        ids: ``uint16 [rows, length]``; padding is ``pad``.
        weights: ``uint8 [rows, length]`` in hundredths; the first token of a document has weight 0.
        segments: ``uint8 [rows, length]``: 1, 2, ... for the documents of a row, 0 for padding. Attention and
            recurrent state must not cross them.
        patches: ``uint8 [images, most patches of one image (64 by default), 588]``, zero-padded.
        grids: ``int32 [images, 2]``: patch rows and columns.
        places: ``int32 [images, 2]``: row, and column of the first pad.
        families: of each row's documents, in order.
    """

    ids: np.ndarray
    weights: np.ndarray
    segments: np.ndarray
    patches: np.ndarray
    grids: np.ndarray
    places: np.ndarray
    families: tuple[tuple[str, ...], ...] = ()


def pack(
    documents: Iterator[Document],
    rows: int,
    length: int,
    *,
    pad: int,
    waiting: int = 48,
    patch_limit: int = 64,
    gap: int = 0,
) -> Iterator[Batch]:
    """Packs documents into batches for ever (or until ``documents`` ends; an unfinished batch is dropped).

    A row takes the longest waiting document that still fits, so about one token in a hundred is padding.
    Documents longer than ``length`` are left out; ``gap`` tokens of padding stand between two documents.
    """
    pool: list[Document] = []

    def refill() -> None:
        while len(pool) < waiting:
            document = next(documents)
            if len(document) <= length:
                pool.append(document)

    while True:
        ids = np.full((rows, length), pad, np.uint16)
        weights = np.zeros((rows, length), np.uint8)
        segments = np.zeros((rows, length), np.uint8)
        images: list[tuple[int, int, Picked]] = []
        families: list[list[str]] = [[] for _ in range(rows)]
        for row in range(rows):
            at = number = 0
            while True:
                try:
                    refill()
                except StopIteration:
                    return
                room = length - at
                best = -1
                if at == 0:
                    best = 0
                else:
                    size = 0
                    for index, document in enumerate(pool):
                        if size < len(document.ids) <= room:
                            best, size = index, len(document.ids)
                if best < 0 or number == 255:
                    break
                document = pool.pop(best)
                number += 1
                end = at + len(document.ids)
                ids[row, at:end] = document.ids
                weights[row, at:end] = document.weights
                weights[row, at] = 0
                segments[row, at:end] = number
                families[row].append(document.family)
                images.extend((row, at + image.start, image) for image in document.images)
                at = end + gap
        patches = np.zeros((len(images), patch_limit, 588), np.uint8)
        for index, (_, _, image) in enumerate(images):
            patches[index, : len(image.patches)] = image.patches
        yield Batch(
            ids,
            weights,
            segments,
            patches,
            np.array([image.grid for _, _, image in images], np.int32).reshape(-1, 2),
            np.array([[row, start] for row, start, _ in images], np.int32).reshape(-1, 2),
            tuple(tuple(names) for names in families),
        )
