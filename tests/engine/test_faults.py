"""Each way in which files can be wrong is one LoadError that names the file and the tensor."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from engine_models import random_model, raw_k3
from safetensors.torch import load_file, save_file

from kimi_sdk.engine.checkpoint import load, save
from kimi_sdk.errors import LoadError

LAYER = "language_model.model.layers.1."
NORM = LAYER + "input_layernorm.weight"
PACKED = LAYER + "block_sparse_moe.experts.2.w1.weight_packed"
SCALE = LAYER + "block_sparse_moe.experts.2.w1.weight_scale"
INDEX = "model.safetensors.index.json"
Tensors = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound")
    save(random_model(raw_k3()), folder, max_shard_bytes=60_000)
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    for file in sound.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def mapping(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / INDEX).read_text())["weight_map"]
    return found


def shard_of(folder: Path, name: str) -> Path:
    return folder / mapping(folder)[name]


def edit(folder: Path, name: str, change: Callable[[Tensors], Any]) -> Path:
    """Changes the shard that holds a tensor, and the index with it."""
    file = shard_of(folder, name)
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)
    names = {key: value for key, value in mapping(folder).items() if value != file.name}
    names |= dict.fromkeys(tensors, file.name)
    (folder / INDEX).write_text(json.dumps({"weight_map": names}))
    return file


def edit_header(file: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = file.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    changed = change(header)
    text = changed if isinstance(changed, bytes) else json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])


def refused(folder: Path, *said: str) -> None:
    with pytest.raises(LoadError) as caught:
        load(folder)
    assert all(part in str(caught.value) for part in said), str(caught.value)


def put(name: str, value: torch.Tensor) -> Callable[[Tensors], Any]:
    return lambda tensors: tensors.update({name: value})


def test_the_folder_is_sound_before(folder: Path) -> None:
    edit(folder, NORM, lambda _: None)
    load(folder)


def test_a_renamed_tensor(folder: Path) -> None:
    file = edit(folder, NORM, lambda held: held.update({NORM + "s": held.pop(NORM)}))
    refused(folder, f"1 missing: {NORM}", f"1 unknown: {NORM}s in {file.name}")


def test_a_missing_tensor(folder: Path) -> None:
    edit(folder, PACKED, lambda held: held.pop(PACKED))
    refused(folder, str(folder), f"1 missing: {PACKED}")


def test_a_missing_shard(folder: Path) -> None:
    file = shard_of(folder, SCALE)
    file.unlink()
    refused(folder, f"{file}: no such file")


def test_a_tensor_in_two_shards(folder: Path) -> None:
    value = load_file(shard_of(folder, NORM))[NORM]
    other = "language_model.model.norm.weight"
    assert shard_of(folder, other) != shard_of(folder, NORM)
    edit(folder, other, put(NORM, value))
    refused(folder, f"{NORM} is also in", ".safetensors")


def test_a_tensor_twice_in_one_header(folder: Path) -> None:
    file = shard_of(folder, NORM)

    def double(header: dict[str, Any]) -> bytes:
        text = json.dumps(header).encode()
        return text[:-1] + b', "' + NORM.encode() + b'": ' + json.dumps(header[NORM]).encode() + b"}"

    edit_header(file, double)
    refused(folder, str(file), f"{NORM} is there twice")


def test_a_tensor_twice_in_the_index(folder: Path) -> None:
    text = (folder / INDEX).read_text().rstrip().removesuffix("}").rstrip().removesuffix("}")
    (folder / INDEX).write_text(f'{text}, "{NORM}": "{shard_of(folder, NORM).name}"}}}}')
    refused(folder, INDEX, f"{NORM} is there twice")


@pytest.mark.parametrize("shape", [(65,), (1, 64), (8, 8)])
def test_a_wrong_shape(folder: Path, shape: tuple[int, ...]) -> None:
    file = edit(folder, NORM, put(NORM, torch.ones(shape, dtype=torch.bfloat16)))
    refused(folder, f"1 wrong: {NORM} (shape {list(shape)}, [64] is wanted) in {file.name}")


def test_a_wrong_dtype(folder: Path) -> None:
    file = edit(folder, NORM, put(NORM, torch.ones(64, dtype=torch.float64)))
    refused(folder, f"1 wrong: {NORM} (F64, torch.bfloat16 is wanted) in {file.name}")


@pytest.mark.parametrize("keep", [-1, -1000, 40_000])
def test_a_cut_shard(folder: Path, keep: int) -> None:
    file = shard_of(folder, PACKED)
    file.write_bytes(file.read_bytes()[:keep])
    refused(folder, f"{file}: is not a readable safetensors file", "language_model.", "should have")


def test_a_shard_cut_within_its_header(folder: Path) -> None:
    file = shard_of(folder, PACKED)
    file.write_bytes(file.read_bytes()[:60])
    refused(folder, f"{file}: is not a readable safetensors file")


def test_a_shard_with_bytes_behind_it(folder: Path) -> None:
    file = shard_of(folder, PACKED)
    file.write_bytes(file.read_bytes() + b"\0")
    refused(folder, f"{file}: is not a readable safetensors file")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda entry: entry.update(data_offsets=[0, 10**15]), NORM),
        (lambda entry: entry.update(data_offsets=[-2, 126]), NORM),
        (lambda entry: entry.update(data_offsets=[4, 132]), "lies at byte"),
        (lambda entry: entry.update(shape=[63]), NORM),
        (lambda entry: entry.update(shape=[2**62, 2**62]), NORM),
        (lambda entry: entry.update(shape=[True]), NORM),
        (lambda entry: entry.update(shape="64"), NORM),
        (lambda entry: entry.update(dtype=7), NORM),
        (lambda entry: entry.pop("dtype"), NORM),
    ],
)
def test_a_header_that_lies(folder: Path, change: Callable[[dict[str, Any]], Any], said: str) -> None:
    file = shard_of(folder, NORM)
    edit_header(file, lambda header: change(header[NORM]) and None)
    refused(folder, f"{file}: is not a readable safetensors file", said)


def test_a_file_that_is_something_else(folder: Path) -> None:
    file = shard_of(folder, NORM)
    for data in (b"", b"\x80\x02}q\x00.", b"PK\x03\x04" + bytes(100), bytes(8), b"\x04" + bytes(7) + b"null"):
        file.write_bytes(data)
        refused(folder, str(file), "")


def test_the_index_names_another_shard(folder: Path) -> None:
    names = mapping(folder)
    wrong = next(file for file in names.values() if file != names[NORM])
    (folder / INDEX).write_text(json.dumps({"weight_map": names | {NORM: wrong}}))
    refused(folder, INDEX, NORM, names[NORM], wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (NORM, float("nan")),
        (NORM, float("inf")),
        (NORM, float("-inf")),
        (LAYER + "self_attn.dt_bias", float("nan")),
        (LAYER + "self_attn.q_conv1d.weight", float("nan")),
        (LAYER + "block_sparse_moe.gate.e_score_correction_bias", float("nan")),
        ("language_model.lm_head.weight", float("nan")),
    ],
)
def test_numbers_that_are_none(folder: Path, name: str, value: float) -> None:
    def spoil(held: Tensors) -> None:
        held[name].view(-1)[-1] = value

    file = edit(folder, name, spoil)
    refused(folder, f"{file}: {name} holds NaN or infinity")


def test_large_numbers_are_numbers(folder: Path) -> None:
    """A sum beyond fp32 does not make its parts infinite."""
    file = edit(folder, NORM, lambda held: held[NORM].fill_(3e38))
    assert file.exists()
    load(folder)


@pytest.mark.parametrize("experts", ["packed", "unpacked"])
def test_a_scale_that_is_none(folder: Path, experts: Any) -> None:
    def spoil(held: Tensors) -> None:
        held[SCALE][-1, -1] = 255

    file = edit(folder, SCALE, spoil)
    with pytest.raises(LoadError) as caught:
        load(folder, experts=experts)
    assert f"{file}: {SCALE}: an MXFP4 scale is 255 (NaN)" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_experts": 3}, f"unknown: {LAYER}block_sparse_moe.experts.3."),
        ({"num_experts": 5}, f"missing: {LAYER}block_sparse_moe.experts.4."),
        ({"hidden_size": 96}, "is wanted"),
        ({"first_k_dense_replace": 2}, f"missing: {LAYER}mlp."),
        ({"attn_res_block_size": None}, "unknown: language_model.model.layers.0.mlp_res_norm.weight"),
        ({"quantization_config": None}, f"missing: {LAYER}block_sparse_moe.experts.0.w1.weight"),
        ({"linear_attn_config": {"kda_layers": [1, 2, 4], "full_attn_layers": [3]}}, "self_attn."),
        ({"linear_attn_config": {"num_heads": 3}}, "is wanted"),
        ({"mla_use_output_gate": False}, "unknown: language_model.model.layers.3.self_attn.g_proj.weight"),
        ({"q_lora_rank": None}, "missing: language_model.model.layers.3.self_attn.q_proj.weight"),
    ],
)
def test_a_config_that_contradicts_the_weights(folder: Path, changes: dict[str, Any], said: str) -> None:
    (folder / "config.json").write_text(json.dumps(raw_k3(**changes)))
    refused(folder, str(folder), "the tensors do not fit config.json", said)
