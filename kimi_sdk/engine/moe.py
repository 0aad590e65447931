"""Feed-forwards: the dense gated MLP, and routed experts behind a latent with a shared expert beside them.

Knows routing (fp32, bias for selection only) and grouping tokens by expert; leaves norms and residuals to the
decoder, packing to ``mxfp4``.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from kimi_sdk.engine.activation import Gated
from kimi_sdk.engine.config import TextConfig
from kimi_sdk.engine.linear import Linear, Merged
from kimi_sdk.engine.norm import RMSNorm


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

    def merged(self) -> tuple[Merged, ...]:
        """The products that ``K3.fuse`` may store merged."""
        return (self.entry, self.exit)

    def forward(self, hidden: Tensor) -> Tensor:
        """[N, d] -> [N, d]."""
        gate, up = self.entry(hidden)
        return self.exit.joined(self.activation(gate, up))


class Router(nn.Module):
    """``weight`` [experts, d] and, for noaux_tc, ``e_score_correction_bias`` [experts] (always fp32)."""

    def __init__(self, hidden: int, experts: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(experts, hidden))
        self.e_score_correction_bias = (
            nn.Parameter(torch.empty(experts, dtype=torch.float32)) if bias else None
        )


class Experts(nn.Module):
    """All routed experts stacked: ``w13`` [E, 2I, L] (gate rows, then up rows) and ``w2`` [E, L, I].

    The file names each expert's matrices apart, possibly packed as MXFP4; ``checkpoint`` converts. ``packed``
    keeps the bytes that were read, so that saving unchanged weights gives the same bytes.
    """

    def __init__(self, experts: int, latent: int, width: int, activation: Gated, *, quantized: bool) -> None:
        super().__init__()
        self.w13 = nn.Parameter(torch.empty(experts, 2 * width, latent))
        self.w2 = nn.Parameter(torch.empty(experts, latent, width))
        self.activation = activation
        self.quantized = quantized
        self.packed: dict[str, tuple[Tensor, Tensor]] = {}

    def forward(self, latent: Tensor, expert_ids: Tensor, expert_weights: Tensor) -> Tensor:
        """Weighted sum of the chosen experts' outputs.

        Args:
            latent: [N, L].
            expert_ids: [N, k] int64.
            expert_weights: [N, k] fp32.

        Returns:
            [N, L] in the latent's dtype; weights apply to outputs, the sum is fp32.
        """
        count, k = expert_ids.shape
        flat = expert_ids.flatten()
        if count == 1:
            chosen = flat.tolist()
            out = self._grouped(latent.expand(k, -1), chosen, [1] * k)
            return torch.mm(expert_weights, out.float()).to(latent.dtype)
        order = torch.argsort(flat, stable=True)
        counts = torch.bincount(flat, minlength=self.w13.shape[0]).tolist()
        used = [expert for expert, rows in enumerate(counts) if rows]
        grouped = self._grouped(latent[order // k], used, [counts[expert] for expert in used])
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order), device=order.device)
        outputs = grouped[back].view(count, k, -1).float()
        return torch.bmm(expert_weights.unsqueeze(1), outputs).squeeze(1).to(latent.dtype)

    def _grouped(self, rows: Tensor, experts: list[int], counts: list[int]) -> Tensor:
        """[P, L] rows sorted by expert -> [P, L] outputs, one product per used expert."""
        first = [
            torch.mm(part, self.w13[expert].t())
            for expert, part in zip(experts, torch.split_with_sizes(rows, counts), strict=True)
        ]
        gate, up = torch.cat(first).chunk(2, dim=-1)
        inner = torch.split_with_sizes(self.activation(gate, up), counts)
        return torch.cat(
            [torch.mm(part, self.w2[expert].t()) for expert, part in zip(experts, inner, strict=True)]
        )


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

    def route(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Chooses experts in fp32 whatever the hidden's dtype.

        Args:
            hidden: [N, d].

        Returns:
            ``expert_ids`` [N, k] int64 (ties go to the lowest index) and ``expert_weights`` [N, k] fp32.
        """
        with torch.autocast(hidden.device.type, enabled=False):
            logits = functional.linear(hidden.float(), self.gate.weight.float())
        scores = torch.sigmoid(logits)
        bias = self.gate.e_score_correction_bias
        ranked = scores.detach() if bias is None else scores.detach() + bias.detach()
        expert_ids = torch.sort(ranked, dim=-1, descending=True, stable=True).indices[:, : self.top_k]
        weights = scores.gather(-1, expert_ids)
        if self.renormalize:
            weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
        return expert_ids, weights * self.scaling

    def enter(self, hidden: Tensor) -> Tensor:
        """[N, d] -> what the experts read, [N, latent] (or the hidden itself without a latent)."""
        return (
            hidden if self.routed_expert_down_proj is None else self.routed_expert_down_proj.forward(hidden)
        )

    def finish(self, routed: Tensor, hidden: Tensor) -> Tensor:
        """Norm and up-projection of the experts' sum [N, latent], plus the shared expert's [N, d]."""
        if self.routed_expert_norm is not None:
            routed = self.routed_expert_norm.forward(routed)
        if self.routed_expert_up_proj is not None:
            routed = self.routed_expert_up_proj.forward(routed)
        return routed if self.shared_experts is None else routed + self.shared_experts.forward(hidden)

    def forward(self, hidden: Tensor) -> Tensor:
        """[N, d] -> [N, d]."""
        expert_ids, expert_weights = self.route(hidden)
        return self.finish(self.experts.forward(self.enter(hidden), expert_ids, expert_weights), hidden)
