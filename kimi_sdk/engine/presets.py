"""Configs written out as ``config.json`` would be: the released models', and a tiny one.

Knows the published numbers of Kimi K3 and Kimi-Linear-48B-A3B; leaves their meaning to ``config``.
"""

from __future__ import annotations

import copy
from typing import Any

_QUANTIZATION: dict[str, Any] = {
    "quant_method": "compressed-tensors",
    "format": "mxfp4-pack-quantized",
    "quantization_status": "compressed",
    "kv_cache_scheme": None,
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {
                "num_bits": 4,
                "type": "float",
                "strategy": "group",
                "group_size": 32,
                "symmetric": True,
                "dynamic": False,
                "scale_dtype": "torch.uint8",
                "observer": "minmax",
            },
            "input_activations": None,
            "output_activations": None,
        }
    },
    "ignore": [
        "re:.*self_attn.*",
        "re:.*shared_experts.*",
        "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
        "re:.*lm_head.*",
        "re:.*vision_tower.*",
        "re:.*mm_projector.*",
    ],
}


_TEXT: dict[str, Any] = {
    "model_type": "kimi_linear",
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "intermediate_size": 128,
    "hidden_act": "situ",
    "activation_situ_beta": 4.0,
    "activation_situ_linear_beta": 25.0,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 16384,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "q_lora_rank": 32,
    "kv_lora_rank": 32,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
    "mla_use_nope": True,
    "mla_use_output_gate": True,
    "num_experts": 4,
    "num_experts_per_token": 2,
    "num_shared_experts": 1,
    "moe_intermediate_size": 32,
    "routed_expert_hidden_size": 32,
    "latent_moe_use_norm": True,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "moe_router_activation_func": "sigmoid",
    "topk_method": "noaux_tc",
    "use_grouped_topk": True,
    "num_expert_group": 1,
    "topk_group": 1,
    "moe_renormalize": True,
    "routed_scaling_factor": 1.0,
    "attn_res_block_size": 2,
    "num_nextn_predict_layers": 0,
    "tie_word_embeddings": False,
    "linear_attn_config": {
        "num_heads": 2,
        "head_dim": 32,
        "short_conv_kernel_size": 4,
        "gate_lower_bound": -5.0,
        "use_full_rank_gate": True,
        "kda_layers": [1, 2, 3],
        "full_attn_layers": [4],
    },
    "quantization_config": _QUANTIZATION,
}

_VISION: dict[str, Any] = {
    "patch_size": 14,
    "init_pos_emb_height": 8,
    "init_pos_emb_width": 8,
    "init_pos_emb_time": 4,
    "pos_emb_type": "divided_fixed",
    "pos_emb_interpolation_mode": "bilinear",
    "vt_hidden_size": 32,
    "vt_num_hidden_layers": 2,
    "vt_num_attention_heads": 2,
    "qkv_hidden_size": 64,
    "vt_intermediate_size": 64,
    "mlp_type": "mlp2",
    "activation_func": "gelu_pytorch_tanh",
    "norm_type": "rmsnorm",
    "attn_bias": False,
    "linear_bias": False,
    "patch_embed_proj_bias": False,
    "merge_kernel_size": [2, 2],
    "merge_type": "sd2_tpool",
    "mm_projector_type": "patchmergerv2",
    "mm_hidden_size": 32,
    "projector_hidden_act": "gelu",
    "projector_ln_eps": 1e-5,
    "text_hidden_size": 64,
}


def tiny(vocab: int, *, vision: bool = True) -> dict[str, Any]:
    """A legal K3 with width 64: 3 KDA and 1 MLA layers, 2 heads of 32, the best 2 of 4 experts."""
    raw: dict[str, Any] = {
        "architectures": ["KimiK3ForConditionalGeneration"],
        "model_type": "kimi_k3",
        "dtype": "bfloat16",
        "tie_word_embeddings": False,
        "text_config": {"vocab_size": vocab} | copy.deepcopy(_TEXT),
    }
    if vision:
        raw["vision_config"] = copy.deepcopy(_VISION)
    return raw


def k3() -> dict[str, Any]:
    """Kimi K3 as released: 93 layers, of which 24 are MLA (91 and 92, counted from 0, both), 896 experts."""
    full = [*range(4, 93, 4), 93]
    text = copy.deepcopy(_TEXT) | {
        "architectures": ["KimiLinearForCausalLM"],
        "dtype": "bfloat16",
        "vocab_size": 163840,
        "hidden_size": 7168,
        "num_hidden_layers": 93,
        "intermediate_size": 33792,
        "max_position_embeddings": 1048576,
        "num_attention_heads": 96,
        "num_key_value_heads": 96,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "num_experts": 896,
        "num_experts_per_token": 16,
        "num_shared_experts": 2,
        "moe_intermediate_size": 3072,
        "routed_expert_hidden_size": 3584,
        "attn_res_block_size": 12,
        "linear_attn_config": {
            "num_heads": 96,
            "head_dim": 128,
            "short_conv_kernel_size": 4,
            "gate_lower_bound": -5.0,
            "use_full_rank_gate": True,
            "full_attn_layers": full,
            "kda_layers": [layer for layer in range(1, 94) if layer not in full],
        },
    }
    sight = {
        "init_pos_emb_height": 64,
        "init_pos_emb_width": 64,
        "vt_hidden_size": 1024,
        "vt_num_hidden_layers": 27,
        "vt_num_attention_heads": 12,
        "qkv_hidden_size": 1536,
        "vt_intermediate_size": 4096,
        "mm_hidden_size": 1024,
        "text_hidden_size": 7168,
    }
    return {
        "architectures": ["KimiK3ForConditionalGeneration"],
        "model_type": "kimi_k3",
        "dtype": "bfloat16",
        "bos_token_id": 163584,
        "eos_token_id": 163586,
        "pad_token_id": 163839,
        "media_placeholder_token_id": 163605,
        "image_placeholder": "<|kimi_image_placeholder|>",
        "ignore_index": -100,
        "tie_word_embeddings": False,
        "auto_map": {
            "AutoConfig": "configuration_kimi_k3.KimiK3Config",
            "AutoModelForCausalLM": "modeling_kimi_k3.KimiK3ForConditionalGeneration",
        },
        "text_config": text,
        "vision_config": copy.deepcopy(_VISION) | sight,
    }


def kimi_linear_48b() -> dict[str, Any]:
    """Kimi-Linear-48B-A3B: flat keys, 27 layers with plain residuals, SwiGLU, bf16 experts, no vision."""
    full = [*range(4, 25, 4), 27]
    return {
        "architectures": ["KimiLinearForCausalLM"],
        "model_type": "kimi_linear",
        "dtype": "bfloat16",
        "bos_token_id": 163584,
        "eos_token_id": 163586,
        "pad_token_id": 163839,
        "vocab_size": 163840,
        "hidden_size": 2304,
        "head_dim": 72,
        "num_hidden_layers": 27,
        "intermediate_size": 9216,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "model_max_length": 1048576,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "q_lora_rank": None,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "mla_use_nope": True,
        "rope_theta": 10000.0,
        "rope_scaling": None,
        "num_experts": 256,
        "num_experts_per_token": 8,
        "num_shared_experts": 1,
        "moe_intermediate_size": 1024,
        "first_k_dense_replace": 1,
        "moe_layer_freq": 1,
        "moe_router_activation_func": "sigmoid",
        "moe_renormalize": True,
        "use_grouped_topk": True,
        "num_expert_group": 1,
        "topk_group": 1,
        "routed_scaling_factor": 2.446,
        "num_nextn_predict_layers": 0,
        "tie_word_embeddings": False,
        "linear_attn_config": {
            "num_heads": 32,
            "head_dim": 128,
            "short_conv_kernel_size": 4,
            "full_attn_layers": full,
            "kda_layers": [layer for layer in range(1, 28) if layer not in full],
        },
    }
