"""What surrounds the delta rule in a KDA layer: convolution, gates, norms and the stored rates."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from engine_models import random_model, raw_k3, raw_kimi_linear

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.kda import KDA, gated_norm, log_decay, short_conv
from kimi_sdk.engine.norm import ScaledNorm, l2_norm, rms_norm


def test_the_convolution_looks_back_and_its_last_tap_is_now() -> None:
    taps = torch.tensor([[1.0, 0], [10, 0], [100, 0], [1000, 1]])
    padded = torch.tensor([[1.0, 5], [2, 6], [3, 7], [4, 8], [5, 9]])
    wanted = torch.nn.functional.silu(torch.tensor([[4321.0, 8], [5432, 9]]))
    assert torch.allclose(short_conv(padded, taps), wanted)
    assert torch.allclose(short_conv(padded[1:], taps), wanted[1:])


def test_the_l2_norm_adds_eps_to_the_sum() -> None:
    tiny = torch.full((1, 128), 1e-5)
    assert torch.allclose(l2_norm(tiny), tiny / (128 * 1e-10 + 1e-6) ** 0.5, rtol=1e-5)
    assert torch.equal(l2_norm(torch.zeros(1, 8)), torch.zeros(1, 8))


def test_rms_norms_agree_for_tiny_and_large_rows() -> None:
    weight = torch.randn(40, generator=torch.Generator().manual_seed(0))
    for size in (1e-8, 1e-3, 1.0, 1e6):
        rows = size * torch.randn(3, 40, generator=torch.Generator().manual_seed(1))
        wide = rows.double()
        wanted = wide / (wide.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight
        assert torch.allclose(rms_norm(rows, weight, 1e-5).double(), wanted, rtol=1e-5, atol=0)
        assert torch.allclose(ScaledNorm(weight, 1e-5)(rows).double(), wanted, rtol=1e-5, atol=0)


@pytest.mark.parametrize("bound", [-5.0, None])
def test_the_decay_is_no_clamp(bound: float | None) -> None:
    u = torch.linspace(-12, 12, 24).view(1, 2, 12)
    rate, bias = torch.tensor([0.5, 8.0]), torch.linspace(-1, 1, 24).view(2, 12)
    x = (u + bias).double().numpy()
    slope = rate.double().numpy()[:, None]
    wanted = -slope * np.logaddexp(0, x) if bound is None else -5 / (1 + np.exp(-slope * x))
    found = log_decay(u, rate, bias, bound)
    assert np.allclose(found, wanted, rtol=1e-5)
    assert bool((found <= 0).all())
    assert bound is None or bool((found >= -5).all())


def test_the_output_norm_comes_before_its_gate() -> None:
    o, z = torch.tensor([[[3.0, 4.0]]]), torch.tensor([[[0.0, 100.0]]])
    root = (12.5 + 1e-5) ** 0.5
    assert torch.allclose(
        gated_norm(o, torch.tensor([2.0, 1.0]), z, 1e-5), torch.tensor([[[3 / root, 4 / root]]])
    )


@pytest.mark.parametrize("fused", [False, True])
def test_values_beyond_the_heads_are_never_read(fused: bool) -> None:
    layer = random_model(raw_k3()).decoder.order[0].self_attn
    assert isinstance(layer, KDA)
    assert layer.A_log.shape == (32,)
    u = torch.randn(5, 2, 32, generator=torch.Generator().manual_seed(0))
    before = layer.decay(u)
    layer.A_log[layer.heads :] = float("nan")
    if fused:
        layer.fuse()
    assert layer.rate().shape == (2,)
    assert torch.allclose(layer.decay(u), before)


def test_kimi_linear_keeps_its_stored_shape() -> None:
    layer = random_model(raw_kimi_linear()).decoder.order[0].self_attn
    assert isinstance(layer, KDA)
    assert layer.A_log.shape == (1, 1, 2, 1)
    assert {name for name, _ in layer.named_parameters()} >= {"g_a_proj.weight", "g_b_proj.weight"}
    assert K3Config.from_dict(raw_kimi_linear()).text.linear.gate_lower_bound is None
