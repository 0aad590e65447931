"""Root-mean-square norms and the L2 norm of KDA's keys, all computed in fp32.

Knows the exact eps placement of each; leaves weights' names to the layers.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor, nn


@lru_cache(maxsize=64)
def _root(value: float) -> Tensor:
    with torch.inference_mode(False):
        return torch.tensor(value).sqrt()


def unit_rms(rows: Tensor, eps: float) -> Tensor:
    """``x / sqrt(mean(x^2) + eps)`` over the last axis, fp32 in and out.

    Written as ``hypot(|x| / sqrt(d), sqrt(eps))``: fewer passes than mean, add and rsqrt.
    """
    length = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    return rows / torch.hypot(length * rows.shape[-1] ** -0.5, _root(eps))


def rms_norm(rows: Tensor, weight: Tensor, eps: float) -> Tensor:
    """RMSNorm of [..., d]: normalised in fp32, cast to the rows' dtype, then times ``weight`` [d]."""
    return unit_rms(rows.float(), eps).to(rows.dtype) * weight


def l2_norm(rows: Tensor) -> Tensor:
    """``x / sqrt(sum(x^2) + 1e-6)`` over the last axis, fp32 in and out (eps on the sum, inside the root)."""
    return rows / torch.hypot(torch.linalg.vector_norm(rows, dim=-1, keepdim=True), _root(1e-6))


class ScaledNorm:
    """An fp32 RMS norm with its constants ready: ``x / hypot(|x|, sqrt(d eps)) * (sqrt(d) weight)``."""

    def __init__(self, weight: Tensor, eps: float) -> None:
        width = weight.shape[-1]
        self.weight = weight.detach() * width**0.5
        self.root = torch.tensor(width * eps, device=weight.device).sqrt()
        self.zero = torch.zeros((), device=weight.device)
        self.width = width
        self.on_cpu, self.root_value = weight.device.type == "cpu", math.sqrt(width * eps)

    def __call__(self, rows: Tensor) -> Tensor:
        """[..., d] -> [..., d]."""
        if self.on_cpu and rows.numel() == self.width:  # a number costs less than a tensor of one
            length_value = torch.linalg.vector_norm(rows).item()
            return torch.addcmul(
                self.zero, rows, self.weight, value=1 / math.hypot(length_value, self.root_value)
            )
        length = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
        return (rows / torch.hypot(length, self.root)).mul_(self.weight)


class RMSNorm(nn.Module):
    """``weight`` [d] with its eps."""

    weight: nn.Parameter

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.eps = eps
        self.scaled: ScaledNorm | None = None

    def fuse(self) -> None:
        """Readies the constants for inference."""
        if self.weight.dtype == torch.float32:
            self.scaled = ScaledNorm(self.weight, self.eps)

    def unfuse(self) -> None:
        """Goes back to the weight itself."""
        self.scaled = None

    def forward(self, rows: Tensor) -> Tensor:
        """[..., d] -> [..., d], see ``rms_norm``."""
        return rms_norm(rows, self.weight, self.eps) if self.scaled is None else self.scaled(rows)
