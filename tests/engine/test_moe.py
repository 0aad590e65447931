"""Routing and experts: who is chosen, with what weight, and that grouping changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
import reference_k3
import torch
from engine_models import distance, random_model, raw_k3, raw_kimi_linear

from kimi_sdk.engine.activation import Gated, ScaledGated, situ
from kimi_sdk.engine.moe import LatentMoE


def moe_of(raw: dict[str, object]) -> LatentMoE:
    layer = random_model(raw).decoder.order[1].feed_forward
    assert isinstance(layer, LatentMoE)
    return layer


def weights_of(layer: LatentMoE) -> dict[str, np.ndarray]:
    found = {
        name: value.double().numpy() for name, value in layer.named_parameters() if "experts.w" not in name
    }
    half = layer.experts.w13.shape[1] // 2
    for expert in range(layer.experts.w2.shape[0]):
        found[f"experts.{expert}.w1.weight"] = layer.experts.w13[expert, :half].double().numpy()
        found[f"experts.{expert}.w3.weight"] = layer.experts.w13[expert, half:].double().numpy()
        found[f"experts.{expert}.w2.weight"] = layer.experts.w2[expert].double().numpy()
    return found


def test_situ_values() -> None:
    gate, up = torch.tensor([1.0, -1.0, 10.0, 1e4]), torch.tensor([1.0, 2.0, 100.0, 1e4])
    wanted = torch.tensor([0.715818, -0.525829, 98.590782, 100.0])
    assert torch.allclose(situ(gate, up), wanted, rtol=1e-5)
    both = torch.stack((gate, up)).T.contiguous()
    ready = ScaledGated(Gated("situ", 4.0, 25.0), 1, both.device)
    assert torch.allclose(ready(both)[:, 0], wanted, rtol=1e-5)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("tokens", [1, 2, 3, 40])
@pytest.mark.parametrize(
    "raw", [raw_k3(), raw_kimi_linear(), raw_k3(num_shared_experts=0)], ids=["k3", "linear", "bare"]
)
def test_the_block_is_the_reference(raw: dict[str, object], tokens: int, fused: bool) -> None:
    layer = moe_of(raw)
    hidden = torch.randn(tokens, 64, generator=torch.Generator().manual_seed(tokens))
    wanted = reference_k3.moe(hidden.double().numpy(), weights_of(layer), raw.get("text_config", raw))
    if fused:
        layer.fuse()
    assert distance(layer.forward(hidden), wanted) < 1e-5


@pytest.mark.parametrize("fused", [False, True])
def test_ties_go_to_the_lowest_index(fused: bool) -> None:
    layer = moe_of(raw_k3(num_experts=64, num_experts_per_token=5))
    layer.gate.weight.zero_()
    layer.gate.e_score_correction_bias.zero_()
    layer.gate.e_score_correction_bias[40] = 0.5
    if fused:
        layer.fuse()
    ids, weights = layer.route(torch.randn(7, 64))
    assert ids.tolist() == [[40, 0, 1, 2, 3]] * 7
    assert torch.allclose(weights, torch.full((7, 5), 0.2))


def test_the_bias_selects_and_does_not_weigh() -> None:
    layer = moe_of(raw_k3())
    hidden = torch.randn(9, 64, generator=torch.Generator().manual_seed(0))
    layer.gate.e_score_correction_bias.copy_(torch.tensor([0.0, 9.0, 0.0, 8.0]))
    ids, weights = layer.route(hidden)
    assert (ids == torch.tensor([1, 3])).all()
    scores = torch.sigmoid(hidden @ layer.gate.weight.T)[:, [1, 3]]
    assert torch.allclose(weights, scores / scores.sum(-1, keepdim=True))


def test_the_router_is_fp32_under_any_stream() -> None:
    """Two experts whose logits differ by less than bf16 can tell."""
    layer = moe_of(raw_k3())
    layer.gate.e_score_correction_bias.zero_()
    layer.gate.weight.zero_()
    layer.gate.weight[:, 0] = torch.tensor([1.0, 1.0, 1.0, 1.0])
    layer.gate.weight[3, 1] = 2.0**-9
    layer.gate.weight[2, 1] = 2.0**-10
    hidden = torch.zeros(1, 64, dtype=torch.bfloat16)
    hidden[0, :2] = 1
    ids, weights = layer.route(hidden)
    assert ids.tolist() == [[3, 2]]
    assert weights.dtype == torch.float32
