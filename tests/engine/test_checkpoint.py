"""Model checkpoints: byte-equal round trips, and every wrong file refused by name."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import torch
from engine_models import VARIANTS, distance, random_model, raw_k3, run
from safetensors.torch import load_file, save_file

from kimi_sdk.engine.checkpoint import load, save
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.manifest import manifest
from kimi_sdk.errors import LoadError

LAYER = "language_model.model.layers.1."
A_LOG = LAYER + "self_attn.A_log"
PACKED = LAYER + "block_sparse_moe.experts.2.w1.weight_packed"
SCALE = LAYER + "block_sparse_moe.experts.2.w1.weight_scale"


@pytest.fixture(scope="module")
def tensors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    folder = tmp_path_factory.mktemp("model")
    save(random_model(raw_k3()), folder)
    return load_file(folder / "model.safetensors")


def write(folder: Path, tensors: dict[str, torch.Tensor]) -> Path:
    (folder / "config.json").write_text(json.dumps(raw_k3()), "utf-8")
    save_file(tensors, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("shard", [2**20, 50_000])
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_loading_and_saving_gives_the_same_bytes(variant: str, shard: int, tmp_path: Path) -> None:
    model = random_model(VARIANTS[variant]())
    first, second = tmp_path / "first", tmp_path / "second"
    save(model, first, max_shard_bytes=shard)
    loaded = load(first)
    save(loaded, second, max_shard_bytes=shard)
    files = sorted(path.name for path in first.iterdir())
    assert files == sorted(path.name for path in second.iterdir())
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in files)
    assert ("model.safetensors.index.json" in files) == (shard < 2**20)
    names = [name for path in first.glob("*.safetensors") for name in load_file(path)]
    assert sorted(names) == sorted(manifest(model))
    assert all(name.startswith("model.") or name == "lm_head.weight" for name in names) == (
        variant == "kimi-linear"
    )
    ids = list(range(30))
    assert distance(run(loaded, ids, [30]), run(model, ids, [30])) < 1e-5


def test_vision_tensors_are_part_of_it(tmp_path: Path) -> None:
    model = K3(K3Config.tiny(64), seed=3)
    save(model, tmp_path)
    loaded = load(tmp_path)
    patches = torch.randn(16, 3, 14, 14, generator=torch.Generator().manual_seed(0))
    features = loaded.image_features(patches, [(1, 4, 4)])
    assert features.shape == (4, 64)
    assert torch.equal(features, model.image_features(patches, [(1, 4, 4)]))


def test_packed_bytes_are_kept_even_if_another_packing_means_the_same(
    tensors: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    """Zeros with signs, and halves of a scale that a quantiser would not choose."""
    odd = dict(tensors)
    odd[PACKED] = torch.full_like(odd[PACKED], 0x98)
    odd[SCALE] = torch.full_like(odd[SCALE], 3)
    loaded = load(write(tmp_path, odd))
    save(loaded, tmp_path / "again")
    again = load_file(tmp_path / "again" / "model.safetensors")
    assert all(torch.equal(again[name], value) for name, value in odd.items())


def test_changed_experts_are_packed_anew(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    model = load(write(tmp_path, tensors))
    model.decoder.order[1].block_sparse_moe.experts.w13[2] = 1.5
    save(model, tmp_path / "again")
    again = load(tmp_path / "again")
    assert (again.decoder.order[1].block_sparse_moe.experts.w13[2] == 1.5).all()


def test_progress_counts_bytes(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    load(write(tmp_path, tensors), progress=lambda done, total: calls.append((done, total)))
    total = sum(value.nbytes for value in tensors.values())
    assert calls[-1] == (total, total)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


def test_bfloat16_keeps_what_is_fp32_on_disk(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    model = load(write(tmp_path, tensors), dtype="bfloat16")
    kinds = {name: value.dtype for name, value in model.named_parameters()}
    assert kinds[A_LOG] == torch.float32
    assert kinds["language_model.lm_head.weight"] == torch.bfloat16
    save(model, tmp_path / "again")
    again = load_file(tmp_path / "again" / "model.safetensors")
    assert all(torch.equal(again[name], value) for name, value in tensors.items())
    with pytest.raises(LoadError, match="int4"):
        load(tmp_path, dtype="int4")


def changed(
    tensors: dict[str, torch.Tensor], name: str, value: torch.Tensor | None
) -> dict[str, torch.Tensor]:
    others = {key: tensor for key, tensor in tensors.items() if key != name}
    return others if value is None else others | {name: value.contiguous()}


def test_every_tensor_is_accounted_for(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    norm = LAYER + "block_sparse_moe.routed_expert_norm.weight"
    wrong = changed(tensors, norm, None)
    wrong = changed(wrong, LAYER + "self_attn.b_proj.weight", torch.zeros(3, 64, dtype=torch.bfloat16))
    wrong = changed(wrong, A_LOG, tensors[A_LOG].bfloat16())
    wrong["language_model.model.layers.9.input_layernorm.weight"] = torch.zeros(64)
    with pytest.raises(LoadError) as caught:
        load(write(tmp_path, wrong))
    said = str(caught.value)
    assert f"1 missing: {norm}" in said
    assert "1 unknown: language_model.model.layers.9.input_layernorm.weight" in said
    assert "2 wrong" in said
    assert "b_proj.weight (shape [3, 64], [2, 64] is wanted)" in said
    assert "A_log (torch.bfloat16, torch.float32 is wanted)" in said


def test_many_missing_are_counted(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    few = {name: value for name, value in tensors.items() if "experts." not in name}
    gone = len(tensors) - len(few)
    with pytest.raises(LoadError, match=rf"{gone} missing: .* and {gone - 4} more"):
        load(write(tmp_path, few))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (A_LOG, torch.cat((torch.zeros(2), torch.full((30,), 0.1))), "beyond the 2 heads"),
        (A_LOG, torch.zeros(1), "1 values for 2 heads"),
        (A_LOG, torch.tensor([float("nan"), 0.0]), "NaN"),
        (SCALE, torch.full((32, 1), 255, dtype=torch.uint8), "scale is 255"),
    ],
)
def test_wrong_content_is_refused(
    tensors: dict[str, torch.Tensor], name: str, value: torch.Tensor, said: str, tmp_path: Path
) -> None:
    with pytest.raises(LoadError, match=said):
        load(write(tmp_path, changed(tensors, name, value)))


@pytest.mark.parametrize("length", [2, 3, 32, 128])
def test_rates_may_be_stored_longer_than_the_heads(
    tensors: dict[str, torch.Tensor], length: int, tmp_path: Path
) -> None:
    stored = torch.zeros(length)
    stored[:2] = tensors[A_LOG][:2]
    model = load(write(tmp_path, changed(tensors, A_LOG, stored)))
    whole = load(write(tmp_path, tensors))
    assert torch.equal(run(model, [1, 2, 3], [3]), run(whole, [1, 2, 3], [3]))
    save(model, tmp_path / "again")


def test_damaged_files(tensors: dict[str, torch.Tensor], tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no such folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(LoadError, match=r"config\.json"):
        load(tmp_path)
    write(tmp_path, tensors)
    file = tmp_path / "model.safetensors"
    whole = file.read_bytes()
    for damaged in (
        b"",
        whole[:100],
        whole[:-10],
        struct.pack("<Q", 2**60) + whole[8:],
        b"\x80\x04pickle" + whole,
    ):
        file.write_bytes(damaged)
        with pytest.raises(LoadError, match="not a readable safetensors file"):
            load(tmp_path)
    file.unlink()
    with pytest.raises(LoadError, match=r"model\.safetensors: no such file"):
        load(tmp_path)


def test_an_index_stays_in_its_folder_and_tells_the_truth(
    tensors: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    write(tmp_path, tensors)
    index = tmp_path / "model.safetensors.index.json"
    right = dict.fromkeys(tensors, "model.safetensors")
    for escape in ("../model.safetensors", "/etc/passwd", "a/b.safetensors", "", ".."):
        index.write_text(json.dumps({"weight_map": right | {A_LOG: escape}}), "utf-8")
        with pytest.raises(LoadError, match="file name of this folder"):
            load(tmp_path)
    for text, said in (
        ("{", "weight_map"),
        ("[]", "weight_map"),
        ('{"weight_map": {}}', "no tensor"),
        (
            json.dumps({"weight_map": right | {"extra": "model.safetensors"}}),
            "does not match its shards at extra",
        ),
        (json.dumps({"weight_map": right | {A_LOG: "other.safetensors"}}), "no such file"),
    ):
        index.write_text(text, "utf-8")
        with pytest.raises(LoadError, match=said):
            load(tmp_path)
    index.write_text(json.dumps({"weight_map": right}), "utf-8")
    load(tmp_path)
