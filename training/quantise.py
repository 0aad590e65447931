"""MXFP4 rounding without tables or host waits, equal to `engine.mxfp4` value for value, so that a graph can
hold it."""

from __future__ import annotations

import torch
from torch import Tensor

GROUP = 32


def round_mxfp4(weights: Tensor) -> Tensor:
    """The values that the engine's `quantize` would keep.

    Args:
        weights: fp32 [..., columns], columns a multiple of 32.

    Returns:
        fp32, same shape.
    """
    groups = weights.unflatten(-1, (-1, GROUP))
    largest = groups.abs().amax(-1, keepdim=True)
    low = (torch.frexp(largest)[1] - 3).clamp(-126, 125)
    low = torch.where(largest > 0, low, torch.zeros_like(low))
    first, second = _nearest(groups, low), _nearest(groups, low + 1)
    better = (second - groups).square().sum(-1, keepdim=True) < (first - groups).square().sum(
        -1, keepdim=True
    )
    return torch.where(better, second, first).flatten(-2)


def _nearest(groups: Tensor, exponent: Tensor) -> Tensor:
    """Nearest E2M1 multiples of 2^exponent; ties go to the even code."""
    unit = ((exponent + 127) << 23).view(torch.float32)
    size = groups.abs() / unit
    fine = torch.round(size * 2) * 0.5
    middle = torch.round(size)
    coarse = torch.round(size * 0.5) * 2
    value = torch.where(size < 2, fine, torch.where(size < 4, middle, coarse)).clamp(max=6.0)
    return torch.copysign(value * unit, groups)
