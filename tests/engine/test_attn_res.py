"""Attention residuals: the mix itself, and which sources each layer sees."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference_k3
import torch
from engine_models import raw_k3

from kimi_sdk.engine.attn_res import ScaledMix, mix
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.decoder import Site
from kimi_sdk.engine.k3 import K3


@pytest.mark.parametrize("count", [1, 2, 8])
def test_the_mix_is_a_softmax_over_raw_sources(count: int) -> None:
    generator = torch.Generator().manual_seed(count)
    bank = [3 * torch.randn(5, 24, generator=generator) for _ in range(count)]
    prefix, norm, proj = (torch.randn(*shape, generator=generator) for shape in ((5, 24), (24,), (1, 24)))
    sources = [source.double().numpy() for source in bank]
    wanted = reference_k3.mix(
        prefix.double().numpy(), sources, norm.double().numpy(), proj.double().numpy(), 1e-5
    )
    query = norm * proj[0]
    assert np.allclose(mix(prefix, bank, query, 1e-5), wanted, atol=1e-5)
    assert np.allclose(ScaledMix(query, 1e-5)(prefix, bank), wanted, atol=1e-5)


def test_without_snapshots_the_prefix_passes_unchanged() -> None:
    prefix = torch.randn(2, 8)
    assert mix(prefix, [], torch.ones(8), 1e-5) is prefix


def deep(layers: int) -> K3:
    full = [*range(4, layers, 4), layers]
    kinds = {"num_heads": 1, "head_dim": 16, "full_attn_layers": full}
    kinds["kda_layers"] = [layer for layer in range(1, layers + 1) if layer not in full]
    raw = raw_k3(
        hidden_size=16,
        num_hidden_layers=layers,
        attn_res_block_size=12,
        num_experts=0,
        intermediate_size=16,
        linear_attn_config=kinds,
    )
    return K3(K3Config.from_dict(raw))


def test_sources_of_a_93_layer_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before attention ceil(l / 12) snapshots, before the MLP floor(l / 12) + 1, at the end 8."""
    model = deep(93)
    seen: dict[int, int] = {}
    plain = Site.__call__

    def counted(site: Site, prefix: torch.Tensor, bank: tuple[torch.Tensor, ...]) -> torch.Tensor:
        seen[id(site)] = len(bank)
        return plain(site, prefix, bank)

    monkeypatch.setattr(Site, "__call__", counted)
    model.decoder.forward(torch.randn(1, 16), lambda index, module, normed: normed)
    for layer in model.decoder.order:
        before, middle = (seen[id(site)] for site in layer.sites)
        assert (before, middle) == (math.ceil(layer.index / 12), layer.index // 12 + 1)
    assert seen[id(model.decoder.site)] == 8


def test_all_sources_together_are_the_ordinary_residual() -> None:
    """Snapshots are raw sums of whole blocks, and the prefix restarts from the attention's output."""
    model = deep(14)
    prefix, bank, parts = torch.randn(3, 16), (), []
    start = prefix

    def attention(index: int, module: object, normed: torch.Tensor) -> torch.Tensor:
        parts.append(normed * (index + 1))
        return parts[-1]

    def feed_forward(index: int, module: object, normed: torch.Tensor) -> torch.Tensor:
        parts.append(torch.tanh(normed))
        return parts[-1]

    for layer in model.decoder.order:
        prefix, bank = layer.forward(prefix, bank, attention, feed_forward)
        assert torch.allclose(sum(bank) + prefix, start + sum(parts), rtol=1e-4, atol=1e-4)
    assert torch.equal(bank[0], start)
    assert torch.allclose(bank[1], sum(parts[:24]), rtol=1e-4, atol=1e-4)
    assert torch.allclose(prefix, sum(parts[24:]), rtol=1e-4, atol=1e-4)
