"""A model folder with one thing wrong gives one LoadError, whoever reads it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from tiny_folder import write_tiny

from kimi_sdk import Image, Model, Sampling
from kimi_sdk.cli import main
from kimi_sdk.engine.checkpoint import load
from kimi_sdk.engine.config import K3Config
from kimi_sdk.errors import ConfigError, LoadError
from kimi_sdk.inspection import inspect

DEEP = "[" * 100_000
"""JSON that Python's parser gives up on with a RecursionError."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("models") / "sound")


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "model"))


def chat(folder: Path, task: Any = "hi") -> None:
    import anyio

    model = Model.from_pretrained(folder)
    sampling = Sampling(max_tokens=2, thinking=False)
    try:
        anyio.run(lambda: model.chat(task, sampling=sampling))
    finally:
        model.close()


def edit(folder: Path, section: str, key: str, value: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (config[section] if section else config)[key] = value
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer_config.json", "generation_config.json", "model.safetensors.index.json"]
)
def test_json_nested_too_deeply(folder: Path, name: str) -> None:
    (folder / name).write_text(DEEP)
    with pytest.raises(LoadError, match=name):
        chat(folder)


def test_preprocessor_json_nested_too_deeply(folder: Path) -> None:
    (folder / "preprocessor_config.json").write_text(DEEP)
    with pytest.raises(LoadError, match=r"preprocessor_config\.json"):
        chat(folder, Image.from_pil(PIL.Image.new("RGB", (28, 28))))


def test_index_that_is_a_folder(folder: Path) -> None:
    (folder / "model.safetensors.index.json").mkdir()
    with pytest.raises(LoadError, match=r"index\.json: cannot be read"):
        load(folder)


def test_generation_settings_must_be_an_object(folder: Path) -> None:
    (folder / "generation_config.json").write_text("[]")
    with pytest.raises(LoadError, match="a JSON object is wanted"):
        Model.from_pretrained(folder)


def test_tokenizer_of_another_model(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"special_slots": 4096}))
    with pytest.raises(LoadError, match="not of one model"):
        chat(folder)


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("text_config", "num_hidden_layers", 2**70),
        ("text_config", "num_hidden_layers", 10**9),
        ("text_config", "linear_attn_config", 3),
        ("text_config", "quantization_config", ["mxfp4"]),
        ("text_config", "rms_norm_eps", -1.0),
        ("text_config", "activation_situ_beta", 0),
        ("text_config", "routed_scaling_factor", float("nan")),
        ("text_config", "hidden_size", 0),
        ("text_config", "vocab_size", 2**70),
        ("", "vision_config", "yes"),
        ("vision_config", "patch_size", 1.5),
        ("vision_config", "vt_num_hidden_layers", True),
        ("vision_config", "merge_kernel_size", [2]),
    ],
)
def test_config_that_no_layer_can_compute(folder: Path, section: str, key: str, value: Any) -> None:
    edit(folder, section, key, value)
    with pytest.raises(LoadError, match="config"):
        inspect(folder)


def test_config_of_a_model_beyond_any_memory(folder: Path) -> None:
    edit(folder, "text_config", "intermediate_size", 2**31 - 1)
    edit(folder, "text_config", "hidden_size", 2**31 - 1)
    edit(folder, "vision_config", "text_hidden_size", 2**31 - 1)
    with pytest.raises(LoadError, match="does not fit into memory"):
        load(folder)


def test_layers_that_are_a_mere_claim_build_no_model(folder: Path) -> None:
    edit(folder, "vision_config", "vt_num_hidden_layers", 2**30)
    with pytest.raises(LoadError, match="layers, and the files hold only"):
        load(folder)


@pytest.mark.parametrize("device", ["cuda:99", "cuda:999"])
def test_device_that_is_not_there(folder: Path, device: str) -> None:
    with pytest.raises(LoadError, match="there is no device"):
        load(folder, device=device)


@pytest.mark.parametrize(
    "change",
    [
        {"patch_size": 28},
        {"merge_kernel_size": 1},
        {"merge_kernel_size": []},
        {"image_std": [0, 0, 0]},
        {"image_mean": [float("nan")] * 3},
        {"in_patch_limit": 1.5},
        {"transparent_bg_config": {"chessboard_white_value": 9999}},
    ],
)
def test_image_settings_that_the_tower_cannot_take(folder: Path, change: dict[str, Any]) -> None:
    (folder / "preprocessor_config.json").write_text(json.dumps({"media_proc_cfg": change}))
    with pytest.raises(LoadError):
        chat(folder, Image.from_pil(PIL.Image.new("RGBA", (28, 28))))


def _cut(data: bytes) -> bytes:
    return data[:-7]


def _header(text: str) -> Callable[[bytes], bytes]:
    return lambda _: len(text).to_bytes(8, "little") + text.encode()


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        lambda data: data + b"more",
        _header("[]"),
        _header('{"a": 3}'),
        _header('{"a": {"dtype": "F32", "shape": "x", "data_offsets": [0, 0]}}'),
        _header('{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0]}}'),
        _header('{"a": {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]}}'),
        _header(DEEP),
    ],
)
def test_inspect_refuses_damaged_weights(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(LoadError, match=r"model\.safetensors"):
        inspect(folder)


@pytest.mark.parametrize("source", ["x" * 5000, "~nobody-of-this-name/model"])
def test_source_that_no_path_can_be(source: str) -> None:
    with pytest.raises(LoadError, match="not a usable path"):
        Model.from_pretrained(source)


def test_counts_must_be_whole_numbers(folder: Path) -> None:
    for name in ("context", "cache_bytes", "max_running"):
        with pytest.raises(ConfigError, match=f"{name} must be a whole number"):
            Model.from_pretrained(folder, **{name: "8"})  # type: ignore[arg-type]


def test_random_weights_of_a_model_beyond_any_memory() -> None:
    import anyio

    raw = K3Config.tiny().to_dict()
    raw["text_config"] |= {"hidden_size": 2**31 - 1, "intermediate_size": 2**31 - 1}
    raw["vision_config"]["text_hidden_size"] = 2**31 - 1
    model = Model.from_config(raw)
    with pytest.raises(LoadError, match="does not fit into memory"):
        anyio.run(model.start)


def test_inspect_of_a_damaged_folder_is_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.json").write_text(DEEP)
    assert main(["inspect", str(folder)]) == 2
    assert "not valid JSON" in capsys.readouterr().err
