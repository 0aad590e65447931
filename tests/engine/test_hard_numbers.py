"""Inputs that break such layers elsewhere, against the same float64 equations and under the same limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import reference_k3
import torch
from engine_models import Talk, distance, random_model, raw_k3, raw_kimi_linear, run, step
from numbers_kit import attend, hold, layer_weights, lower, rows, text_of
from reference_k3 import under

from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.mla import MLA
from kimi_sdk.engine.moe import LatentMoE

TOKENS = 100
SPLITS = {"prefill": [TOKENS], "cut": [33, 1, 16, 50], "decode": [1] * TOKENS}


def slow_and_alike(layer: KDA) -> torch.Tensor:
    """Keys that are nearly one and the same, beta near 1, and a memory that hardly fades."""
    common = rows(1, 64, seed=5)
    layer.dt_bias.fill_(-9.0)
    layer.b_proj.weight.copy_((4 * common / common.square().sum()).bfloat16().expand(layer.heads, -1))
    return common + rows(TOKENS, 64, size=0.02)


def both_ends(layer: KDA) -> torch.Tensor:
    """Channels that forget everything at once beside channels that forget nothing; betas of 0 and 1."""
    layer.dt_bias[0::2] = 12.0
    layer.dt_bias[1::2] = -30.0
    layer.b_proj.weight.mul_(32)
    return rows(TOKENS, 64, size=2)


def steep(layer: KDA) -> torch.Tensor:
    """Rates of exp(5): gates that jump between their ends from token to token."""
    layer.A_log.flatten()[: layer.heads] = 5.0
    layer.dt_bias.zero_()
    return rows(TOKENS, 64)


def tiny_keys(layer: KDA) -> torch.Tensor:
    """Queries and keys so short that the eps of their norm decides."""
    layer.q_proj.weight.mul_(2.0**-12)
    layer.k_proj.weight.mul_(2.0**-12)
    return rows(TOKENS, 64)


def loud(layer: KDA) -> torch.Tensor:
    """Projections of the size of a hundred."""
    for part in (layer.q_proj, layer.k_proj, layer.v_proj, layer.g_proj):
        part.weight.mul_(64)
    return rows(TOKENS, 64, size=2)


@pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("make", [slow_and_alike, both_ends, steep, tiny_keys, loud])
def test_linear_attention(make: Callable[[KDA], torch.Tensor], fused: bool, splits: list[int]) -> None:
    raw = raw_k3()
    model = random_model(raw)
    layer = model.decoder.order[1].self_attn
    assert isinstance(layer, KDA)
    hidden = make(layer)
    weights = under(layer_weights(model, 1), "self_attn.")
    wanted = reference_k3.kda(hidden.double().numpy(), weights, text_of(raw)["linear_attn_config"], 1e-5)
    if fused:
        model.fuse()
    hold(f"KDA, {make.__name__}", attend(model, 1, hidden, splits), wanted)


@pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("make", [slow_and_alike, both_ends, steep, tiny_keys])
def test_linear_attention_without_a_bound(make: Callable[[KDA], torch.Tensor], splits: list[int]) -> None:
    """Kimi-Linear's softplus decay: single steps of e^-1000 and less."""
    raw = raw_kimi_linear()
    model = random_model(raw)
    layer = model.decoder.order[1].self_attn
    assert isinstance(layer, KDA)
    hidden = make(layer)
    weights = under(layer_weights(model, 1), "self_attn.")
    wanted = reference_k3.kda(hidden.double().numpy(), weights, text_of(raw)["linear_attn_config"], 1e-5)
    hold(f"unbounded KDA, {make.__name__}", attend(model, 1, hidden, splits), wanted)


def large_latents(layer: MLA) -> None:
    layer.kv_a_proj_with_mqa.weight[: layer.latent].mul_(2.0**12)
    layer.q_a_proj.weight.mul_(2.0**12)


def small_latents(layer: MLA) -> None:
    """Latents under which an eps of 1e-5 in place of 1e-6 would change everything."""
    layer.kv_a_proj_with_mqa.weight[: layer.latent].mul_(2.0**-10)
    layer.q_a_proj.weight.mul_(2.0**-10)


def peaked(layer: MLA) -> None:
    """Scores of some tens: nearly one row takes all."""
    layer.q_b_proj.weight.mul_(8)


@pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("change", [large_latents, small_latents, peaked])
def test_full_attention(change: Callable[[MLA], None], fused: bool, splits: list[int]) -> None:
    raw = raw_k3()
    model = random_model(raw)
    layer = model.decoder.order[3].self_attn
    assert isinstance(layer, MLA)
    change(layer)
    hidden = rows(TOKENS, 64)
    weights = under(layer_weights(model, 3), "self_attn.")
    wanted = reference_k3.mla(hidden.double().numpy(), weights, text_of(raw))
    if fused:
        model.fuse()
    hold(f"MLA, {change.__name__}", attend(model, 3, hidden, splits), wanted)


def twins(layer: LatentMoE) -> None:
    """Experts in pairs of equal scores, so that a choice of three splits one pair: the lower index wins."""
    layer.gate.weight[1::2] = layer.gate.weight[0::2]
    layer.gate.e_score_correction_bias[1::2] = layer.gate.e_score_correction_bias[0::2]


def biased(layer: LatentMoE) -> None:
    """A bias that decides the choice alone, in favour of experts of tiny scores."""
    layer.gate.weight.mul_(16)
    layer.gate.e_score_correction_bias.copy_(10.0 * torch.arange(8))


def saturated(layer: LatentMoE) -> None:
    """Latents at which the activation is at its ends."""
    assert layer.routed_expert_down_proj is not None
    layer.routed_expert_down_proj.weight.mul_(256)


def faint(layer: LatentMoE) -> None:
    """An expert sum so small that the eps of the latent norm decides."""
    assert layer.routed_expert_down_proj is not None
    layer.routed_expert_down_proj.weight.mul_(2.0**-6)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("change", [twins, biased, saturated, faint])
def test_experts(change: Callable[[LatentMoE], None], fused: bool) -> None:
    raw = raw_k3(num_experts=8, num_experts_per_token=3)
    model = random_model(raw)
    layer = model.decoder.order[1].feed_forward
    assert isinstance(layer, LatentMoE)
    change(layer)
    hidden = rows(TOKENS, 64)
    weights = under(layer_weights(model, 1), "block_sparse_moe.")
    wanted = reference_k3.moe(hidden.double().numpy(), weights, text_of(raw))
    if fused:
        model.fuse()
    hold(f"experts, {change.__name__}", layer.forward(hidden), wanted)


@pytest.mark.parametrize("change", [twins, biased, saturated, faint])
def test_one_token_alone_chooses_as_in_a_batch(change: Callable[[LatentMoE], None]) -> None:
    layer = random_model(raw_k3(num_experts=8, num_experts_per_token=3)).decoder.order[1].feed_forward
    assert isinstance(layer, LatentMoE)
    change(layer)
    layer.fuse()
    assert layer.single is not None
    hidden = rows(20, 64)
    ids, weights = layer.route(hidden)
    for row in range(20):
        alone = layer.single.route(hidden[row : row + 1])
        assert [expert for expert, _ in alone] == ids[row].tolist()
        assert [weight for _, weight in alone] == pytest.approx(weights[row].tolist(), rel=1e-5)
    together = layer.forward(hidden)
    assert distance(torch.cat([layer.forward(hidden[i : i + 1]) for i in range(20)]), together) < 2e-6


@pytest.fixture
def dirty_memory() -> Iterator[None]:
    """New tensors without given values are full of NaN."""
    torch.use_deterministic_algorithms(True)
    assert torch.utils.deterministic.fill_uninitialized_memory
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("dirty_memory")
@pytest.mark.parametrize("raw", [raw_k3(), raw_kimi_linear()], ids=["k3", "kimi-linear"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_padding_reads_nothing_unwritten(raw: dict[str, Any], dtype: torch.dtype) -> None:
    """Sequences of unlike lengths in one batch, over pools that others left full of NaN."""
    model = lower(random_model(raw), dtype).fuse()
    texts = [[(i * 7 + length) % 128 for i in range(length)] for length in (130, 1, 17, 66)]
    caches = model.caches(slots=5, pages=9)
    for pool in (caches.slots.recurrent, caches.slots.conv, caches.pages.rows):
        for values in pool.values():
            values.fill_(float("nan"))
    talks = [Talk(caches, len(text) + 1) for text in texts]
    first = step(model, caches, talks, texts)
    second = step(model, caches, talks, [[5]] * len(texts))
    for text, before, after in zip(texts, first, second, strict=True):
        alone = run(model, [*text, 5], [len(text), 1])
        assert torch.isfinite(before).all()
        assert torch.isfinite(after).all()
        assert distance(torch.cat((before, after)), alone) < (1e-5 if dtype == torch.float32 else 0.05)
