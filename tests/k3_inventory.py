"""The complete tensor list of the released Kimi K3, written out by hand, and as index and headers on disk.

Independent of the engine: names, shapes and dtypes come from the public inventory, so that the loader's own
list can be held against it. Files are sparse: they have their full length and hold no bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TENSORS = 497_220
TOTAL_BYTES = 1_560_860_324_864
SHARDS = 96
PARTS = {
    "routed experts": 1_446_456_066_048,
    "vision tower": 802_428_928,
    "projector": 92_289_024,
    "embedding": 2_348_810_240,
    "head": 2_348_810_240,
}
"""Bytes of some parts, from the public arithmetic."""

Tensor = tuple[str, str, tuple[int, ...]]
"""Name, dtype, shape."""
_MLA = {*range(3, 92, 4), 92}
_SIZES = {"F32": 4, "BF16": 2, "U8": 1}


def tensors() -> Iterator[tuple[int, Tensor]]:
    """(number of its shard, tensor): layer l in l + 1, embedding and head in 94, vision in 95 and 96."""
    for layer in range(93):
        for last, dtype, shape in _layer(layer):
            yield layer + 1, (f"language_model.model.layers.{layer}.{last}", dtype, shape)
    table = (163840, 7168)
    yield 94, ("language_model.lm_head.weight", "BF16", table)
    yield 94, ("language_model.model.embed_tokens.weight", "BF16", table)
    for name in ("norm", "output_attn_res_norm"):
        yield 94, (f"language_model.model.{name}.weight", "BF16", (7168,))
    yield 94, ("language_model.model.output_attn_res_proj.weight", "BF16", (1, 7168))
    for last, shape in (("proj.0", (4096, 4096)), ("proj.2", (7168, 4096)), ("post_norm", (7168,))):
        yield 95, (f"mm_projector.{last}.weight", "BF16", shape)
    for last, shape in _tower():
        yield 96, (f"vision_tower.{last}.weight", "BF16", shape)


def _layer(layer: int) -> Iterator[Tensor]:
    for norm in ("input_layernorm", "post_attention_layernorm", "self_attention_res_norm", "mlp_res_norm"):
        yield f"{norm}.weight", "BF16", (7168,)
    for proj in ("self_attention_res_proj", "mlp_res_proj"):
        yield f"{proj}.weight", "BF16", (1, 7168)
    attention = _mla() if layer in _MLA else _kda()
    yield from ((f"self_attn.{name}", dtype, shape) for name, dtype, shape in attention)
    if layer:
        yield from ((f"block_sparse_moe.{name}", dtype, shape) for name, dtype, shape in _moe())
        return
    for name in ("gate_proj", "up_proj"):
        yield f"mlp.{name}.weight", "BF16", (33792, 7168)
    yield "mlp.down_proj.weight", "BF16", (7168, 33792)


def _kda() -> Iterator[Tensor]:
    for letter in "qkv":
        yield f"{letter}_proj.weight", "BF16", (12288, 7168)
        yield f"{letter}_conv1d.weight", "F32", (12288, 1, 4)
    yield "g_proj.weight", "BF16", (12288, 7168)
    yield "o_proj.weight", "BF16", (7168, 12288)
    yield "A_log", "F32", (128,)
    yield "dt_bias", "F32", (12288,)
    yield "f_a_proj.weight", "BF16", (128, 7168)
    yield "f_b_proj.weight", "BF16", (12288, 128)
    yield "b_proj.weight", "BF16", (96, 7168)
    yield "o_norm.weight", "F32", (128,)


def _mla() -> Iterator[Tensor]:
    for name, shape in (
        ("q_a_proj", (1536, 7168)),
        ("q_a_layernorm", (1536,)),
        ("q_b_proj", (18432, 1536)),
        ("kv_a_proj_with_mqa", (576, 7168)),
        ("kv_a_layernorm", (512,)),
        ("kv_b_proj", (24576, 512)),
        ("g_proj", (12288, 7168)),
        ("o_proj", (7168, 12288)),
    ):
        yield f"{name}.weight", "BF16", shape


def _moe() -> Iterator[Tensor]:
    yield "gate.weight", "BF16", (896, 7168)
    yield "gate.e_score_correction_bias", "F32", (896,)
    yield "routed_expert_down_proj.weight", "BF16", (3584, 7168)
    yield "routed_expert_up_proj.weight", "BF16", (7168, 3584)
    yield "routed_expert_norm.weight", "BF16", (3584,)
    for name in ("gate_proj", "up_proj"):
        yield f"shared_experts.{name}.weight", "BF16", (6144, 7168)
    yield "shared_experts.down_proj.weight", "BF16", (7168, 6144)
    for expert in range(896):
        for matrix, rows, columns in (("w1", 3072, 3584), ("w2", 3584, 3072), ("w3", 3072, 3584)):
            yield f"experts.{expert}.{matrix}.weight_packed", "U8", (rows, columns // 2)
            yield f"experts.{expert}.{matrix}.weight_scale", "U8", (rows, columns // 32)


def _tower() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "patch_embed.proj", (1024, 3, 14, 14)
    yield "patch_embed.pos_emb", (64, 64, 1024)
    yield "encoder.final_layernorm", (1024,)
    for block in range(27):
        for last, shape in (
            ("norm0", (1024,)),
            ("norm1", (1024,)),
            ("wqkv", (4608, 1024)),
            ("wo", (1024, 1536)),
            ("mlp.fc0", (4096, 1024)),
            ("mlp.fc1", (1024, 4096)),
        ):
            yield f"encoder.blocks.{block}.{last}", shape


def write(folder: Path, *, sparse: bool = True) -> Counter[str]:
    """Writes config, index and all 96 shards; without ``sparse`` each file ends with its header.

    Returns:
        how many tensors there are of each dtype.
    """
    from kimi_sdk.engine.presets import k3

    shards: list[list[Tensor]] = [[] for _ in range(SHARDS)]
    for number, tensor in tensors():
        shards[number - 1].append(tensor)
    weight_map: dict[str, str] = {}
    kinds: Counter[str] = Counter()
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05d}-of-{SHARDS:06d}.safetensors"
        shard.sort(key=lambda tensor: (-_SIZES[tensor[1]], tensor[0]))
        _write_shard(folder / file, shard, sparse)
        weight_map.update((name, file) for name, _, _ in shard)
        kinds.update(dtype for _, dtype, _ in shard)
    index: dict[str, Any] = {"metadata": {"total_size": TOTAL_BYTES}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    (folder / "config.json").write_text(json.dumps(k3()), "utf-8")
    return kinds


def _write_shard(path: Path, shard: list[Tensor], sparse: bool) -> None:
    header: dict[str, Any] = {}
    end = 0
    for name, dtype, shape in shard:
        size = _SIZES[dtype]
        for length in shape:
            size *= length
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": (end, end + size)}
        end += size
    text = json.dumps(header, separators=(",", ":")).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        if sparse:
            file.truncate(8 + len(text) + end)
