"""The ``gguf`` package's reader and its own MXFP4 over a file that the export writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from witness_models import raw_k3, raw_kimi_linear, saved

from kimi_sdk.engine.k3 import K3
from kimi_sdk.export import Exported, export_gguf
from kimi_sdk.source import BUNDLED

if importlib.util.find_spec("gguf") is None:
    pytest.skip("gguf is not installed (extra: witness)", allow_module_level=True)

VOCAB = 8192


def exported(raw: dict[str, Any], folder: Path) -> tuple[K3, Exported, Any]:
    """A random model, its export, and the package's reader of it."""
    import gguf

    raw.get("text_config", raw)["vocab_size"] = VOCAB
    model = saved(raw, folder / "model")
    for name in ("tiktoken.model", "tokenizer_config.json"):
        (folder / "model" / name).write_bytes((BUNDLED / "k3-mini" / name).read_bytes())
    done = export_gguf(folder / "model", folder / "m.gguf")
    return model, done, gguf.GGUFReader(folder / "m.gguf")


def test_values(tmp_path: Path) -> None:
    from gguf.quants import dequantize

    model, done, read = exported(raw_k3(), tmp_path)
    tensors = {tensor.name: tensor for tensor in read.tensors}
    assert len(tensors) == done.tensors
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
        values = dequantize(tensor.data, tensor.tensor_type)
        assert torch.equal(torch.from_numpy(np.array(values)), wanted.detach().contiguous())


@pytest.mark.parametrize("kind", ["kimi-k3", "kimi-linear"])
def test_names(tmp_path: Path, kind: str) -> None:
    import gguf

    found = [arch for arch, name in gguf.MODEL_ARCH_NAMES.items() if name == kind]
    if not found:
        pytest.skip(f"this gguf package does not know {kind} yet")
    _, done, read = exported(raw_k3() if kind == "kimi-k3" else raw_kimi_linear(), tmp_path)
    assert done.architecture == kind
    known = {gguf.TENSOR_NAMES[tensor] for tensor in gguf.MODEL_TENSORS[found[0]]}
    for tensor in read.tensors:
        parts = tensor.name.removesuffix(".weight").removesuffix(".bias").split(".")
        general = ".".join([parts[0], "{bid}", *parts[2:]] if parts[0] == "blk" else parts)
        assert general in known, tensor.name
