"""Random weights under which a model of any size computes with sane magnitudes.

Knows which tensor wants which distribution, by its name; a trained checkpoint replaces all of it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.moe import Experts
from kimi_sdk.engine.mxfp4 import fake_quantize

_SLOWEST, _FASTEST = 0.002, 0.5
"""Log-decays per token that channels begin with: memories of about 500 down to 2 tokens."""


@torch.no_grad()
def init_weights(model: nn.Module, seed: int) -> None:
    """Sets every parameter from a seed; values are exactly what the checkpoint's dtypes can hold."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        parameter.copy_(_draw(name, parameter, generator))
    for module in model.modules():
        if isinstance(module, KDA):
            _spread_decays(module, generator)
        if isinstance(module, Experts) and module.quantized:
            module.w13.copy_(fake_quantize(module.w13))
            module.w2.copy_(fake_quantize(module.w2))


def _draw(name: str, parameter: Tensor, generator: torch.Generator) -> Tensor:
    shape = parameter.shape
    last = name.rsplit(".", 2)[-2] if name.count(".") else name
    if "norm" in last:
        return torch.ones(shape)
    if name.endswith(("A_log", "dt_bias", "e_score_correction_bias")):
        return torch.zeros(shape)
    noise = torch.randn(shape, generator=generator)
    scale: float
    if last == "embed_tokens":
        scale = shape[-1] ** -0.5
    elif last.endswith("res_proj"):
        scale = 0.02
    elif last.endswith("conv1d"):
        scale = 0.5
    elif last == "pos_emb":
        scale = 0.02
    else:
        scale = (math.prod(shape[1:]) if len(shape) != 3 else shape[-1]) ** -0.5
    noise = noise * scale
    return noise if last.endswith("conv1d") else noise.bfloat16().float()


def _spread_decays(layer: KDA, generator: torch.Generator) -> None:
    """Rates between 1 and 2 and channels whose resting log-decay spreads evenly between slow and fast."""
    heads, dim = layer.heads, layer.head_dim
    rate = 1 + torch.rand(heads, generator=generator)
    layer.A_log.zero_()
    layer.A_log.flatten()[:heads] = rate.log()
    spread = torch.rand(heads, dim, generator=generator) * math.log(_FASTEST / _SLOWEST)
    decay = _SLOWEST * torch.exp(spread)
    if layer.lower_bound is None:
        resting = torch.log(torch.expm1(decay / rate.unsqueeze(-1)))
    else:
        resting = torch.logit(decay / -layer.lower_bound) / rate.unsqueeze(-1)
    layer.dt_bias.copy_(resting.flatten())
