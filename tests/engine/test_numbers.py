"""Every kind of layer in fp32 against float64 equations: relative L2 of 2e-6 at most (-rP prints them)."""

from __future__ import annotations

from typing import Any

import pytest
import reference_k3
from engine_models import VARIANTS, on_disk_float64, random_model, raw_k3, run
from numbers_kit import Walk, attend, hold, layer_weights, rows, text_of
from reference_k3 import under

from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.moe import MLP

TOKENS = 70
SPLITS = {"prefill": [TOKENS], "cut": [17, 1, 30, 1, 21], "decode": [1] * TOKENS}
WIDE: dict[str, Any] = {
    "hidden_size": 192,
    "num_hidden_layers": 5,
    "num_experts": 12,
    "num_experts_per_token": 3,
    "linear_attn_config": {
        "num_heads": 3,
        "head_dim": 64,
        "kda_layers": [1, 2, 4],
        "full_attn_layers": [3, 5],
    },
}
RAWS = {"wide": lambda: raw_k3(**WIDE), **VARIANTS}


@pytest.fixture(scope="module", params=sorted(RAWS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "fused"])
def model(kind: str, request: pytest.FixtureRequest) -> K3:
    model = random_model(RAWS[kind]())
    return model.fuse() if request.param else model


@pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS)
def test_attention(kind: str, model: K3, splits: list[int]) -> None:
    """KDA and MLA, every such layer of the model."""
    text = text_of(RAWS[kind]())
    hidden = rows(TOKENS, text["hidden_size"])
    for layer in model.decoder.order:
        weights = under(layer_weights(model, layer.index), "self_attn.")
        if isinstance(layer.self_attn, KDA):
            wanted = reference_k3.kda(
                hidden.double().numpy(), weights, text["linear_attn_config"], text["rms_norm_eps"]
            )
        else:
            wanted = reference_k3.mla(hidden.double().numpy(), weights, text)
        name = f"{kind} layer {layer.index} {type(layer.self_attn).__name__}"
        hold(name, attend(model, layer.index, hidden, splits), wanted)


@pytest.mark.parametrize("tokens", [1, 2, 40])
def test_feed_forwards(kind: str, model: K3, tokens: int) -> None:
    """The dense layer and the experts."""
    text = text_of(RAWS[kind]())
    hidden = rows(tokens, text["hidden_size"], seed=tokens)
    for layer in model.decoder.order:
        weights, module = layer_weights(model, layer.index), layer.feed_forward
        if isinstance(module, MLP):
            wanted = reference_k3.mlp(hidden.double().numpy(), under(weights, "mlp."), text)
        else:
            wanted = reference_k3.moe(hidden.double().numpy(), under(weights, "block_sparse_moe."), text)
        hold(f"{kind} layer {layer.index} {type(module).__name__}", module.forward(hidden), wanted)


@pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS)
def test_whole_layers(kind: str, model: K3, splits: list[int]) -> None:
    """Each layer alone, on a stream of its own: mixes, norms, attention, feed-forward and the sums."""
    text = text_of(RAWS[kind]())
    block = text.get("attn_res_block_size")
    for layer in model.decoder.order:
        count = -(-layer.index // block) if block else 0
        bank = tuple(rows(TOKENS, text["hidden_size"], seed=10 + i) for i in range(count))
        prefix = rows(TOKENS, text["hidden_size"], seed=layer.index, size=2)
        found, after = Walk(model, TOKENS).layer(layer, prefix, bank, splits)
        wanted, sources = reference_k3.decoder_layer(
            text,
            layer_weights(model, layer.index),
            layer.index,
            prefix.double().numpy(),
            [snapshot.double().numpy() for snapshot in bank],
        )
        hold(f"{kind} whole layer {layer.index}", found, wanted)
        assert len(after) == len(sources)


def test_the_mix(kind: str, model: K3) -> None:
    if not model.decoder.site:
        pytest.skip("a plain residual")
    width, eps = model.config.text.hidden, model.config.text.eps
    for count in (1, 2, 8):
        for size in (1e-4, 1.0, 100.0):
            bank = tuple(rows(30, width, seed=i, size=size * 2**i) for i in range(count))
            prefix = rows(30, width, seed=99, size=size)
            site = model.decoder.site
            norm, proj = (p.weight.detach().double().numpy() for p in (site.norm, site.proj))
            wanted = reference_k3.mix(
                prefix.double().numpy(), [b.double().numpy() for b in bank], norm, proj, eps
            )
            hold(f"mix of {count} and the prefix, size {size:g}", site(prefix, bank), wanted)


def test_the_whole_model(kind: str, model: K3) -> None:
    ids = [(37 * i + i * i) % 128 for i in range(TOKENS)]
    wanted = reference_k3.forward(RAWS[kind](), on_disk_float64(model), ids)
    for name, splits in SPLITS.items():
        hold(f"{kind} logits, {name}", run(model, ids, splits), wanted, limit=2e-5)
