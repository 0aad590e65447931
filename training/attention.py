"""MLA's core operation for training: causal attention that never crosses a document's start.

Documents are given twice: as segment numbers of padded rows (for the mask) and as bounds in the flattened
rows (for the varlen kernel). Both forms are differentiable.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

AttentionOp = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, float], Tensor]
"""(q, k, v [rows*T, H, D], segments [rows, T], bounds int32 [segments + 1], scale) -> [rows*T, H, D]."""


def masked_attention(
    q: Tensor, k: Tensor, v: Tensor, segments: Tensor, bounds: Tensor, scale: float
) -> Tensor:
    """Row by row with a mask; runs anywhere. `bounds` is not read."""
    rows, length = segments.shape
    causal = torch.ones(length, length, dtype=torch.bool, device=q.device).tril()
    visible = ((segments[:, :, None] == segments[:, None, :]) & causal)[:, None]
    q, k, v = (x.view(rows, length, *x.shape[1:]).transpose(1, 2) for x in (q, k, v))
    out = functional.scaled_dot_product_attention(q, k, v, attn_mask=visible, scale=scale)
    return out.transpose(1, 2).reshape(rows * length, *out.shape[1:2], out.shape[-1])


def varlen_attention(
    q: Tensor, k: Tensor, v: Tensor, segments: Tensor, bounds: Tensor, scale: float
) -> Tensor:
    """Flash attention over the flattened rows; CUDA, bf16 only.

    Bounds may be filled up with the total length: such sequences are empty.
    """
    longest = segments.shape[1]
    out: Tensor = torch.ops.aten._flash_attention_forward(
        q, k, v, bounds, bounds, longest, longest, 0.0, True, False, scale=scale
    )[0]
    return out  # type: ignore[no-any-return]
