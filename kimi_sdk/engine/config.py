"""The shape of a model: typed views of a checkpoint's ``config.json``.

Knows which keys mean what for Kimi K3 and Kimi-Linear, and refuses what the layers cannot compute.
Leaves tensors and files to the layers and to ``checkpoint``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kimi_sdk.engine.keys import GROUP, check_quantization, one_of, unknown_keys
from kimi_sdk.errors import LoadError
from kimi_sdk.vision.config import VisionConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAttentionConfig:
    """Kimi Delta Attention (``linear_attn_config``).

    ``kda_layers`` and ``full_attn_layers`` count from 1, as in the file. ``gate_lower_bound`` None means the
    unbounded softplus decay of Kimi-Linear; ``full_rank_gate`` False means its two-step output gate.
    """

    heads: int
    head_dim: int
    kda_layers: tuple[int, ...]
    full_attn_layers: tuple[int, ...]
    conv_size: int = 4
    gate_lower_bound: float | None = None
    full_rank_gate: bool = False

    @property
    def width(self) -> int:
        """Channels of one of q, k, v: heads times head_dim."""
        return self.heads * self.head_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionConfig:
    """Multi-head latent attention without positions; ``rope_dim`` keeps its name and is never rotated."""

    heads: int
    q_lora_rank: int | None
    kv_lora_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    output_gate: bool = False

    @property
    def row(self) -> int:
        """Cached values per token: the latent and the shared key part."""
        return self.kv_lora_rank + self.rope_dim

    @property
    def qk_dim(self) -> int:
        """Width of one query head."""
        return self.nope_dim + self.rope_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class MoEConfig:
    """Routed experts. ``latent`` None means that experts read and write the full width."""

    experts: int
    top_k: int
    width: int
    shared: int = 0
    latent: int | None = None
    latent_norm: bool = False
    renormalize: bool = True
    scaling: float = 1.0
    bias: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TextConfig:
    """The decoder. ``block`` None or 0 means plain residual sums instead of attention residuals."""

    vocab: int
    hidden: int
    layers: int
    dense_width: int
    dense_layers: int
    linear: LinearAttentionConfig
    attention: AttentionConfig
    moe: MoEConfig | None
    block: int | None = None
    activation: str = "silu"
    situ_beta: float = 4.0
    situ_linear_beta: float = 25.0
    eps: float = 1e-5
    lora_eps: float = 1e-6
    tied: bool = False
    context: int = 1_048_576
    quantized: bool = False
    dtype: str = "bfloat16"

    def is_kda(self, layer: int) -> bool:
        """Whether the layer (counted from 0) is linear attention; read off the list, never off a stride."""
        return layer + 1 in self.linear.kda_layers

    def is_dense(self, layer: int) -> bool:
        """Whether the layer (counted from 0) has a dense feed-forward instead of experts."""
        return self.moe is None or layer < self.dense_layers

    @property
    def kda_indices(self) -> tuple[int, ...]:
        """Linear-attention layers counted from 0, in order."""
        return tuple(layer for layer in range(self.layers) if self.is_kda(layer))

    @property
    def mla_indices(self) -> tuple[int, ...]:
        """Full-attention layers counted from 0, in order."""
        return tuple(layer for layer in range(self.layers) if not self.is_kda(layer))


@dataclass(frozen=True, slots=True, kw_only=True)
class K3Config:
    """A whole model: decoder, optional vision tower and the ids that it stops and pads with.

    ``raw`` is the file as read: keys that this class does not know survive a round trip. ``nested`` says
    whether the decoder's keys sit under ``text_config`` and its tensors under ``language_model.`` (K3) or at
    the top (Kimi-Linear).
    """

    text: TextConfig
    vision: VisionConfig | None = None
    nested: bool = True
    bos_token_id: int | None = None
    eos_token_id: int | None = None
    pad_token_id: int | None = None
    media_token_id: int | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> K3Config:
        """Reads a parsed ``config.json``.

        Raises:
            LoadError: a key is missing, of a wrong type, or asks for something that the layers do not have.
        """
        nested = "text_config" in raw
        try:
            body = _section(raw, "text_config") if nested else raw
            config = cls(
                text=_text(body, raw),
                vision=VisionConfig.from_dict(_section(raw, "vision_config"))
                if raw.get("vision_config")
                else None,
                nested=nested,
                bos_token_id=_id(raw, body, "bos_token_id"),
                eos_token_id=_id(raw, body, "eos_token_id"),
                pad_token_id=_id(raw, body, "pad_token_id"),
                media_token_id=_id(raw, body, "media_placeholder_token_id"),
                raw=dict(raw),
            )
            config._check()
        except KeyError as missing:
            raise LoadError(f"config.json: the key {missing.args[0]!r} is missing") from None
        except (TypeError, ValueError) as wrong:
            raise LoadError(f"config.json: {wrong}") from None
        return config

    @property
    def unknown(self) -> tuple[str, ...]:
        """Keys of the file that nothing here reads, as dotted paths: kept, and shown by ``inspect``."""
        return unknown_keys(self.raw)

    def _check(self) -> None:
        """What one key alone cannot show. Raises ValueError."""
        for key in ("bos_token_id", "eos_token_id", "pad_token_id", "media_token_id"):
            value = getattr(self, key)
            if value is not None and not 0 <= value < self.text.vocab:
                name = "media_placeholder_token_id" if key == "media_token_id" else key
                raise ValueError(f"{name} is {value}, outside the vocabulary of {self.text.vocab}")
        if self.vision is not None and self.vision.text_hidden_size != self.text.hidden:
            raise ValueError(
                f"vision_config.text_hidden_size is {self.vision.text_hidden_size}, and the decoder's "
                f"hidden_size is {self.text.hidden}"
            )

    @classmethod
    def load(cls, path: str | Path) -> K3Config:
        """Reads ``config.json`` from a file or from the folder that holds it.

        Raises:
            LoadError: the file is missing, is no JSON object, or ``from_dict`` refuses it.
        """
        file = Path(path) / "config.json" if Path(path).is_dir() else Path(path)
        try:
            raw = json.loads(file.read_text("utf-8"))
        except OSError as error:
            raise LoadError(f"{file}: cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError) as error:
            raise LoadError(f"{file}: is not valid JSON ({error})") from None
        if not isinstance(raw, dict):
            raise LoadError(f"{file}: holds {type(raw).__name__}, a JSON object is wanted")
        return cls.from_dict(raw)

    def to_dict(self) -> dict[str, Any]:
        """The file's content again, unknown keys included."""
        copied: dict[str, Any] = json.loads(json.dumps(dict(self.raw)))
        return copied

    @classmethod
    def tiny(cls, vocab: int = 512, *, vision: bool = True) -> K3Config:
        """The smallest legal K3: 4 layers of width 64, 4 experts; for tests, with random weights."""
        from kimi_sdk.engine.presets import tiny

        return cls.from_dict(tiny(vocab, vision=vision))


def _id(raw: Mapping[str, Any], body: Mapping[str, Any], key: str) -> int | None:
    value = raw.get(key, body.get(key))
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise ValueError(f"{key} is {value!r}, an integer is wanted")
    return value


def _int(body: Mapping[str, Any], key: str, default: int | None = None, *, least: int = 1) -> int:
    value = body[key] if default is None else body.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**31:
        raise ValueError(f"{key} is {value!r}, a whole number from {least} to 2**31 - 1 is wanted")
    return value


def _float(body: Mapping[str, Any], key: str, default: float) -> float:
    value = body.get(key, default)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError(f"{key} is {value!r}, a positive number is wanted")
    return float(value)


def _section(body: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    section = body[key]
    if not isinstance(section, Mapping):
        raise ValueError(f"{key} is {section!r}, an object is wanted")
    return section


def _flag(body: Mapping[str, Any], key: str, default: bool) -> bool:
    value = body.get(key, default)
    if not isinstance(value, bool):
        raise ValueError(f"{key} is {value!r}, true or false is wanted")
    return value


def _layers(linear: Mapping[str, Any], key: str) -> tuple[int, ...]:
    value = linear[key]
    if not isinstance(value, list | tuple) or not all(type(layer) is int for layer in value):
        raise ValueError(f"{key} is {value!r}, a list of layers counted from 1 is wanted")
    return tuple(value)


def _text(body: Mapping[str, Any], raw: Mapping[str, Any]) -> TextConfig:
    one_of(body, "hidden_act", ("situ", "silu"))
    one_of(body, "mla_use_nope", (True,))
    one_of(body, "moe_layer_freq", (1,))
    one_of(body, "num_nextn_predict_layers", (0, None))
    linear = _linear(body)
    layers = _int(body, "num_hidden_layers")
    _check_kinds(linear, layers)
    quantized = bool(body.get("quantization_config") or raw.get("quantization_config"))
    if quantized:
        holder = body if body.get("quantization_config") else raw
        check_quantization(_section(holder, "quantization_config"))
    experts = _int(body, "num_experts", 0, least=0)
    dtype = raw.get("dtype") or raw.get("torch_dtype") or body.get("dtype") or "bfloat16"
    one_of({"dtype": dtype}, "dtype", ("bfloat16", "float32", "float16"))
    return TextConfig(
        vocab=_int(body, "vocab_size"),
        hidden=_int(body, "hidden_size"),
        layers=layers,
        dense_width=_int(body, "intermediate_size"),
        dense_layers=_int(body, "first_k_dense_replace", 0, least=0) if experts else layers,
        linear=linear,
        attention=_attention(body),
        moe=_moe(body, quantized) if experts else None,
        block=_int(body, "attn_res_block_size") if body.get("attn_res_block_size") else None,
        activation=body.get("hidden_act", "silu"),
        situ_beta=_float(body, "activation_situ_beta", 4.0),
        situ_linear_beta=_float(body, "activation_situ_linear_beta", 25.0),
        eps=_float(body, "rms_norm_eps", 1e-5),
        tied=_flag(raw if "tie_word_embeddings" in raw else body, "tie_word_embeddings", False),
        context=_int(body, "max_position_embeddings", _int(body, "model_max_length", 1_048_576)),
        quantized=quantized,
        dtype=dtype,
    )


def _linear(body: Mapping[str, Any]) -> LinearAttentionConfig:
    linear = _section(body, "linear_attn_config")
    bound = linear.get("gate_lower_bound")
    if bound is not None and (type(bound) not in (int, float) or not -5.0 <= bound < 0):
        raise ValueError(f"gate_lower_bound is {bound!r}; a number in [-5, 0) or null is wanted")
    return LinearAttentionConfig(
        heads=_int(linear, "num_heads"),
        head_dim=_int(linear, "head_dim"),
        kda_layers=_layers(linear, "kda_layers"),
        full_attn_layers=_layers(linear, "full_attn_layers"),
        conv_size=_int(linear, "short_conv_kernel_size", 4),
        gate_lower_bound=None if bound is None else float(bound),
        full_rank_gate=_flag(linear, "use_full_rank_gate", False),
    )


def _check_kinds(linear: LinearAttentionConfig, layers: int) -> None:
    kinds = sorted(linear.kda_layers + linear.full_attn_layers)
    if len(kinds) != layers or kinds != list(range(1, layers + 1)):  # no list as long as a mere claim
        raise ValueError(
            f"kda_layers and full_attn_layers must name each layer 1..{layers} once, they name {kinds}"
        )


def _attention(body: Mapping[str, Any]) -> AttentionConfig:
    heads = _int(body, "num_attention_heads")
    one_of(body, "num_key_value_heads", (heads, None))
    return AttentionConfig(
        heads=heads,
        q_lora_rank=_int(body, "q_lora_rank") if body.get("q_lora_rank") else None,
        kv_lora_rank=_int(body, "kv_lora_rank"),
        nope_dim=_int(body, "qk_nope_head_dim"),
        rope_dim=_int(body, "qk_rope_head_dim", least=0),
        v_dim=_int(body, "v_head_dim"),
        output_gate=_flag(body, "mla_use_output_gate", False),
    )


def _moe(body: Mapping[str, Any], quantized: bool) -> MoEConfig:
    one_of(body, "moe_router_activation_func", ("sigmoid",))
    one_of(body, "num_expert_group", (1, None))
    one_of(body, "topk_group", (1, None))
    one_of(body, "topk_method", ("noaux_tc", "greedy"))
    latent = _int(body, "routed_expert_hidden_size") if body.get("routed_expert_hidden_size") else None
    moe = MoEConfig(
        experts=_int(body, "num_experts"),
        top_k=_int(body, "num_experts_per_token"),
        width=_int(body, "moe_intermediate_size"),
        shared=_int(body, "num_shared_experts") if body.get("num_shared_experts") else 0,
        latent=latent,
        latent_norm=_flag(body, "latent_moe_use_norm", False) and latent is not None,
        renormalize=_flag(body, "moe_renormalize", True),
        scaling=_float(body, "routed_scaling_factor", 1.0),
        bias=body.get("topk_method", "noaux_tc") == "noaux_tc",
    )
    if not 0 < moe.top_k <= moe.experts:
        raise ValueError(f"num_experts_per_token is {moe.top_k}, 1 to {moe.experts} is wanted")
    inner = (moe.width, latent or _int(body, "hidden_size"))
    if quantized and any(size % GROUP for size in inner):
        raise ValueError(f"MXFP4 experts need widths that are multiples of {GROUP}, they are {inner}")
    return moe
