"""The decoder's walk: layers with their norms, and the residual stream (attention residuals or plain sums).

Knows the order of things and no cache: whoever walks hands in what attention does, so that the engine and
training share one definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from kimi_sdk.engine.activation import Gated
from kimi_sdk.engine.attn_res import ScaledMix, mix, starts_block
from kimi_sdk.engine.config import TextConfig
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.linear import Linear
from kimi_sdk.engine.mla import MLA
from kimi_sdk.engine.moe import MLP, LatentMoE
from kimi_sdk.engine.norm import RMSNorm

Bank = tuple[Tensor, ...]
"""Snapshots of earlier blocks, each [N, d]."""
Attention = Callable[[int, KDA | MLA, Tensor], Tensor]
"""(layer counted from 0, its module, normed hidden [N, d]) -> [N, d]."""
FeedForward = Callable[[int, MLP | LatentMoE, Tensor], Tensor]
"""(layer counted from 0, its module, normed hidden [N, d]) -> [N, d]."""


class Fusable(Protocol):
    """What lays its weights out for inference and back."""

    def fuse(self) -> None:
        """Readies the constants; called once the weights are final."""

    def unfuse(self) -> None:
        """Takes that back, so that the weights may move or be trained."""


def plain_feed_forward(layer: int, module: MLP | LatentMoE, hidden: Tensor) -> Tensor:
    """The module's own forward."""
    return module.forward(hidden)


class Site:
    """One place where the stream is mixed: the query is norm weight times projection weight, in fp32."""

    def __init__(self, norm: RMSNorm, proj: Linear) -> None:
        self.norm, self.proj = norm, proj
        self.ready: Tensor | None = None
        self.scaled: ScaledMix | None = None

    def fuse(self) -> None:
        """Readies the constants for inference."""
        self.ready = self.query().detach()
        if self.norm.weight.dtype == torch.float32:
            self.scaled = ScaledMix(self.ready, self.norm.eps)

    def unfuse(self) -> None:
        """Goes back to the weights themselves."""
        self.ready = self.scaled = None

    def query(self) -> Tensor:
        """[d] fp32."""
        return self.norm.weight.float() * self.proj.weight.float().squeeze(0)

    def __call__(self, prefix: Tensor, bank: Bank) -> Tensor:
        """[N, d] and snapshots -> [N, d]."""
        if self.scaled is not None:
            return self.scaled(prefix, bank)
        return mix(prefix, bank, self.query() if self.ready is None else self.ready, self.norm.eps)


class DecoderLayer(nn.Module):
    """One layer; its kinds come from the config's lists."""

    def __init__(self, config: TextConfig, index: int) -> None:
        super().__init__()
        d, eps = config.hidden, config.eps
        self.index, self.block = index, config.block
        self.self_attn: KDA | MLA = KDA(config) if config.is_kda(index) else MLA(config)
        self.dense = config.is_dense(index)
        if self.dense:
            self.mlp = MLP(d, config.dense_width, Gated.of(config))
        else:
            self.block_sparse_moe = LatentMoE(config)
        self.input_layernorm = RMSNorm(d, eps)
        self.post_attention_layernorm = RMSNorm(d, eps)
        self.sites: tuple[Site, ...] = ()
        if config.block:
            self.self_attention_res_norm = RMSNorm(d, eps)
            self.self_attention_res_proj = Linear(d, 1)
            self.mlp_res_norm = RMSNorm(d, eps)
            self.mlp_res_proj = Linear(d, 1)
            self.sites = (
                Site(self.self_attention_res_norm, self.self_attention_res_proj),
                Site(self.mlp_res_norm, self.mlp_res_proj),
            )

    def fusable(self) -> tuple[Fusable, ...]:
        """Everything in this layer that has a faster form for inference."""
        norms = (self.input_layernorm, self.post_attention_layernorm)
        return (self.self_attn, self.feed_forward, *norms, *self.sites)

    @property
    def feed_forward(self) -> MLP | LatentMoE:
        """The dense MLP or the experts."""
        return self.mlp if self.dense else self.block_sparse_moe

    def forward(
        self,
        prefix: Tensor,
        bank: Bank,
        attention: Attention,
        feed_forward: FeedForward = plain_feed_forward,
    ) -> tuple[Tensor, Bank]:
        """One layer of the stream.

        Args:
            prefix: [N, d], the running sum (of the present block, or of everything without blocks).
            bank: snapshots of earlier blocks.
            attention: computes this layer's attention from the normed hidden.
            feed_forward: computes its feed-forward.

        Returns:
            The new prefix and bank.
        """
        hidden = self.sites[0](prefix, bank) if self.sites else prefix
        out = attention(self.index, self.self_attn, self.input_layernorm.forward(hidden))
        if self.block and starts_block(self.index, self.block):
            bank, prefix = (*bank, prefix), out
        else:
            prefix = prefix + out
        hidden = self.sites[1](prefix, bank) if self.sites else prefix
        out = feed_forward(self.index, self.feed_forward, self.post_attention_layernorm.forward(hidden))
        return prefix + out, bank


class Embedding(nn.Module):
    """``weight`` [vocab, d]."""

    def __init__(self, vocab: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab, hidden))

    def forward(self, ids: Tensor) -> Tensor:
        """int64 [N] -> [N, d]."""
        return functional.embedding(ids, self.weight)


class Decoder(nn.Module):
    """Embedding, layers and final norm."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        self.embed_tokens = Embedding(config.vocab, config.hidden)
        self.layers = nn.ModuleList(DecoderLayer(config, index) for index in range(config.layers))
        self.norm = RMSNorm(config.hidden, config.eps)
        self.site: Site | None = None
        if config.block:
            self.output_attn_res_norm = RMSNorm(config.hidden, config.eps)
            self.output_attn_res_proj = Linear(config.hidden, 1)
            self.site = Site(self.output_attn_res_norm, self.output_attn_res_proj)
        self.order: tuple[DecoderLayer, ...] = tuple(
            layer for layer in self.layers if isinstance(layer, DecoderLayer)
        )

    def forward(
        self, hidden: Tensor, attention: Attention, feed_forward: FeedForward = plain_feed_forward
    ) -> Tensor:
        """Embedded tokens [N, d] -> normed hidden [N, d], ready for the head."""
        prefix = hidden
        bank: Bank = ()
        for layer in self.order:
            prefix, bank = layer.forward(prefix, bank, attention, feed_forward)
        return self.finish(prefix, bank)

    def finish(self, prefix: Tensor, bank: Bank) -> Tensor:
        """The last mix and norm, [N, d] -> [N, d]."""
        return self.norm.forward(self.site(prefix, bank) if self.site else prefix)

    def fusable(self) -> list[Fusable]:
        """Everything in the decoder that has a faster form for inference."""
        last: list[Fusable] = [self.norm] + ([self.site] if self.site else [])
        return [part for layer in self.order for part in layer.fusable()] + last
