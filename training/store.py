"""Training checkpoints: fp32 masters in a few small safetensors files, and what the next run must know.

Files stay under 15 MiB each so that they can travel one by one. The product's format is `training.export`'s
business.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

LIMIT = 15 * 2**20
STATE = "state.json"


@dataclass(slots=True)
class Progress:
    """How far training has come, over all runs.

    Attributes:
        seconds: spent in training steps.
        steps: taken.
        tokens: seen, padding included.
        runs: finished or running.
    """

    seconds: float = 0.0
    steps: int = 0
    tokens: int = 0
    runs: int = 0


def save(folder: Path, tensors: Mapping[str, Tensor], progress: Progress) -> list[Path]:
    """Writes a checkpoint over the last one; each file is replaced whole.

    Returns:
        the files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shards: list[dict[str, Tensor]] = [{}]
    room = LIMIT
    for name in sorted(tensors):
        value = tensors[name].detach().float().cpu().contiguous()
        size = value.numel() * 4
        if size > room and shards[-1]:
            shards.append({})
            room = LIMIT
        shards[-1][name] = value.clone()
        room -= size
    files = []
    for number, shard in enumerate(shards, 1):
        target = folder / f"masters-{number}.safetensors"
        part = folder / "part.tmp"
        save_file(shard, part)
        os.replace(part, target)
        files.append(target)
    text = json.dumps({"progress": asdict(progress), "files": [file.name for file in files]}, indent=1)
    (folder / STATE).write_text(text + "\n", "utf-8")
    return files


def load(folder: Path) -> tuple[dict[str, Tensor], Progress]:
    """Reads what `save` wrote.

    Raises:
        FileNotFoundError: the folder holds no checkpoint.
    """
    state = json.loads((folder / STATE).read_text("utf-8"))
    tensors: dict[str, Tensor] = {}
    for name in state["files"]:
        tensors.update(load_file(folder / name))
    return tensors, Progress(**state["progress"])
