"""The keys of a ``config.json``: which are understood, which say nothing to the engine, which are unknown.

Knows names and the quantization section's only legal values; leaves the shape of the model to ``config``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kimi_sdk.vision.config import FIXED, VisionConfig

GROUP = 32
"""Weights that share one scale in MXFP4."""

_TOKENS = {"bos_token_id", "eos_token_id", "pad_token_id", "media_placeholder_token_id"}
# Names of code, of training and of other runtimes; positions too, since nothing here is rotated.
_SILENT = (
    {"architectures", "auto_map", "model_type", "transformers_version", "dtype", "torch_dtype", "use_cache"}
    | {"initializer_range", "ignore_index", "image_placeholder", "tie_word_embeddings", "head_dim"}
    | {
        "attention_dropout",
        "attention_bias",
        "rope_theta",
        "rope_scaling",
        "rope_parameters",
        "_name_or_path",
    }
    | {"output_router_logits", "output_attentions", "output_hidden_states", "return_dict", "pretraining_tp"}
)
_TEXT = (
    {"vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size", "hidden_act", "rms_norm_eps"}
    | {"activation_situ_beta", "activation_situ_linear_beta", "max_position_embeddings", "model_max_length"}
    | {"num_attention_heads", "num_key_value_heads", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim"}
    | {"qk_rope_head_dim", "v_head_dim", "mla_use_nope", "mla_use_output_gate", "linear_attn_config"}
    | {"num_experts", "num_experts_per_token", "num_shared_experts", "moe_intermediate_size"}
    | {"routed_expert_hidden_size", "latent_moe_use_norm", "first_k_dense_replace", "moe_layer_freq"}
    | {"moe_router_activation_func", "topk_method", "use_grouped_topk", "num_expert_group", "topk_group"}
    | {"moe_renormalize", "routed_scaling_factor", "attn_res_block_size", "num_nextn_predict_layers"}
    | {"quantization_config"}
)
_LINEAR = {"num_heads", "head_dim", "short_conv_kernel_size", "gate_lower_bound", "use_full_rank_gate"} | {
    "kda_layers",
    "full_attn_layers",
}
_QUANTIZATION = {"quant_method", "format", "quantization_status", "config_groups", "ignore"} | {
    "kv_cache_scheme",
    "global_compression_ratio",
    "sparsity_config",
    "transform_config",
    "version",
}
_GROUP_KEYS = {"targets", "weights", "input_activations", "output_activations", "format"}
_WEIGHT_RULES: Mapping[str, tuple[Any, ...]] = {
    "num_bits": (4,),
    "type": ("float",),
    "strategy": ("group",),
    "group_size": (GROUP,),
    "symmetric": (True,),
    "dynamic": (False,),
    "scale_dtype": ("torch.uint8", None),
}
_WEIGHT_KEYS = {*_WEIGHT_RULES, "observer", "observer_kwargs", "actorder", "block_structure", "zp_dtype"}


def check_quantization(section: Mapping[str, Any], path: str = "quantization_config") -> None:
    """Refuses every packing but K3's: MXFP4 weights in groups of 32, activations as they are.

    Raises:
        ValueError: names the key.
    """
    one_of(section, "quant_method", ("compressed-tensors",), path)
    one_of(section, "format", ("mxfp4-pack-quantized",), path)
    one_of(section, "quantization_status", ("compressed",), path)
    one_of(section, "kv_cache_scheme", (None,), path)
    groups = section.get("config_groups", {})
    if not isinstance(groups, Mapping) or len(groups) > 1:
        raise ValueError(f"{path}.config_groups is {groups!r}; an object with one group is wanted")
    for name, group in groups.items():
        inner = f"{path}.config_groups.{name}"
        if not isinstance(group, Mapping):
            raise ValueError(f"{inner} is {group!r}, an object is wanted")
        one_of(group, "format", ("mxfp4-pack-quantized", None), inner)
        one_of(group, "input_activations", (None,), inner)
        one_of(group, "output_activations", (None,), inner)
        weights = group.get("weights") or {}
        if not isinstance(weights, Mapping):
            raise ValueError(f"{inner}.weights is {weights!r}, an object is wanted")
        for key, allowed in _WEIGHT_RULES.items():
            one_of(weights, key, allowed, f"{inner}.weights")


def one_of(body: Mapping[str, Any], key: str, allowed: tuple[Any, ...], path: str = "") -> None:
    """Refuses a value that is there and not among those that the code computes.

    Raises:
        ValueError: names the key.
    """
    if key not in body:
        return
    value = body[key]
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        where = f"{path}.{key}" if path else key
        raise ValueError(f"{where} is {value!r}; these layers compute {' or '.join(map(repr, allowed))}")


def unknown_keys(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys that nothing here reads or knows to be silent, as dotted paths in the file's order."""
    return tuple(_unknown(raw))


def _unknown(raw: Mapping[str, Any]) -> Iterator[str]:
    body = raw.get("text_config")
    known = _SILENT | _TOKENS | {"quantization_config", "vision_config"}
    if isinstance(body, Mapping):
        yield from _outside(raw, known | {"text_config"}, "")
        yield from _text(body, "text_config.")
    else:
        yield from _outside(raw, known | _TEXT, "")
        yield from _text_sections(raw, "")
    if isinstance(vision := raw.get("vision_config"), Mapping):
        own = set(VisionConfig.__dataclass_fields__) - {"extra"}
        yield from _outside(vision, own | set(FIXED) | _SILENT, "vision_config.")


def _text(body: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from _outside(body, _TEXT | _SILENT | _TOKENS, path)
    yield from _text_sections(body, path)


def _text_sections(body: Mapping[str, Any], path: str) -> Iterator[str]:
    if isinstance(linear := body.get("linear_attn_config"), Mapping):
        yield from _outside(linear, _LINEAR, f"{path}linear_attn_config.")
    if isinstance(packing := body.get("quantization_config"), Mapping):
        inner = f"{path}quantization_config."
        yield from _outside(packing, _QUANTIZATION, inner)
        groups = packing.get("config_groups")
        for name, group in groups.items() if isinstance(groups, Mapping) else ():
            path = f"{inner}config_groups.{name}."
            yield from _outside(group, _GROUP_KEYS, path)
            yield from _outside(group.get("weights") or {}, _WEIGHT_KEYS, f"{path}weights.")


def _outside(section: Mapping[str, Any], known: set[str], path: str) -> Iterator[str]:
    yield from (f"{path}{key}" for key in section if key not in known)
