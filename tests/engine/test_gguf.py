"""GGUF files read back by a reader of their own, written from the specification; exports of small models."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from engine_models import random_model, raw_k3, raw_kimi_linear
from torch import Tensor

from kimi_sdk import cli
from kimi_sdk.engine import checkpoint
from kimi_sdk.engine.gguf import ALIGNMENT, Kind, Stored, mxfp4_blocks, write
from kimi_sdk.engine.mxfp4 import dequantize, quantize
from kimi_sdk.errors import ConfigError, LoadError
from kimi_sdk.export import export_gguf, merges_of, vocabulary
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.source import BUNDLED

VOCAB = 8192
MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


class Read:
    """A GGUF file: ``keys`` and ``tensors`` by name."""

    def __init__(self, path: Path) -> None:
        self.raw, self.at = path.read_bytes(), 0
        assert self.take("<4sI") == (b"GGUF", 3)
        tensors, keys = self.take("<QQ")
        self.keys = {self.text(): self.value(*self.take("<I")) for _ in range(keys)}
        table = []
        for _ in range(tensors):
            name = self.text()
            (axes,) = self.take("<I")
            table.append((name, self.take(f"<{axes}Q")[::-1], *self.take("<IQ")))
        base = -(-self.at // ALIGNMENT) * ALIGNMENT
        self.kinds = {name: Kind(kind) for name, _, kind, _ in table}
        self.tensors = {
            name: self.tensor(shape, Kind(kind), base + offset) for name, shape, kind, offset in table
        }

    def take(self, form: str) -> Any:
        found = struct.unpack_from(form, self.raw, self.at)
        self.at += struct.calcsize(form)
        return found

    def text(self) -> str:
        (size,) = self.take("<Q")
        self.at += size
        return self.raw[self.at - size : self.at].decode()

    def value(self, kind: int) -> Any:
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, count = self.take("<IQ")
            return [self.value(inner) for _ in range(count)]
        return self.take({4: "<I", 5: "<i", 6: "<f", 7: "<?"}[kind])[0]

    def tensor(self, shape: tuple[int, ...], kind: Kind, start: int) -> Tensor:
        count = torch.Size(shape).numel()
        if kind is Kind.MXFP4:
            blocks = torch.frombuffer(bytearray(self.raw), dtype=torch.uint8, offset=start)
            blocks = blocks[: count // 32 * 17].view(-1, 17)
            codes = torch.cat((blocks[:, 1:] & 15, blocks[:, 1:] >> 4), dim=1).long()
            table = torch.tensor([*MAGNITUDES, *(-value for value in MAGNITUDES)])
            return (table[codes] * 2.0 ** (blocks[:, :1].float() - 127)).view(shape)
        dtype = {Kind.F32: torch.float32, Kind.F16: torch.float16, Kind.BF16: torch.bfloat16}[kind]
        return torch.frombuffer(bytearray(self.raw), dtype=dtype, count=count, offset=start).view(shape)


def folder_of(raw: dict[str, Any], folder: Path) -> Path:
    """A random model with the bundled tokenizer."""
    body = raw.get("text_config", raw)
    body["vocab_size"] = VOCAB
    checkpoint.save(random_model(raw), folder)
    for name in ("tiktoken.model", "tokenizer_config.json"):
        (folder / name).write_bytes((BUNDLED / "k3-mini" / name).read_bytes())
    return folder


def test_values_and_shapes(tmp_path: Path) -> None:
    keys = {"a": 7, "b": 0.5, "c": True, "d": "é", "e": [1, -2], "f": ["x", "yz"], "g": []}
    rows = torch.randn(3, 5)
    tensors = [
        Stored("one", Kind.F32, (3, 5), lambda: rows.split(1)),
        Stored("two", Kind.BF16, (3, 5), lambda: [rows]),
        Stored("three", Kind.F16, (3, 5), lambda: [rows]),
    ]
    size = write(tmp_path / "x.gguf", keys, tensors)
    read = Read(tmp_path / "x.gguf")
    assert size == (tmp_path / "x.gguf").stat().st_size
    assert size % ALIGNMENT == 0
    assert read.keys == keys
    assert torch.equal(read.tensors["one"], rows)
    assert torch.equal(read.tensors["two"], rows.bfloat16())
    assert torch.equal(read.tensors["three"], rows.half())


def test_packed_blocks_keep_every_value() -> None:
    packed, scale = quantize(torch.randn(6, 96) * torch.logspace(-8, 8, 6).unsqueeze(-1))
    blocks = mxfp4_blocks(packed, scale)
    assert blocks.shape == (6, 3, 17)
    codes = torch.cat((blocks[..., 1:] & 15, blocks[..., 1:] >> 4), dim=-1).long()
    table = torch.tensor([*MAGNITUDES, *(-value for value in MAGNITUDES)])
    values = table[codes] * 2.0 ** (blocks[..., :1].float() - 127)
    assert torch.equal(values.flatten(-2), dequantize(packed, scale))


def test_a_failed_file_is_not_left_behind(tmp_path: Path) -> None:
    old = tmp_path / "x.gguf"
    old.write_text("before")
    for value, kind, reason in ((float("nan"), Kind.F32, "NaN"), (1e6, Kind.F16, "beyond the range")):
        broken = Stored("t", kind, (1,), lambda value=value: [torch.tensor([value])])
        with pytest.raises(LoadError, match=reason):
            write(old, {}, [broken])
    assert old.read_text() == "before"
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.parametrize("storage", ["auto", "f32"])
def test_k3(tmp_path: Path, storage: Any) -> None:
    raw = raw_k3(linear_attn_config={"num_heads": 3})
    folder = folder_of(raw, tmp_path / "model")
    told: list[tuple[int, int]] = []
    done = export_gguf(
        folder, tmp_path / "m.gguf", storage=storage, progress=lambda *bytes_: told.append(bytes_)
    )
    read, model = Read(tmp_path / "m.gguf"), checkpoint.load(folder)
    assert (done.architecture, done.tensors) == ("kimi-k3", len(read.tensors))
    assert done.bytes == (tmp_path / "m.gguf").stat().st_size
    assert told[-1][0] == told[-1][1] > 0
    assert read.keys["general.architecture"] == "kimi-k3"
    assert read.keys["kimi-k3.attention.head_count"] == 3
    assert read.keys["kimi-k3.attention.head_count_kv"] == [0, 0, 0, 1]
    assert read.keys["kimi-k3.kda.gate_lower_bound"] == -5.0
    experts = "blk.1.ffn_down_exps.weight"
    assert read.kinds[experts] is (Kind.MXFP4 if storage == "auto" else Kind.F32)
    stack = model.decoder.layers[1].block_sparse_moe.experts.w2
    assert torch.equal(read.tensors[experts], stack.detach().contiguous())
    assert read.kinds["blk.0.attn_q.weight"] is (Kind.BF16 if storage == "auto" else Kind.F32)
    assert read.kinds["blk.1.ffn_gate_inp.weight"] is Kind.F32
    mix = model.decoder.layers[2]
    query = mix.mlp_res_norm.weight * mix.mlp_res_proj.weight[0]
    assert torch.allclose(read.tensors["blk.2.ffn_res_score.weight"], query.detach())
    assert torch.allclose(read.tensors["blk.0.ssm_a"], -model.decoder.layers[0].self_attn.rate().detach())
    # The full-attention layer has 2 heads of 32: the third one is empty.
    assert not read.tensors["blk.3.attn_output.weight"][:, 64:].any()
    assert read.tensors["blk.3.attn_k_b.weight"].shape == (3, 32, 32)
    assert not read.tensors["blk.3.attn_v_b.weight"][2].any()


def test_kimi_linear(tmp_path: Path) -> None:
    folder = folder_of(raw_kimi_linear(), tmp_path / "model")
    done = export_gguf(folder, tmp_path / "m.gguf")
    read = Read(tmp_path / "m.gguf")
    assert (done.architecture, done.left_out) == ("kimi-linear", ())
    assert read.tensors["blk.0.ssm_a"].shape == (2, 1)
    assert read.tensors["blk.0.ssm_g_a.weight"].shape == (32, 64)
    assert "kimi-linear.attn_res.block_size" not in read.keys
    assert read.keys["kimi-linear.expert_weights_scale"] == pytest.approx(2.446)
    assert read.keys["tokenizer.ggml.tokens"][VOCAB - 64 + 2] == "<|im_end|>"


def test_vocabulary_of_the_bundled_tokenizer() -> None:
    from kimi_sdk.engine.config import K3Config

    tokenizer, config = Tokenizer.load(BUNDLED / "k3-mini"), K3Config.load(BUNDLED / "k3-mini")
    keys = vocabulary(tokenizer, config)
    tokens, kinds = keys["tokenizer.ggml.tokens"], keys["tokenizer.ggml.token_type"]
    assert isinstance(tokens, list)
    assert isinstance(kinds, list)
    assert len(tokens) == len(set(tokens)) == len(kinds) == VOCAB
    assert tokens[tokenizer.end_of_msg_id] == "<|end_of_msg|>"
    assert (kinds[0], kinds[tokenizer.open_id]) == (1, 3)
    assert tokens[tokenizer.encode(" the")[0]].startswith("Ġ")
    merges = keys["tokenizer.ggml.merges"]
    assert isinstance(merges, list)
    assert all(merge.replace(" ", "") in set(tokens) for merge in merges[:200])


def test_merges_follow_ranks() -> None:
    ranks = {bytes((value,)): value for value in range(256)}
    ranks |= {b"ab": 256, b"cd": 257, b"abcd": 258, b"bc": 259, b"xyz": 260}
    assert list(merges_of(ranks)) == [(b"a", b"b"), (b"c", b"d"), (b"ab", b"cd"), (b"b", b"c")]


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        (lambda: raw_k3(hidden_act="silu"), "hidden_act"),
        (lambda: raw_kimi_linear() | {"moe_renormalize": False}, "moe_renormalize"),
        (lambda: raw_kimi_linear() | {"q_lora_rank": 24}, "q_lora_rank"),
    ],
)
def test_what_llama_cpp_cannot_compute_is_refused(tmp_path: Path, raw: Any, key: str) -> None:
    folder = folder_of(raw(), tmp_path / "model")
    with pytest.raises(LoadError, match=key):
        export_gguf(folder, tmp_path / "m.gguf")
    assert not (tmp_path / "m.gguf").exists()


def test_wrong_arguments(tmp_path: Path) -> None:
    folder = folder_of(raw_k3(), tmp_path / "model")
    with pytest.raises(ConfigError, match="q4_0"):
        export_gguf(folder, tmp_path / "m.gguf", storage="q4_0")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="cannot be written"):
        export_gguf(folder, tmp_path / "nowhere" / "m.gguf")
    for place in (tmp_path, ""):
        with pytest.raises(ConfigError, match="is a folder"):
            export_gguf(folder, place)
    settings = {"special_slots": 128}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(LoadError, match="do not belong together"):
        export_gguf(folder, tmp_path / "m.gguf")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = folder_of(raw_k3(), tmp_path / "model"), tmp_path / "m.gguf"
    assert cli.main(["export-gguf", str(folder), "--out", str(out), "--storage", "bf16"]) == cli.OK
    assert "kimi-k3" in capsys.readouterr().out
    assert Read(out).kinds["blk.1.ffn_up_exps.weight"] is Kind.BF16
    assert cli.main(["export-gguf", str(tmp_path / "none"), "--out", str(out)]) == cli.USAGE
