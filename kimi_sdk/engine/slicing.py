"""Some layers of a checkpoint as a checkpoint of their own.

Knows how config lists and tensor names are renumbered; every byte of a kept tensor is copied as it is.

A slice is a model of its own, not the larger one cut short: blocks of attention residuals restart where the
*new* index is a multiple of ``attn_res_block_size``. Layers 0,1,2,3 of K3 start one block, as in K3;
layers 12,13 start one at their new index 0, on the embedding alone.
"""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kimi_sdk.engine.checkpoint import plan
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.manifest import Progress
from kimi_sdk.engine.shards import Described, config_text, map_file, write_folder
from kimi_sdk.errors import ConfigError

_LAYER = re.compile(r"^((?:language_model\.)?model\.layers\.)(\d+)(\..+)$")
_CHUNK = 64 * 2**20
_WEIGHTS = (".safetensors", ".safetensors.index.json", ".bin", ".pt", ".pth", ".gguf", ".partial")


def slice_config(raw: Mapping[str, Any], layers: Sequence[int]) -> dict[str, Any]:
    """The ``config.json`` of chosen layers; all other keys stay.

    Args:
        raw: the whole model's.
        layers: counted from 0, in their new order.

    Raises:
        ConfigError: a layer is not there or is named twice, or a dense one comes after one with experts.
        LoadError: ``raw`` is no legal config.
    """
    config = K3Config.from_dict(raw)
    text = config.text
    for layer in layers:
        if type(layer) is not int or not 0 <= layer < text.layers:
            raise ConfigError(f"there is no layer {layer!r}: the model has 0 to {text.layers - 1}.")
    if not layers or len(set(layers)) < len(layers):
        raise ConfigError(f"layers must be one or more, each once, not {list(layers)}.")
    dense = [text.is_dense(layer) for layer in layers]
    if dense != sorted(dense, reverse=True):
        raise ConfigError(
            f"layers {list(layers)}: dense layers come before those with experts, and "
            f"{[layer for layer in layers if text.is_dense(layer)]} are dense."
        )
    sliced = copy.deepcopy(dict(raw))
    body = sliced["text_config"] if config.nested else sliced
    body["num_hidden_layers"] = len(layers)
    if text.moe is not None:
        body["first_k_dense_replace"] = sum(dense)
    kinds = [text.is_kda(layer) for layer in layers]
    body["linear_attn_config"] |= {
        "kda_layers": [at for at, kda in enumerate(kinds, 1) if kda],
        "full_attn_layers": [at for at, kda in enumerate(kinds, 1) if not kda],
    }
    return sliced


def slice_folder(
    folder: str | Path, layers: Sequence[int], out: str | Path, *, progress: Progress | None = None
) -> int:
    """Writes chosen layers of a checkpoint, with embedding, head, vision and side files, as another one.

    Args:
        folder: a complete checkpoint; every tensor is accounted for before anything is written.
        layers: counted from 0, in their new order.
        out: a folder that does not exist or is empty; one file of weights a layer, and one for the rest.
        progress: called with bytes written and bytes in all.

    Returns:
        bytes of all tensors written.

    Raises:
        ConfigError: the layers cannot be a model, or ``out`` is not empty.
        LoadError: the checkpoint is incomplete or damaged.
    """
    source, root = Path(folder), Path(out)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise ConfigError(f"{root} is there already; give the name of a new folder.")
    raw = slice_config(K3Config.load(source).to_dict(), layers)
    planned = plan(source)
    new = {layer: at for at, layer in enumerate(layers)}
    groups: list[dict[str, Described]] = [{} for _ in range(len(layers) + 1)]
    origin: dict[str, str] = {}
    for step in planned.steps:
        found = _LAYER.match(step.name)
        if found is not None and int(found[2]) not in new:
            continue
        group = -1 if found is None else new[int(found[2])]
        name = step.name if found is None else f"{found[1]}{group}{found[3]}"
        groups[group][name] = Described(step.place.dtype, step.place.shape)
        origin[name] = step.name
    total = sum(described.bytes for group in groups for described in group.values())
    done = 0

    def content(name: str) -> Iterator[memoryview]:
        nonlocal done
        place = planned.shards.located(origin[name])
        mapped = memoryview(map_file(planned.shards.path(origin[name])))
        for start in range(place.start, place.stop, _CHUNK):
            stop = min(start + _CHUNK, place.stop)
            yield mapped[start:stop]
            done += stop - start
            if progress is not None:
                progress(done, total)

    root.mkdir(parents=True, exist_ok=True)
    write_folder(root, groups, content)
    (root / "config.json").write_text(config_text(raw), "utf-8")
    copy_side_files(source, root)
    return total


def copy_side_files(source: Path, target: Path) -> list[str]:
    """Copies tokenizer, generation settings, code and whatever else lies beside the weights.

    Returns:
        names of the files copied; weights, ``config.json``, hidden files and folders are not among them.
    """
    copied = []
    for file in sorted(source.iterdir()):
        name = file.name
        if name == "config.json" or name.startswith(".") or name.endswith(_WEIGHTS) or not file.is_file():
            continue
        if file.resolve() != (target / name).resolve():
            shutil.copyfile(file, target / name)
        copied.append(name)
    return copied
