"""Synthesised checkpoints load, stay sane, and decay as the released model's first layers do."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from kimi_sdk.engine.checkpoint import load
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.mla import MLA
from kimi_sdk.engine.presets import k3, kimi_linear_48b
from training.synthesize import main, synthesize

TOKENS = 64


def narrow(raw: dict[str, Any]) -> dict[str, Any]:
    """The released config with a narrower stream and fewer heads of the real size."""
    raw = copy.deepcopy(raw)
    body = raw.get("text_config", raw)
    body |= {"hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4, "num_key_value_heads": 4}
    body |= {"num_experts": 8, "num_experts_per_token": 2, "moe_intermediate_size": 64}
    if "routed_expert_hidden_size" in body:
        body["routed_expert_hidden_size"] = 128
    body["linear_attn_config"] |= {"num_heads": 8}
    raw.pop("vision_config", None)
    return raw


def sums(folder: Path) -> tuple[dict[int, torch.Tensor], torch.Tensor, torch.Tensor]:
    """Gates added up over 32 tokens by layer, the keys of layer 0, and the last hidden states."""
    model = load(folder)
    ids = torch.randint(model.config.text.vocab, (TOKENS,), generator=torch.Generator().manual_seed(0))
    found: dict[int, torch.Tensor] = {}
    keys: list[torch.Tensor] = []

    def attention(index: int, layer: KDA | MLA, normed: torch.Tensor) -> torch.Tensor:
        if isinstance(layer, KDA):
            projected = layer.project(normed)
            found[index] = layer.decay(projected.u).view(TOKENS // 32, 32, -1).sum(1)
            keys.append(layer.heads_of(projected.qkv)[1])
        return normed

    with torch.inference_mode():
        hidden = model.decoder.forward(model.embed(ids), attention)
    return found, keys[0], hidden


def test_decays_reach_where_those_of_k3_do(tmp_path: Path) -> None:
    synthesize(tmp_path, narrow(k3()), [0, 1, 3], vocab=512)
    gates, keys, hidden = sums(tmp_path)
    assert -160 <= gates[0].min() < -159
    assert -56 * 1.15 < gates[1].min() < -56 * 0.85
    for sum_of_32 in gates.values():
        assert sum_of_32.max() > -0.2  # and some hardly forget at all
    alike = torch.einsum("nhd,mhd->hnm", keys, keys).mean()
    assert 0.3 < alike < 0.7
    assert 0.3 < hidden.square().mean().sqrt() < 3


def test_kimi_linear_decays_without_bound(tmp_path: Path) -> None:
    synthesize(tmp_path, narrow(kimi_linear_48b()), [0, 1, 3], vocab=512)
    gates, _, hidden = sums(tmp_path)
    assert torch.isfinite(hidden).all()
    assert all((gate < 0).all() for gate in gates.values())


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        synthesize(tmp_path / name, narrow(k3()), [1], seed=seed, vocab=64)
    a, b, c = ((tmp_path / name / "model.safetensors").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(narrow(k3())))
    out = tmp_path / "out"
    command = [str(out), "--config", str(tmp_path / "config.json"), "--vocab", "300", "--experts", "4"]
    assert main([*command, "--layers", "0,3", "--no-vision"]) == 0
    assert "2 layers" in capsys.readouterr().out
    assert load(out).config.text.moe.experts == 4  # type: ignore[union-attr]
    with pytest.raises(SystemExit):
        main([*command, "--layers", "99"])
    assert "there is no layer 99" in capsys.readouterr().err
