"""Matrices without bias, alone or several that read the same rows merged into one product.

Knows storage and merging only; what the outputs mean is the layers' business.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


class Linear(nn.Module):
    """``weight`` [outputs, inputs], as on disk."""

    weight: nn.Parameter

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))

    def forward(self, rows: Tensor) -> Tensor:
        """[N, inputs] -> [N, outputs]."""
        return functional.linear(rows, self.weight)


class Merged:
    """Several ``Linear`` over the same rows, computed as one product and split again.

    ``fuse`` stores all of them in one transposed matrix [inputs, total outputs], which a CPU reads faster
    for a few rows, and makes each weight a view into it: nothing is held twice, and saving sees the
    same values.
    Without ``fuse`` the weights are joined in each call, so gradients reach every one of them.
    """

    def __init__(self, parts: Sequence[Linear]) -> None:
        self.parts = tuple(parts)
        self.sizes = [part.weight.shape[0] for part in self.parts]
        self.stored: Tensor | None = None

    def __call__(self, rows: Tensor) -> Sequence[Tensor]:
        """[N, inputs] -> one [N, outputs] a part, in order."""
        return torch.split_with_sizes(self.joined(rows), self.sizes, dim=-1)

    def joined(self, rows: Tensor) -> Tensor:
        """[N, inputs] -> [N, total outputs]."""
        if self.stored is not None:
            return torch.mm(rows, self.stored)
        if len(self.parts) == 1:
            return functional.linear(rows, self.parts[0].weight)
        return functional.linear(rows, torch.cat([part.weight for part in self.parts]))

    def fuse(self) -> None:
        """Moves the weights into one matrix; they no longer take gradients."""
        if not self.parts:
            return
        joined = torch.cat([part.weight.detach() for part in self.parts])
        self.stored = joined.t().contiguous()
        start = 0
        for part, size in zip(self.parts, self.sizes, strict=True):
            view = self.stored[:, start : start + size].t()
            part.weight = nn.Parameter(view, requires_grad=False)
            start += size

    def unfuse(self) -> None:
        """Gives every part its own storage again."""
        if self.stored is None:
            return
        self.stored = None
        for part in self.parts:
            part.weight = nn.Parameter(part.weight.detach().contiguous())
