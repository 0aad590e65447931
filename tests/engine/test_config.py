"""Configs: what real files say, what is refused, and that nothing is lost."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from engine_models import raw_irregular, raw_k3, raw_kimi_linear

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.presets import k3, kimi_linear_48b, tiny
from kimi_sdk.errors import LoadError


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
    text = K3Config.from_dict(k3()).text
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
        ({"linear_attn_config": {"gate_lower_bound": True}}, "gate_lower_bound is True"),
        ({"linear_attn_config": {"kda_layers": "123"}}, "kda_layers is '123'"),
        ({"linear_attn_config": {"full_attn_layers": [4.0]}}, "full_attn_layers is"),
        ({"linear_attn_config": {"use_full_rank_gate": 1}}, "use_full_rank_gate is 1"),
        ({"mla_use_output_gate": "yes"}, "mla_use_output_gate is 'yes'"),
        ({"latent_moe_use_norm": None}, "latent_moe_use_norm is None"),
        ({"topk_group": 2}, "topk_group is 2"),
        ({"topk_method": "other"}, "topk_method is 'other'"),
        ({"moe_layer_freq": 2}, "moe_layer_freq is 2"),
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


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"quant_method": "awq"}, "quantization_config.quant_method is 'awq'"),
        ({"format": "nvfp4-pack-quantized"}, "quantization_config.format"),
        ({"quantization_status": "frozen"}, "quantization_config.quantization_status"),
        ({"kv_cache_scheme": {"num_bits": 8}}, "quantization_config.kv_cache_scheme"),
        ({"config_groups": []}, "quantization_config.config_groups"),
        ({"config_groups": {"a": {}, "b": {}}}, "one group"),
        (
            {"config_groups": {"a": {"weights": {"group_size": 16}}}},
            "config_groups.a.weights.group_size is 16",
        ),
        ({"config_groups": {"a": {"weights": {"num_bits": 8}}}}, "config_groups.a.weights.num_bits is 8"),
        ({"config_groups": {"a": {"input_activations": {}}}}, "config_groups.a.input_activations"),
    ],
)
def test_other_packings_are_refused(changes: dict[str, Any], said: str) -> None:
    raw = raw_k3()
    raw["text_config"]["quantization_config"].update(changes)
    with pytest.raises(LoadError, match=said):
        K3Config.from_dict(raw)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"eos_token_id": 600}, "eos_token_id is 600, outside the vocabulary"),
        ({"media_placeholder_token_id": -1}, "media_placeholder_token_id is -1"),
        ({"pad_token_id": "0"}, "pad_token_id is '0'"),
        ({"text_config": 3}, "text_config is 3"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings is 1"),
        ({"dtype": "float8"}, "dtype is 'float8'"),
    ],
)
def test_the_whole_must_fit_together(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(LoadError, match=said):
        K3Config.from_dict(tiny(512) | changes)


def test_the_projector_must_reach_the_decoder() -> None:
    raw = tiny(512)
    raw["vision_config"]["text_hidden_size"] = 32
    with pytest.raises(LoadError, match="text_hidden_size is 32"):
        K3Config.from_dict(raw)


def test_unknown_keys_are_told() -> None:
    raw = k3() | {"surprise": 1}
    raw["text_config"]["rope_theta"] = 1e4
    raw["text_config"]["depth_scale"] = 1
    raw["text_config"]["linear_attn_config"]["chunk"] = 64
    raw["text_config"]["quantization_config"]["seed"] = 0
    raw["text_config"]["quantization_config"]["config_groups"]["group_0"]["weights"]["zero_point"] = 0
    raw["vision_config"]["video"] = True
    path = "text_config.quantization_config."
    assert K3Config.from_dict(raw).unknown == (
        "surprise",
        "text_config.depth_scale",
        "text_config.linear_attn_config.chunk",
        f"{path}seed",
        f"{path}config_groups.group_0.weights.zero_point",
        "vision_config.video",
    )
    assert K3Config.from_dict(kimi_linear_48b() | {"surprise": 1}).unknown == ("surprise",)
