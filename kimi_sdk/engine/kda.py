"""Kimi Delta Attention: projections, short convolution, gates, and its output norm around the delta rule.

Knows the layer's weights by their checkpoint names and the slot state; the rule itself is in ``delta_rule``.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from kimi_sdk.engine.config import TextConfig
from kimi_sdk.engine.linear import Linear, Merged
from kimi_sdk.engine.norm import ScaledNorm, l2_norm, unit_rms


class Projected(NamedTuple):
    """What the core of a KDA layer reads; N tokens, H heads of D channels."""

    qkv: Tensor
    """[N, 3*H*D], before the convolution."""
    u: Tensor
    """[N, H, D], input of the decay."""
    beta: Tensor
    """[N, H] logits."""
    z: Tensor
    """[N, H, D], output gate before its sigmoid."""


def short_conv(padded: Tensor, taps: Tensor) -> Tensor:
    """Causal depthwise convolution and SiLU, in fp32.

    Args:
        padded: [..., T + W - 1, channels]: W - 1 earlier inputs (zeros before a sequence), then T new ones.
        taps: [W, channels] fp32; the last row multiplies the present token.

    Returns:
        [..., T, channels] fp32.
    """
    width = taps.shape[0]
    length = padded.shape[-2] - width + 1
    wide = padded.float()
    if length == 1:
        return functional.silu((wide * taps).sum(dim=-2, keepdim=True))
    total = wide[..., :length, :] * taps[0]
    for tap in range(1, width):
        total = torch.addcmul(total, wide[..., tap : tap + length, :], taps[tap])
    return functional.silu(total)


def log_decay(u: Tensor, rate: Tensor, dt_bias: Tensor, lower_bound: float | None) -> Tensor:
    """Log of the decay factor per channel, fp32.

    Args:
        u: [..., H, D].
        rate: [H] fp32, ``exp(A_log)``.
        dt_bias: [H, D] fp32.
        lower_bound: K3's -5: ``bound * sigmoid(rate (u + dt))``; None as in Kimi-Linear:
            ``-rate softplus(u + dt)``.
    """
    shifted = u.float() + dt_bias
    if lower_bound is None:
        return functional.softplus(shifted) * -rate.unsqueeze(-1)
    return torch.sigmoid(shifted * rate.unsqueeze(-1)) * lower_bound


def gated_norm(o: Tensor, weight: Tensor, z: Tensor, eps: float) -> Tensor:
    """``rms(o) * weight * sigmoid(z)`` per head in fp32: norm first, gate second; [N, H, D] -> [N, H, D]."""
    return unit_rms(o.float(), eps) * weight.float() * torch.sigmoid(z.float())


class Ready:
    """What a KDA layer computes from its weights once they are final."""

    def __init__(self, layer: KDA) -> None:
        device = layer.A_log.device
        shape = (layer.heads, layer.head_dim)
        rate = layer.rate().detach().unsqueeze(-1)
        self.taps = layer.taps().detach().contiguous()
        self.rate = rate.expand(shape).contiguous()
        self.shift = layer.dt_bias.detach().view(shape) * rate
        self.bound = torch.tensor(layer.lower_bound or 0.0, device=device)
        self.stretch = torch.tensor([layer.head_dim**0.5, 1.0], device=device).view(2, 1, 1)
        self.root = torch.tensor(1e-6, device=device).sqrt()
        self.norm = ScaledNorm(layer.o_norm.weight, layer.eps)


class Conv(nn.Module):
    """``weight`` [channels, 1, W], fp32 on disk and here."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels, 1, width, dtype=torch.float32))


class HeadNorm(nn.Module):
    """``weight`` [D], shared by all heads, fp32 on disk and here."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, dtype=torch.float32))


class KDA(nn.Module):
    """One linear-attention layer, written as project -> core -> finish so that training may swap the core.

    ``A_log`` is stored longer than the heads (the tail is zero and unread), by Kimi-Linear as [1, 1, H, 1].
    """

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        linear = config.linear
        d, width = config.hidden, linear.width
        self.heads, self.head_dim, self.conv_size = linear.heads, linear.head_dim, linear.conv_size
        self.lower_bound, self.eps = linear.gate_lower_bound, config.eps
        self.q_proj, self.k_proj, self.v_proj = (Linear(d, width) for _ in range(3))
        self.q_conv1d, self.k_conv1d, self.v_conv1d = (Conv(width, linear.conv_size) for _ in range(3))
        stored = (max(linear.heads, linear.head_dim),) if config.block else (1, 1, linear.heads, 1)
        self.A_log = nn.Parameter(torch.empty(stored, dtype=torch.float32))
        self.dt_bias = nn.Parameter(torch.empty(width, dtype=torch.float32))
        self.f_a_proj = Linear(d, linear.head_dim)
        self.f_b_proj = Linear(linear.head_dim, width)
        self.b_proj = Linear(d, linear.heads)
        first: tuple[Linear, ...] = (self.q_proj, self.k_proj, self.v_proj, self.f_a_proj, self.b_proj)
        if linear.full_rank_gate:
            self.g_proj = Linear(d, width)
            first = (*first, self.g_proj)
        else:
            self.g_a_proj = Linear(d, linear.head_dim)
            self.g_b_proj = Linear(linear.head_dim, width)
            first = (*first, self.g_a_proj)
        self.full_rank_gate = linear.full_rank_gate
        self.o_norm = HeadNorm(linear.head_dim)
        self.o_proj = Linear(width, d)
        self.entry = Merged(first)
        self.decay_entry = Merged((self.f_b_proj,))
        self.exit = Merged((self.o_proj,))
        self.width = width
        tail = sum(part.weight.shape[0] for part in first) - 3 * width - linear.head_dim - linear.heads
        self.sizes = (3 * width, linear.head_dim, linear.heads, tail)
        self.ready: Ready | None = None

    def fuse(self) -> None:
        """Lays the weights out for inference."""
        for product in (self.entry, self.decay_entry, self.exit):
            product.fuse()
        self.ready = Ready(self)

    def unfuse(self) -> None:
        """Takes ``fuse`` back."""
        for product in (self.entry, self.decay_entry, self.exit):
            product.unfuse()
        self.ready = None

    def project(self, hidden: Tensor) -> Projected:
        """[N, d] -> everything that the core and ``finish`` read."""
        joined = self.entry.joined(hidden)
        qkv, low, beta, z = torch.split_with_sizes(joined, self.sizes, dim=-1)
        if not self.full_rank_gate:
            z = self.g_b_proj.forward(z)
        u = self.decay_entry.joined(low)
        shape = (-1, self.heads, self.head_dim)
        return Projected(qkv, u.view(shape), beta, z.reshape(shape))

    def rate(self) -> Tensor:
        """``exp(A_log)`` of the real heads, [H] fp32."""
        return torch.exp(self.A_log.float().flatten()[: self.heads])

    def decay(self, u: Tensor) -> Tensor:
        """[..., H, D] -> log-decay [..., H, D] fp32; see ``log_decay``."""
        if self.ready is not None and self.lower_bound is not None:
            shifted = torch.addcmul(self.ready.shift, u.float(), self.ready.rate)
            return torch.sigmoid(shifted).mul_(self.ready.bound)
        bias = self.dt_bias.float().view(self.heads, self.head_dim)
        return log_decay(u, self.rate(), bias, self.lower_bound)

    def conv_weight(self) -> Tensor:
        """The three convolutions as one, [3*H*D, 1, W] fp32."""
        return torch.cat((self.q_conv1d.weight, self.k_conv1d.weight, self.v_conv1d.weight)).float()

    def taps(self) -> Tensor:
        """The three convolutions as one, [W, 3*H*D] fp32."""
        return self.conv_weight().squeeze(1).t() if self.ready is None else self.ready.taps

    def heads_of(self, mixed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[N, 3*H*D] after the convolution -> q (unit, scaled), k (unit), v; each [N, H, D] fp32."""
        parts = mixed.float().view(-1, 3, self.heads, self.head_dim)
        if self.ready is not None:
            both = parts.narrow(1, 0, 2)
            lengths = torch.hypot(torch.linalg.vector_norm(both, dim=-1, keepdim=True), self.ready.root)
            q, k = (both / lengths.mul_(self.ready.stretch)).unbind(1)
            return q, k, parts.select(1, 2)
        q, k, v = parts.unbind(1)
        return l2_norm(q) * self.head_dim**-0.5, l2_norm(k), v

    def finish(self, o: Tensor, z: Tensor) -> Tensor:
        """o and z [N, H, D] -> [N, d] in z's dtype."""
        if self.ready is not None:
            gated = self.ready.norm(o.float()).mul_(torch.sigmoid(z.float()))
        else:
            gated = gated_norm(o, self.o_norm.weight, z, self.eps)
        return self.exit.joined(gated.to(z.dtype).flatten(-2))
