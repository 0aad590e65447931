"""Saving a model and cutting layers out of it: real names, the same bytes, and a folder that loads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from engine_models import distance, random_model, raw_irregular, raw_k3, raw_kimi_linear, run
from safetensors.torch import load_file

from kimi_sdk import Model
from kimi_sdk.cli import main
from kimi_sdk.engine.checkpoint import load, save
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.presets import k3, kimi_linear_48b, tiny
from kimi_sdk.engine.slicing import slice_config, slice_folder
from kimi_sdk.errors import ConfigError, LoadError
from kimi_sdk.testing import ScriptedModel


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    return {name: value for file in folder.glob("*.safetensors") for name, value in load_file(file).items()}


def same(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(
        value.dtype == right[name].dtype and torch.equal(value.view(-1), right[name].view(-1))
        for name, value in left.items()
    )


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_model_saves_what_it_was_loaded_from(tmp_path: Path) -> None:
    first, second, third = tmp_path / "first", tmp_path / "second", tmp_path / "third"
    made = Model.from_config("tiny", seed=3)
    made.save_pretrained(first)
    made.close()
    (first / "generation_config.json").write_text('{"max_new_tokens": 7}')
    (first / "chat_template.jinja").write_text("words")
    (first / ".cache").write_text("not a part of the model")
    loaded = Model.from_pretrained(first)
    assert loaded.sampling.max_tokens == 7
    loaded.save_pretrained(second)
    loaded.save_pretrained(third, max_shard_bytes=100_000)
    loaded.close()
    assert files(second) == {name: data for name, data in files(first).items() if name != ".cache"}
    assert (third / "model.safetensors.index.json").is_file()
    assert same(tensors(third), tensors(first))
    load(third)


def test_a_model_may_be_saved_where_it_came_from(tmp_path: Path) -> None:
    made = Model.from_config("tiny")
    made.save_pretrained(tmp_path)
    made.close()
    before = files(tmp_path)
    loaded = Model.from_pretrained(tmp_path)
    loaded.save_pretrained(tmp_path)
    loaded.close()
    assert files(tmp_path) == before


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no weights in this process"):
        ScriptedModel(["hi"]).save_pretrained(tmp_path)
    model = Model.from_config("tiny")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be saved"):
        model.save_pretrained(tmp_path / "file")
    with pytest.raises(ConfigError, match="max_shard_bytes"):
        model.save_pretrained(tmp_path, max_shard_bytes=0)
    model.close()


@pytest.mark.parametrize("compute", ["float32", "bfloat16"])
def test_packed_experts_compute_and_save_the_same(compute: str, tmp_path: Path) -> None:
    save(random_model(raw_k3()), tmp_path / "model")
    plain = load(tmp_path / "model", dtype=compute)
    packed = load(tmp_path / "model", dtype=compute, experts="packed")
    assert not any(name.endswith((".w13", ".w2")) for name, _ in packed.named_parameters())
    ids = list(range(40))
    assert distance(run(packed, ids, [39, 1]), run(plain, ids, [39, 1])) < (
        1e-6 if compute == "float32" else 0.02
    )
    save(packed, tmp_path / "again")
    assert same(tensors(tmp_path / "again"), tensors(tmp_path / "model"))


def test_large_models_keep_their_experts_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(random_model(raw_k3()), tmp_path)
    assert load(tmp_path).decoder.order[1].block_sparse_moe.experts.store is None
    monkeypatch.setattr("kimi_sdk.engine.checkpoint.UNPACKED_BYTES", 10_000)
    assert load(tmp_path).decoder.order[1].block_sparse_moe.experts.store is not None


def test_kimi_linear_may_keep_less_than_fp32(tmp_path: Path) -> None:
    """Files that hold a rate or a convolution in the model's own dtype are read, and written as they were."""
    model = random_model(raw_kimi_linear())
    name = "model.layers.0.self_attn.q_conv1d.weight"
    model.stored_as = {name: torch.bfloat16}
    save(model, tmp_path / "first")
    assert tensors(tmp_path / "first")[name].dtype == torch.bfloat16
    loaded = load(tmp_path / "first")
    assert loaded.decoder.order[0].self_attn.q_conv1d.weight.dtype == torch.float32
    save(loaded, tmp_path / "second")
    assert files(tmp_path / "first") == files(tmp_path / "second")


def test_layers_of_the_released_models() -> None:
    sliced = slice_config(k3(), [0, 1, 3, 91, 92])
    text = K3Config.from_dict(sliced).text
    assert (text.layers, text.dense_layers, text.kda_indices, text.mla_indices) == (5, 1, (0, 1), (2, 3, 4))
    assert text.block == 12
    assert K3Config.from_dict(sliced).unknown == ()
    text = K3Config.from_dict(slice_config(kimi_linear_48b(), [26, 5])).text
    assert (text.dense_layers, text.kda_indices, text.mla_indices) == (0, (1,), (0,))
    assert slice_config(k3(), range(93)) == k3()


@pytest.mark.parametrize("layers", [[], [93], [-1], [1, 1], [1, 0], [True]])
def test_layers_that_are_no_model(layers: list[int]) -> None:
    with pytest.raises(ConfigError, match="layer"):
        slice_config(k3(), layers)


@pytest.mark.parametrize("layers", [[0, 1, 2, 3], [0, 3], [3, 2, 1], [3], [2]])
def test_a_slice_loads_and_computes(layers: list[int], tmp_path: Path) -> None:
    save(random_model(raw_k3()), tmp_path / "whole")
    (tmp_path / "whole" / "tiktoken.model").write_text("ranks")
    seen: list[tuple[int, int]] = []
    out = tmp_path / "slice"
    written = slice_folder(tmp_path / "whole", layers, out, progress=lambda *at: seen.append(at))
    assert seen[-1] == (written, written)
    assert (out / "tiktoken.model").read_text() == "ranks"
    sliced, whole = tensors(out), tensors(tmp_path / "whole")
    for new, old in enumerate(layers):
        prefix, source = f"language_model.model.layers.{new}.", f"language_model.model.layers.{old}."
        own = {name.removeprefix(prefix): value for name, value in sliced.items() if name.startswith(prefix)}
        theirs = {
            name.removeprefix(source): value for name, value in whole.items() if name.startswith(source)
        }
        assert same(own, theirs)
    assert torch.isfinite(run(load(out), [1, 2, 3, 4], [3, 1])).all()
    if layers == [0, 1, 2, 3]:
        assert same(sliced, whole)
        assert torch.equal(run(load(out), [1, 2, 3], [3]), run(load(tmp_path / "whole"), [1, 2, 3], [3]))


def test_slices_of_other_kinds(tmp_path: Path) -> None:
    for name, raw in (("linear", raw_kimi_linear()), ("odd", raw_irregular()), ("seeing", tiny(64))):
        save(random_model(raw), tmp_path / name)
        slice_folder(tmp_path / name, [0, 3], tmp_path / f"{name}-slice")
        loaded = load(tmp_path / f"{name}-slice")
        assert loaded.config.text.layers == 2
        assert (loaded.config.vision is None) == (name != "seeing")


def test_the_command_slices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(random_model(raw_k3()), tmp_path / "whole")
    out = tmp_path / "slice"
    command = ["slice", str(tmp_path / "whole"), "--out", str(out), "--layers"]
    assert main([*command, "0,3"]) == 0
    assert "2 layers" in capsys.readouterr().out
    assert json.loads((out / "config.json").read_text())["text_config"]["num_hidden_layers"] == 2
    for wrong, said in (
        ("0,3", "is there already"),
        ("0,x", "numbers with commas"),
        ("7", "is there already"),
    ):
        assert main([*command, wrong]) == 2
        assert said in capsys.readouterr().err
    command[3] = str(tmp_path / "other")
    assert main([*command, "7"]) == 2
    assert "there is no layer 7" in capsys.readouterr().err
    (tmp_path / "whole" / "model.safetensors").unlink()
    with pytest.raises(LoadError, match="no such file"):
        slice_folder(tmp_path / "whole", [0], tmp_path / "other")
    assert not (tmp_path / "other").exists()
