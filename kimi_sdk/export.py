"""A model as one GGUF file for llama.cpp: weights, tokenizer and the numbers that describe them.

Knows how a byte-level vocabulary is spelled there; leaves weights to ``engine.llama``. The file has no chat
template: prompts of this family are rendered by ``protocol``, token by token, and sent as ids.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import get_args

from kimi_sdk.engine import gguf
from kimi_sdk.engine.checkpoint import plan
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.llama import KINDS, Storage, Translation, architecture, parameters
from kimi_sdk.errors import ConfigError, LoadError
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.source import PathLike, find

_NORMAL, _CONTROL, _UNUSED = 1, 3, 5
_FILE_TYPES = {gguf.Kind.F32: 0, gguf.Kind.F16: 1, gguf.Kind.BF16: 32, gguf.Kind.MXFP4: 38}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        path: the file.
        architecture: llama.cpp's name of it.
        tensors: how many.
        bytes: of the file.
        left_out: parts of the model that the file has no place for.
    """

    path: Path
    architecture: str
    tensors: int
    bytes: int
    left_out: tuple[str, ...]


def export_gguf(
    source: PathLike,
    out: PathLike,
    *,
    storage: Storage = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Writes a model for llama.cpp.

    Args:
        source: a folder, a bundled name, or a cached hub name; with weights and ``tiktoken.model``.
        out: the file; replaced if it exists.
        storage: of matrices, ``"auto"``, ``"f32"``, ``"f16"`` or ``"bf16"``; ``"auto"`` keeps every matrix as
            the model has it, MXFP4 experts included.
        progress: called with bytes written and bytes in all.

    Raises:
        LoadError: the model is damaged, or is one that llama.cpp's graphs cannot compute.
        ConfigError: an unknown storage, or a file that cannot be written.
    """
    if storage not in get_args(Storage):
        raise ConfigError(f"storage is {storage!r}; use one of {', '.join(get_args(Storage))}.")
    folder, path = find(source), Path(os.fspath(out)).expanduser()
    if not path.name or path.is_dir():
        raise ConfigError(f"{path} is a folder; give the file to write.")
    planned = plan(folder)
    config = planned.model.config
    name = architecture(config.text)
    translation = Translation(planned, storage)
    tokenizer = Tokenizer.load(folder, family=None if name == "kimi-k3" else "k2")
    metadata: dict[str, gguf.Value] = {
        "general.architecture": name,
        "general.type": "model",
        "general.name": folder.name,
        "general.alignment": gguf.ALIGNMENT,
        "general.quantization_version": 2,
        "general.file_type": _file_type(translation, storage),
    }
    metadata |= {f"{name}.{key}": value for key, value in parameters(config.text).items()}
    metadata |= vocabulary(tokenizer, config)
    try:
        size = gguf.write(path, metadata, translation.tensors, progress)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error
    left_out = ("vision tower",) if config.vision is not None else ()
    return Exported(path, name, len(translation.tensors), size, left_out)


def _file_type(translation: Translation, storage: Storage) -> int:
    """The file's label: the kind of the experts, which are nearly all of it."""
    if storage != "auto":
        return _FILE_TYPES[KINDS[storage.upper()]]
    return _FILE_TYPES[
        max(tensor.kind for tensor in translation.tensors if tensor.name.endswith("_exps.weight"))
    ]


def vocabulary(tokenizer: Tokenizer, config: K3Config) -> dict[str, gguf.Value]:
    """The tokenizer's keys: every id's spelling and kind, and the merges that its ranks stand for.

    Raises:
        LoadError: the model has fewer ids than the tokenizer.
    """
    size, known = config.text.vocab, tokenizer.vocab_size
    if known > size:
        raise LoadError(
            f"The tokenizer has {known:,} ids, and the model {size:,}: they do not belong together."
        )
    spelled = _printable()
    base = [tokenizer.token_bytes(token) for token in range(tokenizer.base_size)]
    tokens = ["".join(spelled[byte] for byte in token) for token in base]
    tokens += [tokenizer.token_bytes(token).decode() for token in range(tokenizer.base_size, known)]
    tokens += [f"[PAD{token}]" for token in range(known, size)]
    kinds = [_NORMAL] * len(base) + [_CONTROL] * (known - len(base)) + [_UNUSED] * (size - known)
    merges = [
        " ".join("".join(spelled[byte] for byte in part) for part in pair)
        for pair in merges_of({token: rank for rank, token in enumerate(base)})
    ]
    keys: dict[str, gguf.Value] = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "kimi-k2",  # K3 cuts text by the same pattern
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.add_bos_token": False,
    }
    for kind, token in (
        ("bos", config.bos_token_id),
        ("eos", config.eos_token_id),
        ("eot", config.eos_token_id),
        ("padding", config.pad_token_id),
    ):
        if token is not None:
            keys[f"tokenizer.ggml.{kind}_token_id"] = token
    return keys


def merges_of(ranks: Mapping[bytes, int]) -> Iterator[tuple[bytes, bytes]]:
    """The two tokens that each longer token is merged from, in order of rank.

    They are what merging by rank leaves of its bytes while only lower ranks are allowed. A token that cannot
    be built that way has no merge.
    """
    for token, limit in ranks.items():
        parts = [token[at : at + 1] for at in range(len(token))]
        while len(parts) > 2:
            found = [ranks.get(left + right, limit) for left, right in pairwise(parts)]
            lowest = min(found)
            if lowest >= limit:
                break
            at = found.index(lowest)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) == 2:
            yield parts[0], parts[1]


def _printable() -> list[str]:
    """A visible character for each byte, as byte-level vocabularies spell them: bytes that Latin-1 shows
    stand for themselves, the others for U+0100 and on, in order."""
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spelled, spare = [], 0x100
    for byte in range(256):
        if byte in shown:
            spelled.append(chr(byte))
        else:
            spelled.append(chr(spare))
            spare += 1
    return spelled
