"""Feed-forwards: the dense gated MLP, and routed experts behind a latent with a shared expert beside them.

Knows routing (fp32, bias for selection only) and grouping tokens by expert; leaves norms and residuals to the
decoder, packing to ``mxfp4``.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from kimi_sdk.engine.activation import Gated, ScaledGated
from kimi_sdk.engine.config import TextConfig
from kimi_sdk.engine.keys import GROUP
from kimi_sdk.engine.linear import Linear, Merged
from kimi_sdk.engine.mxfp4 import unpack
from kimi_sdk.engine.norm import RMSNorm
from kimi_sdk.engine.one_token import OneToken


class MLP(nn.Module):
    """``down(act(gate x, up x))``; the dense layers and the shared experts."""

    def __init__(self, hidden: int, width: int, activation: Gated) -> None:
        super().__init__()
        self.gate_proj = Linear(hidden, width)
        self.up_proj = Linear(hidden, width)
        self.down_proj = Linear(width, hidden)
        self.activation = activation
        self.entry = Merged((self.gate_proj, self.up_proj))
        self.exit = Merged((self.down_proj,))
        self.scaled: ScaledGated | None = None

    def fuse(self) -> None:
        """Lays the weights out for inference."""
        self.entry.fuse()
        self.fuse_exit()

    def fuse_exit(self) -> None:
        """``fuse`` for a caller that computes gate and up in a product of its own."""
        self.exit.fuse()
        width, weight = self.down_proj.weight.shape[1], self.down_proj.weight
        self.scaled = ScaledGated(self.activation, width, weight.device) if _is_fp32(weight) else None

    def unfuse(self) -> None:
        """Takes ``fuse`` back."""
        self.entry.unfuse()
        self.exit.unfuse()
        self.scaled = None

    def forward(self, hidden: Tensor) -> Tensor:
        """[N, d] -> [N, d]."""
        return self.leave(self.entry.joined(hidden))

    def leave(self, both: Tensor) -> Tensor:
        """Gate and up side by side [N, 2 * width] -> [N, d]."""
        if self.scaled is not None:
            return self.exit.joined(self.scaled(both))
        gate, up = both.chunk(2, dim=-1)
        return self.exit.joined(self.activation(gate, up))


def _is_fp32(weight: Tensor) -> bool:
    return weight.dtype == torch.float32


class Router(nn.Module):
    """``weight`` [experts, d] and, for noaux_tc, ``e_score_correction_bias`` [experts] (always fp32)."""

    def __init__(self, hidden: int, experts: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(experts, hidden))
        self.e_score_correction_bias = (
            nn.Parameter(torch.empty(experts, dtype=torch.float32)) if bias else None
        )


class PackedStack(nn.Module):
    """All routed experts of a layer as MXFP4: bytes and scales, an eighth of fp32 and a quarter of bf16.

    ``w13_packed`` [E, 2I, L/2], ``w13_scale`` [E, 2I, L/32], ``w2_packed`` [E, L, I/2], ``w2_scale``
    [E, L, I/32], all uint8: the files' own bytes.
    """

    def __init__(self, experts: int, latent: int, width: int, device: torch.device) -> None:
        super().__init__()
        for name, rows, columns in (("w13", 2 * width, latent), ("w2", latent, width)):
            for part, size in (("packed", columns // 2), ("scale", columns // GROUP)):
                empty = torch.empty(experts, rows, size, dtype=torch.uint8, device=device)
                self.register_buffer(f"{name}_{part}", empty)

    def stack(self, matrix: str, part: str) -> Tensor:
        """``w13`` or ``w2``, ``packed`` or ``scale``."""
        return self.get_buffer(f"{matrix}_{part}")

    def weight(self, matrix: str, expert: int, dtype: torch.dtype) -> Tensor:
        """One expert's matrix [rows, columns], unpacked for the product that asks for it."""
        return unpack(self.stack(matrix, "packed")[expert], self.stack(matrix, "scale")[expert], dtype)


class Experts(nn.Module):
    """All routed experts stacked: ``w13`` [E, 2I, L] (gate rows, then up rows) and ``w2`` [E, L, I].

    The file names each expert's matrices apart, possibly packed as MXFP4; ``checkpoint`` converts. ``packed``
    keeps the bytes that were read, so that saving unchanged weights gives the same bytes. After
    ``keep_packed`` there are no such parameters: ``store`` holds the bytes alone, and each product unpacks
    the experts that it uses.
    """

    def __init__(self, experts: int, latent: int, width: int, activation: Gated, *, quantized: bool) -> None:
        super().__init__()
        self.count, self.latent, self.width = experts, latent, width
        self.w13 = nn.Parameter(torch.empty(experts, 2 * width, latent))
        self.w2 = nn.Parameter(torch.empty(experts, latent, width))
        self.activation = activation
        self.quantized = quantized
        self.packed: dict[str, tuple[Tensor, Tensor]] = {}
        self.store: PackedStack | None = None
        self.scaled: ScaledGated | None = None
        self.ready: list[tuple[Tensor, Tensor]] | None = None

    def keep_packed(self, device: torch.device) -> PackedStack:
        """Gives up ``w13`` and ``w2`` for packed bytes, unset, on a device."""
        assert self.quantized, "only MXFP4 experts have packed bytes"
        del self.w13, self.w2
        self.store = PackedStack(self.count, self.latent, self.width, device)
        return self.store

    def fuse(self) -> None:
        """Stores every expert transposed, with the parameters as views; packed bytes stay as they are."""
        if self.store is not None:
            return
        width = self.w2.shape[2]
        first = self.w13.detach().transpose(1, 2).contiguous()
        second = self.w2.detach().transpose(1, 2).contiguous()
        self.w13 = nn.Parameter(first.transpose(1, 2), requires_grad=False)
        self.w2 = nn.Parameter(second.transpose(1, 2), requires_grad=False)
        self.ready = list(zip(first.unbind(), second.unbind(), strict=True))
        self.scaled = ScaledGated(self.activation, width, first.device) if _is_fp32(first) else None

    def unfuse(self) -> None:
        """Takes ``fuse`` back."""
        if self.ready is None:
            return
        self.ready = self.scaled = None
        self.w13 = nn.Parameter(self.w13.detach().contiguous())
        self.w2 = nn.Parameter(self.w2.detach().contiguous())

    def forward(self, latent: Tensor, expert_ids: Tensor, expert_weights: Tensor) -> Tensor:
        """Weighted sum of the chosen experts' outputs.

        Args:
            latent: [N, L].
            expert_ids: [N, k] int64.
            expert_weights: [N, k] fp32.

        Returns:
            [N, L] in the latent's dtype; weights apply to outputs, the sum is fp32.
        """
        tokens, k = expert_ids.shape
        if tokens == 1:
            outputs = self._grouped(latent.expand(k, -1), expert_ids.flatten().tolist(), [1] * k)
            return torch.mm(expert_weights, outputs.float()).to(latent.dtype)
        order, used, counts = _by_expert(expert_ids, self.count)
        owners = order // k
        outputs = self._grouped(latent[owners], used, counts).float()
        weighted = outputs * expert_weights.flatten()[order].unsqueeze(-1)
        total = torch.zeros(latent.shape, device=latent.device)
        return total.index_add(0, owners, weighted).to(latent.dtype)

    def _grouped(self, rows: Tensor, experts: list[int], counts: list[int]) -> Tensor:
        """[P, L] rows sorted by expert -> [P, L] outputs, one product per used expert."""
        both = self._products(rows, experts, counts, 0)
        if self.scaled is not None:
            inner = self.scaled(both)
        else:
            gate, up = both.chunk(2, dim=-1)
            inner = self.activation(gate, up)
        return self._products(inner, experts, counts, 1)

    def _products(self, rows: Tensor, experts: list[int], counts: list[int], which: int) -> Tensor:
        parts = torch.split_with_sizes(rows, counts)
        if self.ready is not None:
            ready = self.ready
            return torch.cat(
                [torch.mm(part, ready[expert][which]) for expert, part in zip(experts, parts, strict=True)]
            )
        if self.store is not None:
            store, matrix = self.store, "w2" if which else "w13"
            return torch.cat(
                [
                    torch.mm(part, store.weight(matrix, expert, part.dtype).t())
                    for expert, part in zip(experts, parts, strict=True)
                ]
            )
        stack = self.w2 if which else self.w13
        return torch.cat(
            [torch.mm(part, stack[expert].t()) for expert, part in zip(experts, parts, strict=True)]
        )


def _by_expert(expert_ids: Tensor, experts: int) -> tuple[Tensor, list[int], list[int]]:
    """Choices [N, k] -> their order by expert [N * k], the used experts and how often each is used."""
    flat = expert_ids.flatten()
    order = torch.argsort(flat, stable=True)
    if len(flat) > experts * 4:
        counts = torch.bincount(flat, minlength=experts).tolist()
    else:
        counts = [0] * experts
        for expert in flat.tolist():
            counts[expert] += 1
    used = [expert for expert, rows in enumerate(counts) if rows]
    return order, used, [counts[expert] for expert in used]


class LatentMoE(nn.Module):
    """Router, latent projections, routed experts, norm after their sum, shared expert on the full width."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        moe = config.moe
        assert moe is not None, "a config without experts builds no LatentMoE"
        activation = Gated.of(config)
        inner = moe.latent or config.hidden
        self.top_k, self.renormalize, self.scaling = moe.top_k, moe.renormalize, moe.scaling
        self.gate = Router(config.hidden, moe.experts, moe.bias)
        self.experts = Experts(moe.experts, inner, moe.width, activation, quantized=config.quantized)
        self.routed_expert_down_proj = Linear(config.hidden, inner) if moe.latent else None
        self.routed_expert_up_proj = Linear(inner, config.hidden) if moe.latent else None
        self.routed_expert_norm = RMSNorm(inner, config.eps) if moe.latent_norm else None
        width = moe.width * moe.shared
        self.shared_experts = MLP(config.hidden, width, activation) if width else None
        readers = [self.routed_expert_down_proj] if self.routed_expert_down_proj else []
        if self.shared_experts is not None:
            readers += [self.shared_experts.gate_proj, self.shared_experts.up_proj]
        self.entry = Merged(readers)
        self.exit = Merged((self.routed_expert_up_proj,) if self.routed_expert_up_proj else ())
        self.ready: tuple[Tensor, Tensor | None] | None = None
        self.single: OneToken | None = None

    def fuse(self) -> None:
        """Lays the weights out for inference: one product enters, router aside."""
        self.experts.fuse()
        if self.shared_experts is not None:
            self.shared_experts.fuse_exit()
        if self.routed_expert_norm is not None:
            self.routed_expert_norm.fuse()
        self.entry.fuse()
        self.exit.fuse()
        bias = self.gate.e_score_correction_bias
        self.ready = (self.gate.weight.detach().float().t(), None if bias is None else bias.detach())
        self.single = self._single()

    def _single(self) -> OneToken | None:
        """The form for one token, if every part that it needs is there and numbers cost less than tensors."""
        experts, shared, norm = self.experts, self.shared_experts, self.routed_expert_norm
        if experts.ready is None or experts.scaled is None or self.ready is None:
            return None
        if (
            shared is None
            or shared.scaled is None
            or shared.exit.stored is None
            or norm is None
            or norm.scaled is None
        ):
            return None
        if self.entry.stored is None or self.exit.stored is None or self.entry.stored.device.type != "cpu":
            return None
        return OneToken(
            router=self.ready[0],
            bias=self.ready[1],
            top_k=self.top_k,
            renormalize=self.renormalize,
            scaling=self.scaling,
            entry=self.entry.stored,
            experts=experts.ready,
            activation=experts.scaled,
            norm=norm.scaled,
            leave=self.exit.stored,
            shared=(shared.scaled, shared.exit.stored),
        )

    def unfuse(self) -> None:
        """Takes ``fuse`` back."""
        self.experts.unfuse()
        self.entry.unfuse()
        self.exit.unfuse()
        if self.shared_experts is not None:
            self.shared_experts.unfuse()
        if self.routed_expert_norm is not None:
            self.routed_expert_norm.unfuse()
        self.ready = self.single = None

    def route(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Chooses experts in fp32 whatever the hidden's dtype.

        Args:
            hidden: [N, d].

        Returns:
            ``expert_ids`` [N, k] int64 (ties go to the lowest index) and ``expert_weights`` [N, k] fp32.
        """
        if self.ready is not None:
            weight, bias = self.ready
            scores = torch.sigmoid(torch.mm(hidden.float(), weight))
            ranked = scores if bias is None else scores + bias
        else:
            with torch.autocast(hidden.device.type, enabled=False):
                scores = torch.sigmoid(functional.linear(hidden.float(), self.gate.weight.float()))
            bias = self.gate.e_score_correction_bias
            ranked = scores.detach() if bias is None else scores.detach() + bias.detach()
        expert_ids = torch.sort(ranked, dim=-1, descending=True, stable=True).indices[:, : self.top_k]
        weights = scores.gather(-1, expert_ids)
        if self.renormalize:
            weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
        return expert_ids, weights if self.scaling == 1 else weights * self.scaling

    def enter(self, hidden: Tensor) -> Tensor:
        """[N, d] -> what the experts read, [N, latent] (or the hidden itself without a latent)."""
        return (
            hidden if self.routed_expert_down_proj is None else self.routed_expert_down_proj.forward(hidden)
        )

    def finish(self, routed: Tensor, hidden: Tensor) -> Tensor:
        """Norm and up-projection of the experts' sum [N, latent], plus the shared expert's [N, d]."""
        out = self.leave(routed)
        return out if self.shared_experts is None else out + self.shared_experts.forward(hidden)

    def leave(self, routed: Tensor) -> Tensor:
        """Norm and up-projection of the experts' sum, [N, latent] -> [N, d]."""
        if self.routed_expert_norm is not None:
            routed = self.routed_expert_norm.forward(routed)
        return self.exit.joined(routed) if self.exit.parts else routed

    def forward(self, hidden: Tensor) -> Tensor:
        """[N, d] -> [N, d]."""
        if self.single is not None and hidden.shape[0] == 1:
            return self.single(hidden)
        expert_ids, expert_weights = self.route(hidden)
        if self.entry.stored is None:
            routed = self.experts.forward(self.enter(hidden), expert_ids, expert_weights)
            return self.finish(routed, hidden)
        joined = self.entry.joined(hidden)
        inner = self.entry.sizes[0] if self.exit.parts else 0
        latent = joined[:, :inner] if inner else hidden
        out = self.leave(self.experts.forward(latent, expert_ids, expert_weights))
        return out if self.shared_experts is None else out + self.shared_experts.leave(joined[:, inner:])
