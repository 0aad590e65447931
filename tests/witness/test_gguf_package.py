"""The ``gguf`` package's reader and its own MXFP4 over a file that the export writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from witness_models import raw_k3, saved

from kimi_sdk.export import export_gguf
from kimi_sdk.source import BUNDLED

if importlib.util.find_spec("gguf") is None:
    pytest.skip("gguf is not installed (extra: witness)", allow_module_level=True)

VOCAB = 8192


def test_every_tensor_and_key(tmp_path: Path) -> None:
    import gguf

    raw = raw_k3()
    raw["text_config"]["vocab_size"] = VOCAB
    model = saved(raw, tmp_path / "model")
    for name in ("tiktoken.model", "tokenizer_config.json"):
        (tmp_path / "model" / name).write_bytes((BUNDLED / "k3-mini" / name).read_bytes())
    done = export_gguf(tmp_path / "model", tmp_path / "m.gguf")
    read = gguf.GGUFReader(tmp_path / "m.gguf")
    tensors = {tensor.name: tensor for tensor in read.tensors}
    assert len(tensors) == done.tensors
    kind = next(arch for arch, name in gguf.MODEL_ARCH_NAMES.items() if name == done.architecture)
    known = {gguf.TENSOR_NAMES[tensor] for tensor in gguf.MODEL_TENSORS[kind]}
    for name in tensors:
        parts = name.removesuffix(".weight").removesuffix(".bias").split(".")
        general = ".".join([parts[0], "{bid}", *parts[2:]] if parts[0] == "blk" else parts)
        assert general in known, name
    assert len(read.fields["tokenizer.ggml.tokens"].data) == VOCAB
    assert read.fields["kimi-k3.attn_res.block_size"].contents() == 2
    layer = model.decoder.layers[2]
    for name, wanted in (
        ("ffn_gate_exps", layer.block_sparse_moe.experts.w13[:, :32]),
        ("ffn_up_exps", layer.block_sparse_moe.experts.w13[:, 32:]),
        ("ffn_down_exps", layer.block_sparse_moe.experts.w2),
        ("attn_q", layer.self_attn.q_proj.weight),
    ):
        tensor = tensors[f"blk.2.{name}.weight"]
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        assert torch.equal(torch.from_numpy(np.array(values)), wanted.detach().contiguous())
