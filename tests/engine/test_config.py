"""Configs: what real files say, what is refused, and that nothing is lost."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from engine_models import raw_irregular, raw_k3, raw_kimi_linear

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.presets import tiny
from kimi_sdk.errors import LoadError

FULL = [*range(4, 93, 4), 93]


def raw_released() -> dict[str, Any]:
    """The released K3's numbers."""
    raw = tiny(163840, vision=False)
    raw["text_config"].update(
        hidden_size=7168,
        num_hidden_layers=93,
        intermediate_size=33792,
        num_attention_heads=96,
        num_key_value_heads=96,
        q_lora_rank=1536,
        kv_lora_rank=512,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
        num_experts=896,
        num_experts_per_token=16,
        num_shared_experts=2,
        moe_intermediate_size=3072,
        routed_expert_hidden_size=3584,
        attn_res_block_size=12,
        max_position_embeddings=1048576,
    )
    raw["text_config"]["linear_attn_config"].update(
        num_heads=96,
        head_dim=128,
        full_attn_layers=FULL,
        kda_layers=[layer for layer in range(1, 94) if layer not in FULL],
    )
    return raw


def raw_mini() -> dict[str, Any]:
    """The bundled model's numbers."""
    return raw_k3(
        vocab_size=8192,
        hidden_size=208,
        num_hidden_layers=8,
        attn_res_block_size=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        q_lora_rank=96,
        kv_lora_rank=64,
        qk_nope_head_dim=48,
        qk_rope_head_dim=16,
        v_head_dim=64,
        num_experts=8,
        moe_intermediate_size=128,
        routed_expert_hidden_size=128,
        linear_attn_config={
            "num_heads": 3,
            "head_dim": 64,
            "kda_layers": [1, 2, 3, 5, 6, 7],
            "full_attn_layers": [4, 8],
        },
    )


def test_the_released_model() -> None:
    text = K3Config.from_dict(raw_released()).text
    assert text.mla_indices == (*range(3, 92, 4), 92)
    assert len(text.kda_indices) == 69
    assert text.is_dense(0)
    assert not text.is_dense(1)
    assert text.linear.gate_lower_bound == -5
    assert text.attention.row == 576
    assert text.quantized


def test_the_bundled_model() -> None:
    text = K3Config.from_dict(raw_mini()).text
    assert text.kda_indices == (0, 1, 2, 4, 5, 6)
    assert (text.attention.row, text.attention.qk_dim, text.linear.width) == (80, 64, 192)


@pytest.mark.parametrize("raw", [raw_k3(), raw_irregular(), raw_kimi_linear(), tiny(512)])
def test_unknown_keys_survive(raw: dict[str, Any]) -> None:
    raw = copy.deepcopy(raw) | {"auto_map": {"AutoModel": "x.Y"}, "anything": [1, None, "z"]}
    config = K3Config.from_dict(raw)
    assert config.to_dict() == raw
    assert K3Config.from_dict(config.to_dict()) == config


def test_kimi_linear_is_flat() -> None:
    config = K3Config.from_dict(raw_kimi_linear())
    text = config.text
    assert not config.nested
    assert (text.block, text.activation, text.attention.q_lora_rank, text.attention.output_gate) == (
        None,
        "silu",
        None,
        False,
    )
    assert text.moe is not None
    assert (text.moe.latent, text.moe.scaling) == (None, 2.446)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        ({"mla_use_nope": False}, "mla_use_nope"),
        ({"num_nextn_predict_layers": 1}, "num_nextn_predict_layers"),
        ({"num_key_value_heads": 1}, "num_key_value_heads"),
        ({"moe_router_activation_func": "softmax"}, "softmax"),
        ({"num_experts_per_token": 9}, "num_experts_per_token is 9"),
        ({"moe_intermediate_size": 40}, "multiples of 32"),
        ({"hidden_size": "64"}, "hidden_size is '64'"),
        ({"hidden_size": True}, "hidden_size is True"),
        ({"num_hidden_layers": 5}, "each layer 1..5 once"),
        ({"linear_attn_config": {"kda_layers": [1, 2, 3, 4]}}, "each layer"),
        ({"linear_attn_config": {"gate_lower_bound": -20}}, "gate_lower_bound is -20"),
        ({"linear_attn_config": {"gate_lower_bound": 1}}, "gate_lower_bound is 1"),
    ],
)
def test_what_the_layers_cannot_compute_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(LoadError, match=said):
        K3Config.from_dict(raw_k3(**changes))


def test_a_missing_key_is_named() -> None:
    raw = raw_k3()
    del raw["text_config"]["kv_lora_rank"]
    with pytest.raises(LoadError, match="'kv_lora_rank' is missing"):
        K3Config.from_dict(raw)


def test_files(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="cannot be read"):
        K3Config.load(tmp_path)
    file = tmp_path / "config.json"
    file.write_text("{", "utf-8")
    with pytest.raises(LoadError, match="not valid JSON"):
        K3Config.load(tmp_path)
    file.write_text("[]", "utf-8")
    with pytest.raises(LoadError, match="JSON object"):
        K3Config.load(file)
    file.write_text(json.dumps(tiny(300)), "utf-8")
    assert K3Config.load(tmp_path) == K3Config.tiny(300)
