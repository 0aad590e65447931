"""The gated activations of the feed-forwards: SiTU-GLU (K3) and SwiGLU (Kimi-Linear)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from kimi_sdk.engine.config import TextConfig


def situ(gate: Tensor, up: Tensor, beta: float = 4.0, linear_beta: float = 25.0) -> Tensor:
    """``beta tanh(gate/beta) sigmoid(gate) * linear_beta tanh(up/linear_beta)`` in fp32, in the gate's dtype.

    The sigmoid takes the unscaled gate; the result never exceeds beta * linear_beta in magnitude.
    """
    wide = gate.float()
    bent = torch.tanh(wide * (1.0 / beta)) * torch.sigmoid(wide)
    linear = torch.tanh(up.float() * (1.0 / linear_beta))
    return (bent * linear * (beta * linear_beta)).to(gate.dtype)


class ScaledGated:
    """The activation over [N, 2 * width] gate and up side by side, in fp32 with its constants ready."""

    def __init__(self, activation: Gated, width: int, device: torch.device) -> None:
        self.width, self.situ, self.halves = width, activation.name == "situ", (width, width)
        slopes = torch.tensor([1 / activation.beta, 1 / activation.linear_beta], device=device)
        self.slopes = slopes.repeat_interleave(width)
        self.height = activation.beta * activation.linear_beta
        self.zero = torch.zeros((), device=device)

    def __call__(self, both: Tensor) -> Tensor:
        """[N, 2 * width] -> [N, width]."""
        gate = both.narrow(-1, 0, self.width)
        if not self.situ:
            return functional.silu(gate).mul_(both.narrow(-1, self.width, self.width))
        bent, linear = torch.split_with_sizes(torch.mul(both, self.slopes).tanh_(), self.halves, dim=-1)
        return torch.addcmul(self.zero, torch.sigmoid(gate).mul_(bent), linear, value=self.height)


@dataclass(frozen=True, slots=True)
class Gated:
    """The activation that a config names, as a callable of gate and up."""

    name: str
    beta: float
    linear_beta: float

    @classmethod
    def of(cls, config: TextConfig) -> Gated:
        """The activation of ``hidden_act``."""
        return cls(config.activation, config.situ_beta, config.situ_linear_beta)

    def __call__(self, gate: Tensor, up: Tensor) -> Tensor:
        """[..., width] twice -> [..., width]."""
        if self.name == "situ":
            return situ(gate, up, self.beta, self.linear_beta)
        return functional.silu(gate) * up
