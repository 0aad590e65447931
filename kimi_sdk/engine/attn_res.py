"""Attention residuals: each sublayer reads a softmax mix of earlier blocks' sums instead of one running sum.

Knows the mix and when a block restarts; leaves what the sublayers do to the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kimi_sdk.engine.norm import unit_rms


def mix(prefix: Tensor, bank: Sequence[Tensor], query: Tensor, eps: float) -> Tensor:
    """One mix over the snapshots and the running prefix.

    Args:
        prefix: [N, d], the running sum of the present block; the last source.
        bank: snapshots of earlier blocks, each [N, d]; with none the prefix itself is returned.
        query: [d] fp32, norm weight times projection weight.
        eps: of the sources' RMS norm.

    Returns:
        [N, d] in the prefix's dtype: the raw sources weighted by ``softmax_j(sum(rms(v_j) * query))``.
    """
    if not bank:
        return prefix
    sources = torch.stack([*bank, prefix], dim=1).float()
    scores = torch.matmul(unit_rms(sources, eps), query)
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights.unsqueeze(1), sources).squeeze(1).to(prefix.dtype)


class ScaledMix:
    """``mix`` in fp32 with its constants ready, in as few passes as the weights allow."""

    def __init__(self, query: Tensor, eps: float) -> None:
        width = query.shape[0]
        self.query = query.detach() * width**0.5
        self.root = torch.tensor(width * eps, device=query.device).sqrt()

    def __call__(self, prefix: Tensor, bank: Sequence[Tensor]) -> Tensor:
        """[N, d] and snapshots -> [N, d]."""
        if not bank:
            return prefix
        if prefix.shape[0] == 1:
            rows = torch.cat((*bank, prefix))
            lengths = torch.hypot(torch.linalg.vector_norm(rows, dim=-1), self.root)
            weights = torch.softmax(torch.mv(rows, self.query).div_(lengths), dim=-1)
            return torch.mm(weights.unsqueeze(0), rows)
        sources = torch.stack([*bank, prefix], dim=1)
        lengths = torch.hypot(torch.linalg.vector_norm(sources, dim=-1), self.root)
        weights = torch.softmax(torch.matmul(sources, self.query) / lengths, dim=-1)
        return torch.bmm(weights.unsqueeze(1), sources).squeeze(1)


def starts_block(layer: int, block: int) -> bool:
    """Whether the layer (counted from 0) snapshots the prefix and begins a new sum."""
    return layer % block == 0
