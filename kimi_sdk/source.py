"""Where a model's files are on this machine: a folder, the package's own checkpoints, or the hub cache.

Knows folders and names. Leaves reading the files to the engine, and never touches the network.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from kimi_sdk.errors import LoadError

PathLike: TypeAlias = str | os.PathLike[str]

BUNDLED = Path(__file__).parent / "checkpoints"
"""Model checkpoints that come with the package."""


def bundled_names() -> tuple[str, ...]:
    """Names of the models that come with the package."""
    if not BUNDLED.is_dir():
        return ()
    return tuple(sorted(path.name for path in BUNDLED.iterdir() if (path / "config.json").is_file()))


def find(source: PathLike, revision: str | None = None) -> Path:
    """The folder that holds a model.

    Args:
        source: a folder, the name of a bundled model (``k3-mini``, ``kimi_sdk/k3-mini``), or a hub name
            (``owner/name``) whose files are in the local hub cache.
        revision: branch, tag or commit of a hub name.

    Raises:
        LoadError: nothing was found; the message lists the places looked in.
    """
    name = os.fspath(source)
    if not name:
        raise LoadError("The model's source is empty; give a folder, a hub name, or 'k3-mini'.")
    try:
        folder = Path(name).expanduser()
        folder.exists()  # raises where the system cannot even look, as for a name that is too long
    except (OSError, RuntimeError) as error:
        raise LoadError(f"The model's source {name[:80]!r} is not a usable path: {error}"[:300]) from None
    if folder.is_dir():
        if (folder / "config.json").is_file():
            return folder
        raise LoadError(f"The folder {folder} has no config.json, so it is not a model checkpoint.")
    if folder.is_file():
        raise LoadError(f"{folder} is a file; give the folder that holds config.json and the weights.")
    looked = [str(folder)]
    bundled = BUNDLED / name.removeprefix("kimi_sdk/")
    if "/" not in name.removeprefix("kimi_sdk/") and (bundled / "config.json").is_file():
        return bundled
    if name.count("/") == 1 and not name.startswith((".", "/", "~")):
        cached = _hub_folder(name)
        snapshot = _snapshot(cached, revision)
        if snapshot is not None:
            return snapshot
        looked.append(str(cached))
    raise LoadError(
        f"There is no model {name!r} on this machine. Looked in: {', '.join(looked)}; "
        f"bundled models: {', '.join(bundled_names()) or 'none'}. Give a folder that holds config.json, "
        "tokenizer and safetensors files, or put the model there first: "
        f"hf download {name if name.count('/') == 1 else 'OWNER/NAME'} --local-dir FOLDER."
    )


def _hub_folder(name: str) -> Path:
    cache = os.environ.get("HF_HUB_CACHE")
    if cache is None:
        home = os.environ.get("HF_HOME") or os.path.join(
            os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface"
        )
        cache = os.path.join(home, "hub")
    return Path(cache).expanduser() / f"models--{name.replace('/', '--')}"


def _snapshot(cached: Path, revision: str | None) -> Path | None:
    """The folder of one revision: in the hub cache refs/NAME holds a commit, snapshots/COMMIT its files."""
    wanted = revision or "main"
    reference = cached / "refs" / wanted
    commit = reference.read_text(encoding="utf-8").strip() if reference.is_file() else wanted
    snapshot = cached / "snapshots" / commit
    return snapshot if (snapshot / "config.json").is_file() else None
