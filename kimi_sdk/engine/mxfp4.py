"""MXFP4: 4-bit E2M1 values in groups of 32 along a row, each group with a power-of-two scale (OCP MX v1.0).

Knows the packing of compressed-tensors' ``mxfp4-pack-quantized``: two values a byte, low nibble first.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional

from kimi_sdk.engine.keys import GROUP

_BIAS = 127
_NAN_SCALE = 255
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_MIDPOINTS = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)


def dequantize(packed: Tensor, scale: Tensor) -> Tensor:
    """uint8 [..., in/2] and uint8 [..., in/32] -> fp32 [..., in], exact.

    Raises:
        ValueError: a scale byte is 255, which stands for NaN.
    """
    if has_nan(scale):
        raise ValueError("an MXFP4 scale is 255 (NaN)")
    return unpack(packed, scale, torch.float32)


def has_nan(scale: Tensor) -> bool:
    """Whether a scale byte stands for NaN."""
    return bool((scale == _NAN_SCALE).any())


def unpack(packed: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """``dequantize`` for scales that were checked; exact in fp32 and bf16 (fp16 lacks the range).

    Args:
        packed: uint8 [..., in/2]; byte b holds columns 2b (low nibble) and 2b + 1.
        scale: uint8 [..., in/32].
        dtype: of the result.

    Returns:
        [..., in].
    """
    pairs = functional.embedding(packed.int(), _pairs(dtype, packed.device))
    groups = pairs.view(*scale.shape, GROUP)
    return groups.mul_(_power_of_two(scale.int()).to(dtype).unsqueeze(-1)).flatten(-2)


@lru_cache
def _pairs(dtype: torch.dtype, device: torch.device) -> Tensor:
    """The two values of every byte, [256, 2]."""
    with torch.inference_mode(False):
        values = torch.tensor(_MAGNITUDES + tuple(-value for value in _MAGNITUDES), dtype=dtype)
        codes = torch.arange(256)
        return torch.stack((values[codes & 15], values[codes >> 4]), dim=-1).to(device)


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """[..., in] -> packed uint8 [..., in/2] and scale uint8 [..., in/32].

    Each group tries the scale under which its largest value lies in [4, 8) (clipped to 6) and the next one,
    and keeps the one with the smaller squared error; values go to the nearest E2M1 number,
    ties to the even code.
    """
    groups = weight.detach().float()
    groups = groups.reshape(*groups.shape[:-1], -1, GROUP)
    largest = groups.abs().amax(-1, keepdim=True)
    exponent = torch.frexp(largest)[1] - 3  # largest = m * 2^e with m in [0.5, 1)
    biased = torch.where(largest > 0, exponent + _BIAS, _BIAS).clamp(1, 2 * _BIAS - 2)
    codes, error = _nearest(groups, biased)
    next_codes, next_error = _nearest(groups, biased + 1)
    better = next_error < error
    codes = torch.where(better, next_codes, codes).flatten(-2)
    scale = (biased + better.int()).squeeze(-1).to(torch.uint8)
    return codes[..., 0::2] | (codes[..., 1::2] << 4), scale


def _power_of_two(biased: Tensor) -> Tensor:
    """int32 e in 0..254 -> fp32 ``2^(e-127)``, by its bits: ``pow`` need not be exact."""
    normal = (biased << 23).view(torch.float32)
    return torch.where(biased > 0, normal, torch.full_like(normal, 2.0**-_BIAS))


def _nearest(groups: Tensor, biased: Tensor) -> tuple[Tensor, Tensor]:
    """Codes [..., G, 32] of the nearest E2M1 values under a scale, and the squared error [..., G, 1]."""
    step = _power_of_two(biased)
    size = (groups.abs() / step).contiguous()
    midpoints = torch.tensor(_MIDPOINTS, device=groups.device)
    lower = torch.bucketize(size, midpoints, right=False)
    upper = torch.bucketize(size, midpoints, right=True)  # differs from lower only on a tie
    codes = torch.where(lower % 2 == 1, upper, lower)
    values = torch.tensor(_MAGNITUDES, device=groups.device)[codes]
    error = ((values - size) * step).square().sum(-1, keepdim=True)
    return (codes + 8 * torch.signbit(groups)).to(torch.uint8), error


def fake_quantize(weight: Tensor) -> Tensor:
    """The very values that ``quantize`` would keep, in the weight's dtype; gradients pass through."""
    kept = dequantize(*quantize(weight)).to(weight.dtype)
    return kept + (weight - weight.detach())
