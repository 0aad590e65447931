"""Gated multi-head latent attention without positions: plain over expanded keys, or absorbed over latents.

Knows the layer's weights by their checkpoint names and the cached row (latent, then the shared key part);
leaves pages to ``pages`` and who attends to what to ``batch``.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from kimi_sdk.engine.config import TextConfig
from kimi_sdk.engine.linear import Linear, Merged
from kimi_sdk.engine.norm import RMSNorm


class Projected(NamedTuple):
    """What the core of an MLA layer reads; N tokens, H heads."""

    q: Tensor
    """[N, H, nope + rope]."""
    rows: Tensor
    """[N, kv_lora + rope], what the cache keeps: the normed latent, then the raw shared key part."""
    z: Tensor | None
    """[N, H * v] output gate before its sigmoid, None without a gate."""


def hiding(visible: Tensor) -> Tensor:
    """Bool "may attend" -> fp32 to add to scores: 0 or -inf."""
    return torch.zeros(visible.shape, device=visible.device).masked_fill_(~visible, float("-inf"))


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: Tensor | float) -> Tensor:
    """Softmax attention in fp32 over batched heads.

    Args:
        q: [B, M, D].
        k: [B, T, D].
        v: [B, T, E].
        mask: added to the scores, broadcastable to [B, M, T]; None sees everything.
        scale: factor of the scores.

    Returns:
        [B, M, E] fp32.
    """
    scores = torch.bmm(q.float() * scale, k.float().transpose(1, 2))
    if mask is not None:
        scores = scores + mask
    return torch.bmm(torch.softmax(scores, dim=-1), v.float())


class MLA(nn.Module):
    """One full-attention layer, written as project -> core -> finish so that training may swap the core."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        shape = config.attention
        d, heads = config.hidden, shape.heads
        self.heads, self.nope, self.rope, self.v_dim = heads, shape.nope_dim, shape.rope_dim, shape.v_dim
        self.latent, self.scale = shape.kv_lora_rank, shape.qk_dim**-0.5
        if shape.q_lora_rank is None:
            self.q_proj = Linear(d, heads * shape.qk_dim)
            first = self.q_proj
        else:
            self.q_a_proj = Linear(d, shape.q_lora_rank)
            self.q_a_layernorm = RMSNorm(shape.q_lora_rank, config.lora_eps)
            self.q_b_proj = Linear(shape.q_lora_rank, heads * shape.qk_dim)
            self.q_entry = Merged((self.q_b_proj,))
            first = self.q_a_proj
        self.low_rank_q = shape.q_lora_rank is not None
        self.kv_a_proj_with_mqa = Linear(d, shape.row)
        self.kv_a_layernorm = RMSNorm(shape.kv_lora_rank, config.lora_eps)
        self.kv_b_proj = Linear(shape.kv_lora_rank, heads * (shape.nope_dim + shape.v_dim))
        self.o_proj = Linear(heads * shape.v_dim, d)
        parts = [first, self.kv_a_proj_with_mqa]
        if shape.output_gate:
            self.g_proj = Linear(d, heads * shape.v_dim)
            parts.append(self.g_proj)
        self.gated = shape.output_gate
        self.entry = Merged(parts)
        self.exit = Merged((self.o_proj,))
        self.ready: tuple[Tensor, Tensor] | None = None
        self.factor: Tensor | float = self.scale

    def fuse(self) -> None:
        """Lays the weights out for inference."""
        for product in self._products():
            product.fuse()
        for norm in self._norms():
            norm.fuse()
        w_k, w_v = self.kv_heads()
        self.ready = (w_k.detach().contiguous(), w_v.detach().transpose(1, 2).contiguous())
        self.factor = torch.tensor(self.scale, device=w_k.device)

    def unfuse(self) -> None:
        """Takes ``fuse`` back."""
        for product in self._products():
            product.unfuse()
        for norm in self._norms():
            norm.unfuse()
        self.ready, self.factor = None, self.scale

    def _products(self) -> tuple[Merged, ...]:
        return (self.entry, self.q_entry, self.exit) if self.low_rank_q else (self.entry, self.exit)

    def _norms(self) -> tuple[RMSNorm, ...]:
        return (self.q_a_layernorm, self.kv_a_layernorm) if self.low_rank_q else (self.kv_a_layernorm,)

    def project(self, hidden: Tensor) -> Projected:
        """[N, d] -> queries, cache rows and gate."""
        parts = self.entry(hidden)
        q, compressed = parts[0], parts[1]
        if self.low_rank_q:
            q = self.q_entry.joined(self.q_a_layernorm.forward(q))
        latent, shared = torch.split_with_sizes(compressed, (self.latent, self.rope), dim=-1)
        rows = torch.cat((self.kv_a_layernorm.forward(latent), shared), dim=-1)
        return Projected(
            q.reshape(-1, self.heads, self.nope + self.rope), rows, parts[2] if self.gated else None
        )

    def expand(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Cache rows [T, kv_lora + rope] -> k [T, H, nope + rope] and v [T, H, v]."""
        latent, shared = torch.split_with_sizes(rows, (self.latent, self.rope), dim=-1)
        both = self.kv_b_proj.forward(latent).view(-1, self.heads, self.nope + self.v_dim)
        k, v = torch.split_with_sizes(both, (self.nope, self.v_dim), dim=-1)
        return torch.cat((k, shared.unsqueeze(-2).expand(*k.shape[:-1], -1)), dim=-1), v

    def plain(self, q: Tensor, rows: Tensor, mask: Tensor | None) -> Tensor:
        """Attention over expanded keys and values of one sequence.

        Args:
            q: [n, H, nope + rope].
            rows: [T, kv_lora + rope].
            mask: [n, T] from ``hiding``; None sees everything.

        Returns:
            [n, H, v] in q's dtype.
        """
        k, v = self.expand(rows)
        # Heads of one width take PyTorch's blockwise kernel, which never holds all scores at once.
        missing = max(0, self.nope + self.rope - self.v_dim)
        q, k, v = (part.transpose(0, 1).unsqueeze(0) for part in (q, k, functional.pad(v, (0, missing))))
        mask = None if mask is None else mask.to(q.dtype)
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=self.scale)
        return out.squeeze(0).transpose(0, 1)[..., : self.v_dim]

    def absorbed(self, q: Tensor, rows: Tensor, mask: Tensor | None) -> Tensor:
        """The same attention without expanding a key: queries enter the latent space and values leave it.

        Args:
            q: [S, n, H, nope + rope], n queries of each of S sequences.
            rows: [S, T, kv_lora + rope].
            mask: [S, n or 1, T] from ``hiding``; None sees everything.

        Returns:
            [S, n, H, v] in q's dtype.
        """
        count, n = q.shape[:2]
        w_k, w_v = self.kv_heads() if self.ready is None else self.ready
        if self.ready is None:
            w_v = w_v.transpose(1, 2)
        by_head = q.reshape(count * n, self.heads, -1).transpose(0, 1)
        inward = torch.bmm(by_head[..., : self.nope].to(w_k.dtype), w_k)
        queries = torch.cat((inward, by_head[..., self.nope :]), dim=-1).transpose(0, 1)
        queries = queries.reshape(count, n * self.heads, -1)
        if mask is not None and n > 1:
            mask = mask.unsqueeze(2).expand(-1, n, self.heads, -1).flatten(1, 2)
        read = attend(queries, rows, rows[..., : self.latent], mask, self.factor)
        outward = read.view(count * n, self.heads, self.latent).transpose(0, 1).to(w_v.dtype)
        out = torch.bmm(outward, w_v).transpose(0, 1)
        return out.reshape(count, n, self.heads, self.v_dim).to(q.dtype)

    def prefers_absorbed(self, new: int, total: int) -> bool:
        """Whether few enough tokens read so many rows that expanding those would cost more."""
        expand = total * self.latent * (self.nope + self.v_dim)
        plain = new * total * (self.nope + self.rope + self.v_dim)
        return new * total * (2 * self.latent + self.rope) < expand + plain and new < total

    def kv_heads(self) -> tuple[Tensor, Tensor]:
        """``kv_b_proj`` per head: keys [H, nope, kv_lora] and values [H, v, kv_lora]."""
        per_head = self.kv_b_proj.weight.view(self.heads, self.nope + self.v_dim, self.latent)
        w_k, w_v = torch.split_with_sizes(per_head, (self.nope, self.v_dim), dim=1)
        return w_k, w_v

    def finish(self, o: Tensor, z: Tensor | None) -> Tensor:
        """o [N, H, v] and the gate -> [N, d]."""
        flat = o.flatten(-2)
        return self.exit.joined(flat if z is None else flat * torch.sigmoid(z))
