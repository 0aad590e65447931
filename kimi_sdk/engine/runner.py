"""One step's forward: chunks of sequences in, logits out.

Knows how a chunk becomes a batch, and where image features go among the embeddings. What runs when is left to
``scheduler.py``, the mathematics to the model.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import TYPE_CHECKING

import torch

from kimi_sdk.engine.batch import Batch, Caches
from kimi_sdk.engine.sequence import Sequence
from kimi_sdk.engine.stats import Meter

if TYPE_CHECKING:
    from kimi_sdk.engine.k3 import K3
    from kimi_sdk.engine.scheduler import Chunk


class Runner:
    """Computes steps on one model and one pair of pools."""

    def __init__(self, model: K3, caches: Caches, meter: Meter) -> None:
        self._model = model
        self._caches = caches
        self._meter = meter
        self._device = model.device

    def run(self, chunks: Many[Chunk]) -> torch.Tensor:
        """Compute the chunks, and write what they leave in the caches.

        Returns:
            fp32 logits ``[ready, vocab]`` behind each chunk that is its sequence's last one, in order.
        """
        with self._meter.forward:
            batch = self._batch(chunks)
            ids = [
                token
                for chunk in chunks
                for token in chunk.sequence.tokens[
                    chunk.sequence.cached : chunk.sequence.cached + chunk.count
                ]
            ]
            hidden = self._model.embed(torch.tensor(ids, device=self._device))
            for chunk, start in zip(chunks, batch.starts, strict=True):
                _place(hidden, start, chunk)
            hidden = self._model.forward(hidden, batch, self._caches)
            rows = [row for chunk, row in zip(chunks, batch.last_rows, strict=True) if chunk.last]
            logits = self._model.logits(hidden if len(rows) == len(hidden) else hidden[rows])
        self._meter.steps += 1
        for chunk in chunks:
            if chunk.count == 1:
                self._meter.decode_tokens += 1
            else:
                self._meter.prefill_tokens += chunk.count
        return logits

    def look(self, sequence: Sequence) -> None:
        """Compute the features of the sequence's images: all of its patches in one pass of the tower."""
        images = sequence.request.images
        if not images:
            return
        with self._meter.vision:
            pixels = torch.cat([span.patches.pixels for span in images]).to(self._device)
            features = self._model.image_features(pixels, [span.patches.grid for span in images])
        assert len(features) == sum(map(len, sequence.places)), "the tower gives one row for each image token"
        sequence.features = features

    def _batch(self, chunks: Many[Chunk]) -> Batch:
        """The chunks' places in the caches."""
        sequences = [chunk.sequence for chunk in chunks]
        return Batch(
            lengths=[chunk.count for chunk in chunks],
            contexts=[sequence.cached for sequence in sequences],
            slots=[sequence.slot for sequence in sequences if sequence.slot is not None],
            pages=[sequence.pages for sequence in sequences],
            device=self._device,
        )


def _place(hidden: torch.Tensor, start: int, chunk: Chunk) -> None:
    """Write the features that fall into the chunk over its rows of ``hidden``, which begin at ``start``."""
    sequence = chunk.sequence
    if sequence.features is None:
        return
    begin, end, row = sequence.cached, sequence.cached + chunk.count, 0
    for place in sequence.places:
        first, last = max(place.start, begin), min(place.stop, end)
        if first < last:
            rows = slice(row + first - place.start, row + last - place.start)
            hidden[start + first - begin : start + last - begin] = sequence.features[rows]
        row += len(place)
    if end >= sequence.places[-1].stop:
        sequence.features = None
