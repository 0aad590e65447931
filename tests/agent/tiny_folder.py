"""A model checkpoint on disk with random weights and one token for each byte."""

from __future__ import annotations

import base64
import json
from pathlib import Path


def write_tiny(folder: Path, *, max_tokens: int = 24, seed: int = 0) -> Path:
    """Writes the checkpoint into a new folder and returns it."""
    from kimi_sdk.engine.checkpoint import save
    from kimi_sdk.engine.config import K3Config
    from kimi_sdk.engine.k3 import K3

    folder.mkdir()
    save(K3(K3Config.tiny(), seed=seed), folder)
    ranks = (f"{base64.b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256))
    (folder / "tiktoken.model").write_text("".join(ranks))
    (folder / "generation_config.json").write_text(
        json.dumps({"max_new_tokens": max_tokens, "thinking": False})
    )
    return folder
