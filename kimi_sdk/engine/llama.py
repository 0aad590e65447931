"""A checkpoint as llama.cpp wants it: its architectures ``kimi-k3`` and ``kimi-linear``, keys and tensors.

Knows their names, what they fold into one tensor, and what they cannot compute; leaves the file to ``gguf``
and the tokenizer to the caller. Text only: there is no place for the vision tower in these architectures.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from kimi_sdk.engine.checkpoint import Plan
from kimi_sdk.engine.config import TextConfig
from kimi_sdk.engine.gguf import Kind, Stored, Value, mxfp4_blocks
from kimi_sdk.engine.mxfp4 import dequantize
from kimi_sdk.engine.shards import map_file
from kimi_sdk.errors import LoadError

Change: TypeAlias = Callable[[Tensor], Tensor]
Storage: TypeAlias = Literal["auto", "f32", "f16", "bf16"]

KINDS = {"F32": Kind.F32, "F16": Kind.F16, "BF16": Kind.BF16}
_DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "U8": torch.uint8}
_SIGMOID_ROUTER = 2
_SLICES = (("w1", "ffn_gate_exps"), ("w2", "ffn_down_exps"), ("w3", "ffn_up_exps"))


def architecture(text: TextConfig) -> str:
    """``kimi-k3`` or ``kimi-linear``.

    Raises:
        LoadError: llama.cpp's graph of that name has a fixed part that this config has not.
    """
    name = "kimi-k3" if text.block else "kimi-linear"
    linear, moe = text.linear, text.moe
    wanted = {
        "experts": moe is not None,
        "hidden_act": text.activation == ("situ" if text.block else "silu"),
        "use_full_rank_gate": linear.full_rank_gate == bool(text.block),
    }
    if not text.block:
        wanted |= {
            "gate_lower_bound": linear.gate_lower_bound is None,
            "q_lora_rank": text.attention.q_lora_rank is None,
            "mla_use_output_gate": not text.attention.output_gate,
            "routed_expert_hidden_size": moe is None or moe.latent is None,
            "moe_renormalize": moe is None or moe.renormalize,
        }
    wrong = [key for key, fits in wanted.items() if not fits]
    if wrong:
        raise LoadError(
            f"config.json: llama.cpp's {name} is built for one value of {', '.join(wrong)}, and this model "
            "has another one; it cannot be exported."
        )
    return name


def parameters(text: TextConfig) -> dict[str, Value]:
    """The architecture's keys, without its name in front."""
    moe, mla, linear = text.moe, text.attention, text.linear
    assert moe is not None, "architecture() refuses a model without experts"
    keys: dict[str, Value] = {
        "vocab_size": text.vocab,
        "context_length": text.context,
        "embedding_length": text.hidden,
        "block_count": text.layers,
        "feed_forward_length": text.dense_width,
        "leading_dense_block_count": text.dense_layers,
        "attention.head_count": heads(text),
        "attention.head_count_kv": [0 if text.is_kda(layer) else 1 for layer in range(text.layers)],
        "attention.layer_norm_rms_epsilon": text.eps,
        "attention.kv_lora_rank": mla.kv_lora_rank,
        "attention.key_length": mla.row,
        "attention.value_length": mla.kv_lora_rank,
        "attention.key_length_mla": mla.qk_dim,
        "attention.value_length_mla": mla.v_dim,
        "rope.dimension_count": mla.rope_dim,
        "ssm.conv_kernel": linear.conv_size,
        "kda.head_dim": linear.head_dim,
        "expert_count": moe.experts,
        "expert_used_count": moe.top_k,
        "expert_feed_forward_length": moe.width,
        "expert_shared_count": moe.shared,
        "expert_weights_scale": moe.scaling,
        "expert_weights_norm": moe.renormalize,
        "expert_gating_func": _SIGMOID_ROUTER,
    }
    if mla.q_lora_rank is not None:
        keys["attention.q_lora_rank"] = mla.q_lora_rank
    if linear.gate_lower_bound is not None:
        keys["kda.gate_lower_bound"] = linear.gate_lower_bound
    if moe.latent is not None:
        keys["expert_latent_length"] = moe.latent
    if text.block:
        keys["attn_res.block_size"] = text.block
        keys["activation.situ_beta"] = text.situ_beta
        keys["activation.situ_linear_beta"] = text.situ_linear_beta
    return keys


def heads(text: TextConfig) -> int:
    """The one number of heads that llama.cpp has for both kinds of layer: the kind with fewer gets empty
    heads, whose weights and outputs are zero."""
    return max(text.linear.heads, text.attention.heads)


class Translation:
    """The tensors of a checkpoint under llama.cpp's names, read when they are written.

    Args:
        planned: an accounted checkpoint.
        storage: of matrices; ``"auto"`` keeps each as it is, packed experts too. Vectors, norms, routers and
            convolutions are fp32 in any case.
    """

    def __init__(self, planned: Plan, storage: Storage) -> None:
        self.text = planned.model.config.text
        self.shards = planned.shards
        self.prefix = "language_model." if planned.model.config.nested else ""
        self.forced = None if storage == "auto" else KINDS[storage.upper()]
        self.tensors: list[Stored] = []
        self._maps: dict[str, mmap.mmap] = {}
        architecture(self.text)
        self._whole()
        for layer in range(self.text.layers):
            self._norms(layer)
            (self._kda if self.text.is_kda(layer) else self._mla)(layer)
            (self._dense if self.text.is_dense(layer) else self._experts)(layer)

    def read(self, name: str) -> Tensor:
        """A tensor of the checkpoint, over the mapped file."""
        place, path = self.shards.located(name), self.shards.path(name)
        mapped = self._maps.get(str(path))
        if mapped is None:
            self._maps = {str(path): map_file(path)}  # one file at a time
            mapped = self._maps[str(path)]
        count = place.stop - place.start
        raw = torch.frombuffer(mapped, dtype=torch.uint8, count=count, offset=place.start)
        dtype = _DTYPES[place.dtype]
        return (raw.clone() if place.start % dtype.itemsize else raw).view(dtype).view(place.shape)

    def _add(self, name: str, source: str, change: Change | None = None, *, wide: bool = False) -> None:
        """One tensor after a change of shape; ``wide`` makes it fp32 in any case."""
        turn = change or (lambda tensor: tensor)
        source = self.prefix + source
        place = self.shards.located(source)
        shape = tuple(turn(torch.empty(place.shape, device="meta")).shape)
        wide = wide or len(shape) < 2
        kind = Kind.F32 if wide else self.forced if self.forced is not None else KINDS[place.dtype]
        self.tensors.append(Stored(name, kind, shape, lambda: [turn(self.read(source))]))

    def _query(self, name: str, source: str) -> None:
        """Norm and projection of a residual mix, which only ever act as their product."""

        def product() -> list[Tensor]:
            norm, proj = (self.read(f"{self.prefix}{source}_{part}.weight") for part in ("norm", "proj"))
            return [norm.float().flatten() * proj.float().flatten()]

        self.tensors.append(Stored(name, Kind.F32, (self.text.hidden,), product))

    def _whole(self) -> None:
        embedding, head = "model.embed_tokens.weight", "lm_head.weight"
        self._add("token_embd.weight", embedding)
        self._add("output.weight", embedding if self.text.tied else head)
        self._add("output_norm.weight", "model.norm.weight")
        if self.text.block:
            self._query("output_res_score.weight", "model.output_attn_res")

    def _norms(self, layer: int) -> None:
        ours, theirs = f"model.layers.{layer}.", f"blk.{layer}."
        self._add(f"{theirs}attn_norm.weight", f"{ours}input_layernorm.weight")
        self._add(f"{theirs}ffn_norm.weight", f"{ours}post_attention_layernorm.weight")
        if self.text.block:
            self._query(f"{theirs}attn_res_score.weight", f"{ours}self_attention_res")
            self._query(f"{theirs}ffn_res_score.weight", f"{ours}mlp_res")

    def _kda(self, layer: int) -> None:
        ours, theirs = f"model.layers.{layer}.self_attn.", f"blk.{layer}."
        linear = self.text.linear
        missing = heads(self.text) - linear.heads
        rows, columns = _longer(missing * linear.head_dim), _wider(missing * linear.head_dim)

        def rates(stored: Tensor) -> Tensor:
            found = functional.pad(-torch.exp(stored.flatten()[: linear.heads].float()), (0, missing))
            return found if self.text.block else found.unsqueeze(-1)

        for part in "qkv":
            self._add(f"{theirs}attn_{part}.weight", f"{ours}{part}_proj.weight", rows)
            self._add(f"{theirs}ssm_conv1d_{part}.weight", f"{ours}{part}_conv1d.weight", rows, wide=True)
        self._add(f"{theirs}ssm_f_a.weight", f"{ours}f_a_proj.weight")
        self._add(f"{theirs}ssm_f_b.weight", f"{ours}f_b_proj.weight", rows)
        self._add(f"{theirs}ssm_beta.weight", f"{ours}b_proj.weight", _longer(missing))
        self._add(f"{theirs}ssm_a", f"{ours}A_log", rates, wide=True)
        self._add(f"{theirs}ssm_dt.bias", f"{ours}dt_bias", rows)
        if linear.full_rank_gate:
            self._add(f"{theirs}ssm_g.weight", f"{ours}g_proj.weight", rows)
        else:
            self._add(f"{theirs}ssm_g_a.weight", f"{ours}g_a_proj.weight")
            self._add(f"{theirs}ssm_g_b.weight", f"{ours}g_b_proj.weight", rows)
        self._add(f"{theirs}ssm_norm.weight", f"{ours}o_norm.weight")
        self._add(f"{theirs}attn_output.weight", f"{ours}o_proj.weight", columns)

    def _mla(self, layer: int) -> None:
        ours, theirs = f"model.layers.{layer}.self_attn.", f"blk.{layer}."
        mla = self.text.attention
        missing = heads(self.text) - mla.heads
        queries, values = _longer(missing * mla.qk_dim), missing * mla.v_dim

        def by_head(stored: Tensor) -> Tensor:
            split = stored.view(mla.heads, mla.nope_dim + mla.v_dim, mla.kv_lora_rank)
            return functional.pad(split, (0, 0, 0, 0, 0, missing))

        if mla.q_lora_rank is None:
            self._add(f"{theirs}attn_q.weight", f"{ours}q_proj.weight", queries)
        else:
            self._add(f"{theirs}attn_q_a.weight", f"{ours}q_a_proj.weight")
            self._add(f"{theirs}attn_q_a_norm.weight", f"{ours}q_a_layernorm.weight")
            self._add(f"{theirs}attn_q_b.weight", f"{ours}q_b_proj.weight", queries)
        self._add(f"{theirs}attn_kv_a_mqa.weight", f"{ours}kv_a_proj_with_mqa.weight")
        self._add(f"{theirs}attn_kv_a_norm.weight", f"{ours}kv_a_layernorm.weight")
        both = f"{ours}kv_b_proj.weight"
        self._add(f"{theirs}attn_k_b.weight", both, lambda w: by_head(w)[:, : mla.nope_dim].transpose(1, 2))
        self._add(f"{theirs}attn_v_b.weight", both, lambda w: by_head(w)[:, mla.nope_dim :])
        if mla.output_gate:
            self._add(f"{theirs}attn_gate.weight", f"{ours}g_proj.weight", _longer(values))
        self._add(f"{theirs}attn_output.weight", f"{ours}o_proj.weight", _wider(values))

    def _dense(self, layer: int) -> None:
        for part in ("gate", "up", "down"):
            self._add(f"blk.{layer}.ffn_{part}.weight", f"model.layers.{layer}.mlp.{part}_proj.weight")

    def _experts(self, layer: int) -> None:
        ours, theirs = f"model.layers.{layer}.block_sparse_moe.", f"blk.{layer}."
        moe = self.text.moe
        assert moe is not None, "architecture() refuses a model without experts"
        self._add(f"{theirs}ffn_gate_inp.weight", f"{ours}gate.weight", wide=True)
        if moe.bias:
            self._add(f"{theirs}exp_probs_b.bias", f"{ours}gate.e_score_correction_bias")
        else:
            nothing = [torch.zeros(moe.experts)]
            self.tensors.append(
                Stored(f"{theirs}exp_probs_b.bias", Kind.F32, (moe.experts,), lambda: nothing)
            )
        if moe.latent is not None:
            self._add(f"{theirs}ffn_routed_down.weight", f"{ours}routed_expert_down_proj.weight")
            self._add(f"{theirs}ffn_routed_up.weight", f"{ours}routed_expert_up_proj.weight")
        if moe.latent_norm:
            self._add(f"{theirs}ffn_routed_norm.weight", f"{ours}routed_expert_norm.weight")
        if moe.shared:
            for part in ("gate", "up", "down"):
                self._add(f"{theirs}ffn_{part}_shexp.weight", f"{ours}shared_experts.{part}_proj.weight")
        for matrix, name in _SLICES:
            self._stack(f"{theirs}{name}.weight", f"{self.prefix}{ours}experts.", f".{matrix}.weight")

    def _stack(self, name: str, before: str, after: str) -> None:
        """All experts' matrices of one kind as one tensor."""
        moe = self.text.moe
        assert moe is not None, "architecture() refuses a model without experts"
        sources = [f"{before}{expert}{after}" for expert in range(moe.experts)]
        if not self.text.quantized:
            place = self.shards.located(sources[0])
            kind = KINDS[place.dtype] if self.forced is None else self.forced
            shape = (moe.experts, *place.shape)
            self.tensors.append(Stored(name, kind, shape, lambda: map(self.read, sources)))
            return
        rows, half = self.shards.located(f"{sources[0]}_packed").shape
        kind = Kind.MXFP4 if self.forced is None else self.forced
        turn = mxfp4_blocks if self.forced is None else dequantize

        def pieces() -> Iterator[Tensor]:
            for source in sources:
                yield turn(self.read(f"{source}_packed"), self.read(f"{source}_scale"))

        self.tensors.append(Stored(name, kind, (moe.experts, rows, 2 * half), pieces))


def _longer(count: int) -> Change:
    """Adds so many zero rows behind the first axis."""
    return lambda tensor: (
        functional.pad(tensor, (0, 0) * (tensor.dim() - 1) + (0, count)) if count else tensor
    )


def _wider(count: int) -> Change:
    """Adds so many zero columns behind the last axis."""
    return lambda tensor: functional.pad(tensor, (0, count)) if count else tensor
