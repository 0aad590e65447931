"""The released K3 at its real size: every tensor planned from the config, the index and headers alone."""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import k3_inventory

from kimi_sdk.engine.checkpoint import Plan, load, plan
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.manifest import blueprint, manifest
from kimi_sdk.engine.presets import k3, kimi_linear_48b
from kimi_sdk.errors import LoadError
from kimi_sdk.inspection import inspect

GB = 10**9


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("k3")
    k3_inventory.write(made)
    return made


@dataclass
class Planned:
    plan: Plan
    seconds: float
    memory: int


@pytest.fixture(scope="module")
def planned(folder: Path) -> Planned:
    """The plan, and what it cost: processor time, since other tests share the machine."""
    begin, before = time.process_time(), peak()
    found = plan(folder)
    return Planned(found, time.process_time() - begin, peak() - before)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_the_plan_of_the_whole_model(folder: Path, planned: Planned) -> None:
    assert planned.seconds < 20
    assert planned.memory < 2 * GB
    assert planned.plan.bytes == k3_inventory.TOTAL_BYTES
    assert len(planned.plan.steps) == k3_inventory.TENSORS
    held = sum(file.stat().st_blocks * 512 for file in folder.iterdir())
    assert held < GB  # so no weight can have been read


def test_inspect_tells_the_parts(folder: Path, planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    shards = planned.plan.shards
    monkeypatch.setattr("kimi_sdk.inspection.open_shards", lambda *_, **__: shards)  # read once is enough
    found = inspect(folder)
    assert found.bytes == k3_inventory.TOTAL_BYTES
    assert found.tensors == k3_inventory.TENSORS
    for part, size in k3_inventory.PARTS.items():
        assert found.parts[part].bytes == size
    assert found.cache_bytes_per_token(2) == 27_648
    assert found.cache_bytes_per_sequence(2) == 449_372_160
    assert round(found.active_parameters / 1e8) == 1042
    assert "other" not in found.parts
    assert "1,560,860,324,864" in str(found)


def test_headers_without_weights_can_be_looked_at(folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors.index.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    for number in (1, 94, 96):
        file = f"model-{number:05d}-of-000096.safetensors"
        with (folder / file).open("rb") as opened:
            size = opened.read(8)
            (tmp_path / file).write_bytes(size + opened.read(int.from_bytes(size, "little")))
    found = inspect(tmp_path)
    assert (found.files, len(found.absent), len(found.headers_only)) == (3, 93, 3)
    assert found.parts["head"].bytes == k3_inventory.PARTS["head"]
    assert "headers without weights: 3 files" in str(found)
    with pytest.raises(LoadError, match=r"model-00001-of-000096\.safetensors: .* ends with its header"):
        load(tmp_path)


def test_kimi_linear_has_its_published_size() -> None:
    entries = manifest(blueprint(K3Config.from_dict(kimi_linear_48b())))
    weights = sum(entry.bytes // entry.dtype.itemsize for entry in entries.values())
    assert round(weights / 1e9, 1) == 49.1
    assert entries["model.layers.0.self_attn.A_log"].shape == (1, 1, 32, 1)
    assert entries["model.layers.3.self_attn.q_proj.weight"].shape == (32 * 192, 2304)
    assert entries["model.layers.1.block_sparse_moe.experts.255.w2.weight"].shape == (2304, 1024)
    assert "model.layers.0.self_attn.g_b_proj.weight" in entries


def test_the_published_configs_are_understood() -> None:
    for raw in (k3(), kimi_linear_48b()):
        config = K3Config.from_dict(json.loads(json.dumps(raw)))
        assert config.unknown == ()
        assert config.to_dict() == raw
    text = K3Config.from_dict(k3()).text
    assert text.mla_indices == (*range(3, 92, 4), 92)
    assert len(text.kda_indices) == 69
