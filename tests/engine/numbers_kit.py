"""Layers of random models, the tensors that their references read, and one sequence through a layer."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from engine_models import caches_for, distance, on_disk_float64
from numpy.typing import NDArray
from reference_k3 import under
from torch import Tensor

from kimi_sdk.engine.batch import Batch
from kimi_sdk.engine.decoder import DecoderLayer
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.manifest import pinned_names
from kimi_sdk.engine.mla import MLA
from kimi_sdk.engine.over_pages import attend_pages
from kimi_sdk.engine.over_slots import attend_slots

Weights = dict[str, NDArray[np.float64]]


LIMIT = 2e-6
"""Relative L2 of an fp32 layer to its float64 equations."""


def hold(name: str, found: Tensor, wanted: Any, limit: float = LIMIT) -> None:
    """Writes the distance (pytest shows it with -rP) and holds it."""
    error = distance(found, wanted)
    sys.stdout.write(f"{name}: relative L2 {error:.1e}\n")
    assert torch.isfinite(found).all()
    assert error <= limit


def text_of(raw: dict[str, Any]) -> dict[str, Any]:
    """The part of a config that the decoder's references read."""
    return dict(raw.get("text_config", raw))


def layer_weights(model: K3, index: int) -> Weights:
    """One layer's tensors by their names on disk, without the part that all of them share."""
    tensors = {name.removeprefix("language_model."): w for name, w in on_disk_float64(model).items()}
    return under(tensors, f"model.layers.{index}.")


def rows(count: int, width: int, seed: int = 0, size: float = 1.0) -> Tensor:
    """Random fp32 rows whose values bf16 holds too."""
    noise = torch.randn(count, width, generator=torch.Generator().manual_seed(seed))
    return (size * noise).bfloat16().float()


def attend(model: K3, index: int, hidden: Tensor, splits: list[int]) -> Tensor:
    """One sequence through a layer's attention over fresh caches, cut into pieces."""
    return Walk(model, len(hidden)).attend(model.decoder.order[index], hidden, splits)


class Walk:
    """One sequence's caches."""

    def __init__(self, model: K3, tokens: int) -> None:
        self.caches = model.caches(slots=1, pages=caches_for(tokens))
        self.pages = list(range(caches_for(tokens)))

    @torch.inference_mode()
    def attend(self, layer: DecoderLayer, hidden: Tensor, splits: list[int]) -> Tensor:
        """The layer's attention of [T, d], as the engine computes it piece by piece."""
        assert sum(splits) == len(hidden)
        index, module, parts, start = layer.index, layer.self_attn, [], 0
        for size in splits:
            batch = Batch(lengths=[size], contexts=[start], slots=[0], pages=[self.pages])
            piece = hidden[start : start + size]
            if isinstance(module, KDA):
                slots = self.caches.slots
                parts.append(attend_slots(module, piece, batch, slots.recurrent[index], slots.conv[index]))
            else:
                parts.append(attend_pages(module, piece, batch, self.caches.pages.rows[index]))
            start += size
        return torch.cat(parts)

    @torch.inference_mode()
    def layer(
        self, layer: DecoderLayer, prefix: Tensor, bank: tuple[Tensor, ...], splits: list[int]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """A whole layer of the stream."""

        def attention(_: int, __: KDA | MLA, normed: Tensor) -> Tensor:
            return self.attend(layer, normed, splits)

        return layer.forward(prefix, bank, attention)


def lower(model: K3, dtype: torch.dtype = torch.bfloat16) -> K3:
    """The model with every tensor that is not pinned to fp32 in this dtype."""
    pinned = pinned_names(model)
    for name, parameter in model.named_parameters():
        if name not in pinned:
            parameter.data = parameter.data.to(dtype)
    return model
