"""Absorbed attention is plain attention, and both are softmax over the visible rows."""

from __future__ import annotations

from typing import Any

import pytest
import reference_k3
import torch
from engine_models import distance, random_model, raw_irregular, raw_k3, raw_kimi_linear

from kimi_sdk.engine.mla import MLA, hiding


def layer_of(raw: dict[str, Any]) -> MLA:
    model = random_model(raw)
    layer = model.decoder.order[model.config.text.mla_indices[0]].self_attn
    assert isinstance(layer, MLA)
    return layer


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    "raw", [raw_k3(), raw_irregular(), raw_kimi_linear()], ids=["k3", "3 heads", "no q lora"]
)
def test_plain_is_absorbed_is_the_reference(raw: dict[str, Any], fused: bool) -> None:
    layer = layer_of(raw)
    weights = {name: value.double().numpy() for name, value in layer.named_parameters()}
    hidden = torch.randn(70, 64, generator=torch.Generator().manual_seed(0))
    wanted = reference_k3.mla(hidden.double().numpy(), weights, raw.get("text_config", raw))
    if fused:
        layer.fuse()
    q, rows, z = layer.project(hidden)
    mask = hiding(torch.ones(70, 70, dtype=torch.bool).tril())
    plain = layer.plain(q, rows, mask)
    absorbed = layer.absorbed(q.unsqueeze(0), rows.unsqueeze(0), mask.unsqueeze(0)).squeeze(0)
    assert distance(absorbed, plain) < 1e-5
    assert distance(layer.finish(plain, z), wanted) < 1e-5
    assert distance(layer.finish(absorbed, z), wanted) < 1e-5


def test_several_sequences_decode_over_padded_rows() -> None:
    layer = layer_of(raw_k3())
    hidden = torch.randn(3, 64, generator=torch.Generator().manual_seed(1))
    cached = torch.randn(3, 64, 48, generator=torch.Generator().manual_seed(2))
    totals = torch.tensor([64, 1, 17])
    visible = torch.arange(64) < totals.unsqueeze(-1)
    q = layer.project(hidden).q.unsqueeze(1)
    together = layer.absorbed(q, cached, hiding(visible).unsqueeze(1))
    for index, total in enumerate(totals.tolist()):
        alone = layer.absorbed(q[index : index + 1], cached[index : index + 1, :total], None)
        assert distance(together[index], alone[0]) < 1e-5


def test_expanding_is_chosen_for_long_prefill_only() -> None:
    layer = layer_of(raw_k3())
    assert not layer.prefers_absorbed(512, 512)
    assert layer.prefers_absorbed(2, 2000)
