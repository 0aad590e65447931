"""The bf16 mode: it rounds where docs/numerics.md says and nowhere else, and stays near the exact equations.

A layer is compared twice: with float64 equations that round at the documented points (agreement up to single
roundings that fp32 sums tip over) and with the exact ones (the price of bf16).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import reference_k3
import rounded_k3
import torch
from engine_models import VARIANTS, distance, random_model, raw_k3, run
from numbers_kit import Walk, hold, layer_weights, lower, rows, text_of
from reference_k3 import under

from kimi_sdk.engine.checkpoint import load, save
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.manifest import pinned_names
from kimi_sdk.engine.mla import MLA
from kimi_sdk.engine.moe import MLP, LatentMoE

TOKENS = 48
SAME = 1.2e-3
"""Limit to the equations with the same roundings: one more rounding anywhere costs 1.6e-3."""
PLAIN = 2e-3
"""The same for attention over expanded keys: PyTorch's blockwise kernel rounds its exponentials."""
EXACT = 1e-2
"""Limit to the exact equations."""


@pytest.fixture(scope="module", params=sorted(VARIANTS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "fused"])
def model(kind: str, request: pytest.FixtureRequest) -> K3:
    model = lower(random_model(VARIANTS[kind]()))
    return model.fuse() if request.param else model


@pytest.mark.parametrize("splits", [[TOKENS], [1] * TOKENS], ids=["prefill", "decode"])
def test_attention_rounds_where_it_says(kind: str, model: K3, splits: list[int]) -> None:
    text = text_of(VARIANTS[kind]())
    hidden = rows(TOKENS, 64)
    wide = hidden.double().numpy()
    for layer in model.decoder.order:
        weights = under(layer_weights(model, layer.index), "self_attn.")
        found = Walk(model, TOKENS).attend(layer, hidden.bfloat16(), splits)
        assert found.dtype == torch.bfloat16
        name = f"{kind} layer {layer.index} {type(layer.self_attn).__name__}"
        if isinstance(layer.self_attn, KDA):
            same = rounded_k3.kda(wide, weights, text["linear_attn_config"], 1e-5)
            exact = reference_k3.kda(wide, weights, text["linear_attn_config"], 1e-5)
        else:
            same = rounded_k3.mla(wide, weights, text, absorbed=len(splits) > 1)
            exact = reference_k3.mla(wide, weights, text)
        plain = isinstance(layer.self_attn, MLA) and len(splits) == 1
        hold(f"{name}, same roundings", found, same, PLAIN if plain else SAME)
        hold(f"{name}, exact", found, exact, EXACT)


@pytest.mark.parametrize("tokens", [1, 2, 30])
def test_feed_forwards_round_where_they_say(kind: str, model: K3, tokens: int) -> None:
    text = text_of(VARIANTS[kind]())
    hidden = rows(tokens, 64, seed=tokens)
    wide = hidden.double().numpy()
    for layer in model.decoder.order:
        weights, module = layer_weights(model, layer.index), layer.feed_forward
        found = module.forward(hidden.bfloat16())
        assert found.dtype == torch.bfloat16
        own = under(weights, "mlp." if isinstance(module, MLP) else "block_sparse_moe.")
        kept, free = (
            (rounded_k3.mlp, reference_k3.mlp)
            if isinstance(module, MLP)
            else (rounded_k3.moe, reference_k3.moe)
        )
        name = f"{kind} layer {layer.index} {type(module).__name__}"
        hold(f"{name}, same roundings", found, kept(wide, own, text), SAME)
        hold(f"{name}, exact", found, free(wide, own, text), EXACT)


def test_the_stream_rounds_where_it_says(kind: str, model: K3) -> None:
    """Between sublayers: mixes and norms from the sublayers' own outputs, sums exactly as bf16 adds."""
    text = text_of(VARIANTS[kind]())
    block = text.get("attn_res_block_size")
    for layer in model.decoder.order:
        bank = [rows(TOKENS, 64, seed=10 + i) for i in range(-(-layer.index // block) if block else 0)]
        prefix = rows(TOKENS, 64, seed=layer.index, size=2)
        seen: dict[str, torch.Tensor] = {}

        def attention(
            _: int, __: object, normed: torch.Tensor, seen: dict[str, torch.Tensor] = seen
        ) -> torch.Tensor:
            seen["x"], seen["a"] = normed, rows(TOKENS, 64, seed=77).bfloat16()
            return seen["a"]

        def feed_forward(
            _: int, __: object, normed: torch.Tensor, seen: dict[str, torch.Tensor] = seen
        ) -> torch.Tensor:
            seen["h"], seen["f"] = normed, rows(TOKENS, 64, seed=78).bfloat16()
            return seen["f"]

        low = tuple(snapshot.bfloat16() for snapshot in bank)
        found, after = layer.forward(prefix.bfloat16(), low, attention, feed_forward)
        weights = layer_weights(model, layer.index)
        x, h, last = stream(weights, layer.index, block, prefix, bank, seen["a"], seen["f"])
        assert {value.dtype for value in (found, *after, *seen.values())} == {torch.bfloat16}
        hold(f"{kind} layer {layer.index}, into attention", seen["x"], x, SAME)
        hold(f"{kind} layer {layer.index}, into the feed-forward", seen["h"], h, SAME)
        assert torch.equal(found.double(), torch.from_numpy(last))


def stream(
    w: Any,
    index: int,
    block: int | None,
    prefix: torch.Tensor,
    bank: list[torch.Tensor],
    a: torch.Tensor,
    f: torch.Tensor,
) -> tuple[Any, Any, Any]:
    """What attention and the feed-forward must read, and the prefix after the layer."""
    p, sources = prefix.double().numpy(), [snapshot.double().numpy() for snapshot in bank]
    read = rounded_k3.site("self_attention_res", w, p, sources, 1e-5)
    x = rounded_k3.rms(read, w["input_layernorm.weight"], 1e-5)
    out = a.double().numpy()
    if block and index % block == 0:
        sources, p = [*sources, p], out
    else:
        p = rounded_k3.r(p + out)
    read = rounded_k3.site("mlp_res", w, p, sources, 1e-5)
    h = rounded_k3.rms(read, w["post_attention_layernorm.weight"], 1e-5)
    return x, h, rounded_k3.r(p + f.double().numpy())


def test_fp32_islands_keep_their_dtype(model: K3) -> None:
    """States and pinned tensors are fp32, the stream's caches bf16, logits fp32."""
    assert all(model.get_parameter(name).dtype == torch.float32 for name in pinned_names(model))
    caches = model.caches(slots=1, pages=1)
    assert {state.dtype for state in caches.slots.recurrent.values()} == {torch.float32}
    assert {state.dtype for state in caches.slots.conv.values()} == {torch.bfloat16}
    assert {pool.dtype for pool in caches.pages.rows.values()} == {torch.bfloat16}
    hidden = rows(5, 64).bfloat16()
    assert model.logits(hidden).dtype == torch.float32
    for layer in model.decoder.order:
        if isinstance(layer.self_attn, KDA):
            decay = layer.self_attn.decay(layer.self_attn.project(hidden).u)
            assert decay.dtype == torch.float32
        if isinstance(layer.feed_forward, LatentMoE):
            assert layer.feed_forward.route(hidden)[1].dtype == torch.float32


def test_a_bf16_router_would_choose_others() -> None:
    """Why the island is there: logits in bf16 change the chosen experts of some tokens."""
    layer = random_model(raw_k3(num_experts=64, num_experts_per_token=8)).decoder.order[1].feed_forward
    assert isinstance(layer, LatentMoE)
    hidden = rows(300, 64).bfloat16()
    ids, _ = layer.route(hidden)
    coarse = torch.sigmoid(hidden @ layer.gate.weight.bfloat16().T).float()
    others = (coarse + layer.gate.e_score_correction_bias).topk(8).indices
    changed = (ids.sort().values != others.sort().values).any(-1).double().mean()
    assert changed > 0.02


@pytest.mark.parametrize("dtype", ["bfloat16", torch.bfloat16], ids=str)
def test_a_checkpoint_loads_in_bf16_and_saves_the_same_bytes(
    tmp_path: Path, dtype: torch.dtype | str
) -> None:
    save(random_model(raw_k3()), tmp_path / "one")
    low = load(tmp_path / "one", dtype=dtype)
    pinned = pinned_names(low)
    for name, parameter in low.named_parameters():
        assert parameter.dtype == (torch.float32 if name in pinned else torch.bfloat16), name
    save(low, tmp_path / "two")
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    high = load(tmp_path / "one", dtype="float32")
    ids = [(11 * i) % 128 for i in range(50)]
    assert distance(run(low, ids, [40, 1, 9]), run(high, ids, [40, 1, 9])) < 0.3
