"""The whole model: decoder, head and vision tower under the checkpoint's tensor names.

Knows how token ids and image features become logits over given caches; leaves scheduling and sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from kimi_sdk.engine.batch import Batch, Caches
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.decoder import Decoder
from kimi_sdk.engine.initial import init_weights
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.linear import Linear
from kimi_sdk.engine.mla import MLA
from kimi_sdk.engine.over_pages import attend_pages
from kimi_sdk.engine.over_slots import attend_slots
from kimi_sdk.engine.pages import PagePool
from kimi_sdk.engine.slots import SlotPool
from kimi_sdk.errors import ConfigError
from kimi_sdk.vision.tower import MoonViT, PatchMerger, features


class LanguageModel(nn.Module):
    """``model`` and, unless the head is the embedding, ``lm_head``."""

    def __init__(self, config: K3Config) -> None:
        super().__init__()
        self.model = Decoder(config.text)
        self.lm_head = None if config.text.tied else Linear(config.text.hidden, config.text.vocab)


class K3(nn.Module):
    """A model of the K3 family (or Kimi-Linear, as a config of the same code).

    Args:
        config: its shape.
        seed: random weights of this seed; None leaves the weights unset for ``checkpoint`` to fill.

    Attributes:
        stored_as: dtypes on disk by tensor name, where files kept another one than ``manifest`` says.
    """

    def __init__(self, config: K3Config, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        self.language_model = LanguageModel(config)
        if config.vision is not None:
            self.vision_tower = MoonViT(config.vision)
            self.mm_projector = PatchMerger(config.vision)
        self._head: Tensor | None = None
        self.stored_as: dict[str, torch.dtype] = {}
        if seed is not None:
            init_weights(self, seed)

    @property
    def decoder(self) -> Decoder:
        """Embedding, layers and final norm."""
        return self.language_model.model

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.decoder.embed_tokens.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """What the stream is computed in."""
        return self.decoder.embed_tokens.weight.dtype

    def caches(self, *, slots: int, pages: int) -> Caches:
        """Empty pools of these sizes on the model's device.

        Args:
            slots: sequences that can be in flight.
            pages: pages of 64 tokens, shared by all of them.
        """
        place: dict[str, Any] = {"device": self.device, "dtype": self.dtype}
        return Caches(SlotPool(self.config, slots, **place), PagePool(self.config, pages, **place))

    def embed(self, ids: Tensor) -> Tensor:
        """int64 [N] -> [N, d]."""
        return self.decoder.embed_tokens.forward(ids)

    def image_features(self, patches: Tensor, grids: Sequence[tuple[int, int, int]]) -> Tensor:
        """Patches [n, 3, 14, 14] of several images and their (t, h, w) grids -> [tokens, d], in order.

        Raises:
            ConfigError: the model has no vision tower.
        """
        if self.config.vision is None:
            raise ConfigError("this model has no vision tower: it cannot look at images")
        return features(self.vision_tower, self.mm_projector, patches.to(self.device, self.dtype), grids)

    def forward(self, hidden: Tensor, batch: Batch, caches: Caches) -> Tensor:
        """Runs the decoder over a batch and writes its caches.

        Args:
            hidden: [N, d], embedded tokens (image features already in place).
            batch: which rows belong to which sequence.
            caches: the pools that the batch's slots and pages index.

        Returns:
            [N, d] after the last mix and norm: rows for ``logits``.
        """
        slots, pages = caches.slots, caches.pages

        def attention(index: int, layer: KDA | MLA, normed: Tensor) -> Tensor:
            if isinstance(layer, KDA):
                return attend_slots(layer, normed, batch, slots.recurrent[index], slots.conv[index])
            return attend_pages(layer, normed, batch, pages.rows[index])

        return self.decoder.forward(hidden, attention)

    def logits(self, hidden: Tensor) -> Tensor:
        """[M, d] rows of ``forward`` -> [M, vocab] fp32."""
        if self._head is not None:
            return torch.mm(hidden, self._head).float()
        head = self.language_model.lm_head or self.decoder.embed_tokens
        return functional.linear(hidden, head.weight).float()

    def fuse(self) -> K3:
        """Lays the final weights out for fast inference; saving still sees every tensor."""
        for part in self.decoder.fusable():
            part.fuse()
        head = self.language_model.lm_head or self.decoder.embed_tokens
        self._head = head.weight.detach().t().contiguous()
        return self.requires_grad_(False)

    def unfuse(self) -> K3:
        """Takes ``fuse`` back, so that weights may move or be trained."""
        for part in self.decoder.fusable():
            part.unfuse()
        self._head = None
        return self.requires_grad_(True)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> K3:
        fused = self._head is not None
        if fused:
            self.unfuse()
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self.fuse() if fused else self
