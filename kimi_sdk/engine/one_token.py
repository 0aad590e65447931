"""The experts of one token in fp32 on a CPU: choices and weights as plain numbers, sums inside the products.

Computes what ``moe.LatentMoE`` computes, in half the operations; knows its laid-out matrices and no names.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kimi_sdk.engine.activation import ScaledGated
from kimi_sdk.engine.norm import ScaledNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class OneToken:
    """A block's matrices, all [inputs, outputs] fp32; d wide, L inside.

    Attributes:
        router: [d, E]; ``bias`` [E] counts in the choice only.
        top_k: experts a token; their weights are scores, shared out to a sum of 1 if ``renormalize``, times
            ``scaling``.
        entry: [d, L + shared], what the experts read and what the shared expert's activation reads.
        experts: of each, [L, 2I] and [I, L].
        leave: [L, d], after ``norm``.
        shared: the shared expert's activation and its last matrix.
    """

    router: Tensor
    bias: Tensor | None
    top_k: int
    renormalize: bool
    scaling: float
    entry: Tensor
    experts: list[tuple[Tensor, Tensor]]
    activation: ScaledGated
    norm: ScaledNorm
    leave: Tensor
    shared: tuple[ScaledGated, Tensor]

    def route(self, hidden: Tensor) -> list[tuple[int, float]]:
        """[1, d] -> the chosen experts and their weights; ties go to the lowest index."""
        scores = torch.sigmoid(torch.mm(hidden, self.router))
        values: list[float] = scores.tolist()[0]
        ranked = values if self.bias is None else (scores + self.bias).tolist()[0]
        chosen = sorted(range(len(ranked)), key=ranked.__getitem__, reverse=True)[: self.top_k]
        total = sum(values[expert] for expert in chosen) + 1e-20 if self.renormalize else 1.0
        return [(expert, values[expert] / total * self.scaling) for expert in chosen]

    def __call__(self, hidden: Tensor) -> Tensor:
        """[1, d] -> [1, d]."""
        chosen = self.route(hidden)
        joined = torch.mm(hidden, self.entry)
        inner = self.leave.shape[0]
        latent = joined.narrow(1, 0, inner)
        both = torch.cat([torch.mm(latent, self.experts[expert][0]) for expert, _ in chosen])
        rows = self.activation(both).split_with_sizes([1] * len(chosen))
        routed: Tensor | None = None
        for (expert, weight), row in zip(chosen, rows, strict=True):
            if routed is None:
                routed = torch.addmm(latent, row, self.experts[expert][1], beta=0, alpha=weight)
            else:
                routed.addmm_(row, self.experts[expert][1], alpha=weight)
        assert routed is not None, "a token has experts"
        out = torch.mm(self.norm(routed), self.leave)
        activation, last = self.shared
        return out.addmm_(activation(joined.narrow(1, inner, joined.shape[1] - inner)), last)
