"""What a model is made of and what it costs to hold, from ``config.json`` and the headers of its weights.

No tensor is read and nothing is computed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from kimi_sdk.engine.config import K3Config
from kimi_sdk.errors import LoadError
from kimi_sdk.source import PathLike, find

_PARTS = (
    ("vision tower", r"^vision_tower\.|^mm_projector\."),
    ("embedding", r"embed_tokens"),
    ("head", r"lm_head"),
    ("routed experts", r"\.experts\."),
    ("expert latent", r"routed_expert_"),
    ("shared experts", r"\.shared_experts\."),
    ("router", r"\.gate\.(weight|e_score_correction_bias)$"),
    ("attention residuals", r"_res_(norm|proj)"),
    ("dense feed-forward", r"\.mlp\."),
    ("KDA", "kda"),
    ("MLA", "mla"),
    ("norms", r"norm"),
)
_CACHE_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}


@dataclass(slots=True)
class Part:
    """Some of a model's tensors: how many weights they are, and bytes on disk."""

    parameters: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A model checkpoint from outside.

    Attributes:
        folder: where it is.
        config: its shape.
        parts: parameters and bytes of each part, empty where there are no weights.
        files: number of weight files.
    """

    folder: Path
    config: K3Config
    parts: dict[str, Part]
    files: int

    @property
    def parameters(self) -> int:
        return sum(part.parameters for part in self.parts.values())

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts.values())

    @property
    def active_parameters(self) -> int:
        """Weights that one token of text passes: the chosen experts, and neither the others nor the tower."""
        moe = self.config.text.moe
        total = self.parameters - self.parts.get("vision tower", Part()).parameters
        if moe is None:
            return total
        experts = self.parts.get("routed experts", Part()).parameters
        return total - experts + experts * moe.top_k // moe.experts

    def cache_bytes_per_token(self, itemsize: int) -> int:
        """MLA rows of one token over all layers."""
        text = self.config.text
        return len(text.mla_indices) * text.attention.row * itemsize

    def cache_bytes_per_sequence(self, itemsize: int) -> int:
        """KDA states of one sequence, whatever its length: S in fp32, and the convolution's last inputs."""
        text = self.config.text
        linear = text.linear
        state = linear.heads * linear.head_dim**2 * 4
        conv = (linear.conv_size - 1) * 3 * linear.width * itemsize
        return len(text.kda_indices) * (state + conv)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        text = self.config.text
        return {
            "folder": str(self.folder),
            "layers": text.layers,
            "kda_layers": [layer + 1 for layer in text.kda_indices],
            "mla_layers": [layer + 1 for layer in text.mla_indices],
            "parameters": self.parameters,
            "active_parameters": self.active_parameters,
            "bytes": self.bytes,
            "parts": {name: [part.parameters, part.bytes] for name, part in self.parts.items()},
            "cache_bytes_per_token": {
                name: self.cache_bytes_per_token(_CACHE_BYTES[name]) for name in ("float32", "bfloat16")
            },
            "cache_bytes_per_sequence": {
                name: self.cache_bytes_per_sequence(_CACHE_BYTES[name]) for name in ("float32", "bfloat16")
            },
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        text, moe, vision = self.config.text, self.config.text.moe, self.config.vision
        yield f"{self.folder}"
        yield f"  layers      {text.layers}: KDA {_listed(text.kda_indices)}; MLA {_listed(text.mla_indices)}"
        yield f"  width       {text.hidden}, vocabulary {text.vocab:,}, context {text.context:,}"
        linear, attention = text.linear, text.attention
        yield (
            f"  attention   KDA {linear.heads} heads x {linear.head_dim}, convolution {linear.conv_size}; "
            f"MLA {attention.heads} heads, latent {attention.kv_lora_rank} + {attention.rope_dim}"
        )
        if moe is not None:
            yield (
                f"  experts     {moe.top_k} of {moe.experts}, width {moe.width}, latent {moe.latent}; "
                f"shared {moe.shared}; {'MXFP4' if text.quantized else text.dtype}"
            )
        yield f"  residuals   {f'blocks of {text.block}' if text.block else 'plain sums'}"
        if vision is not None:
            yield (
                f"  vision      {vision.vt_num_hidden_layers} layers of {vision.vt_hidden_size}, "
                f"patches of {vision.patch_size} px"
            )
        if self.parts:
            yield ""
            yield f"  {'part':<22}{'parameters':>18}{'bytes':>18}"
            for name, part in self.parts.items():
                yield f"  {name:<22}{part.parameters:>18,}{part.bytes:>18,}"
            yield f"  {'all':<22}{self.parameters:>18,}{self.bytes:>18,}"
            yield f"  active for one token of text: {self.active_parameters:,}"
        else:
            yield "  no weights in this folder"
        yield ""
        yield f"  {'cache':<22}{'fp32':>18}{'bf16':>18}"
        for label, cost in (
            ("bytes per token", self.cache_bytes_per_token),
            ("bytes per sequence", self.cache_bytes_per_sequence),
        ):
            yield f"  {label:<22}{cost(4):>18,}{cost(2):>18,}"


def inspect(source: PathLike, revision: str | None = None) -> Inspection:
    """Reads a model's configuration and the headers of its weight files.

    Raises:
        LoadError: nothing is there, or a file is damaged.
    """
    folder = find(source, revision)
    config = K3Config.load(folder)
    parts: dict[str, Part] = {}
    files = sorted(folder.glob("*.safetensors"))
    for file in files:
        for name, entry in _header(file).items():
            part = parts.setdefault(_part_of(name, config), Part())
            part.bytes += entry["data_offsets"][1] - entry["data_offsets"][0]
            part.parameters += _weights(name, entry)
    order = {name: at for at, (name, _) in enumerate(_PARTS)}
    return Inspection(
        folder=folder,
        config=config,
        parts=dict(sorted(parts.items(), key=lambda item: order.get(item[0], len(order)))),
        files=len(files),
    )


def _header(file: Path) -> dict[str, Any]:
    """The header of a safetensors file: its length in 8 bytes, then JSON."""
    try:
        with file.open("rb") as opened:
            size = int.from_bytes(opened.read(8), "little")
            if size > min(file.stat().st_size - 8, 100_000_000):
                raise LoadError(f"{file} is damaged: its header claims {size} bytes.")
            header = json.loads(opened.read(size))
            held = file.stat().st_size - 8 - size
        if not isinstance(header, dict):
            raise ValueError(f"its header is {type(header).__name__}, an object is wanted")
        header.pop("__metadata__", None)
        for name, entry in header.items():
            if not _is_entry(entry):
                raise ValueError(f"its header does not say where {name} lies and of which shape it is")
    except (OSError, ValueError, RecursionError) as error:
        raise LoadError(f"{file} is not a safetensors file: {error}") from error
    claimed = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if claimed != held:
        raise LoadError(f"{file} is damaged: it holds {held:,} bytes of tensors, not {claimed:,}.")
    return header


def _is_entry(entry: Any) -> bool:
    """Whether a value of a header describes a tensor."""
    if not isinstance(entry, dict) or not isinstance(entry.get("dtype"), str):
        return False
    shape, offsets = entry.get("shape"), entry.get("data_offsets")
    if not (isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2):
        return False
    if not all(type(number) is int and number >= 0 for number in (*shape, *offsets)):
        return False
    return bool(offsets[0] <= offsets[1])


def _part_of(name: str, config: K3Config) -> str:
    attention = re.search(r"layers\.(\d+)\.self_attn\.", name)
    if attention is not None:
        return "KDA" if config.text.is_kda(int(attention[1])) else "MLA"
    return next((part for part, pattern in _PARTS if re.search(pattern, name)), "other")


def _weights(name: str, entry: dict[str, Any]) -> int:
    """How many weights a tensor stands for: two a byte where packed, none where it scales others."""
    if name.endswith(("_scale", ".weight_shape")):
        return 0
    if name.endswith("_packed"):
        return 2 * int(entry["data_offsets"][1] - entry["data_offsets"][0])
    return int(prod(entry["shape"]))


def _listed(layers: tuple[int, ...]) -> str:
    return ",".join(str(layer + 1) for layer in layers) if len(layers) <= 12 else f"{len(layers)} layers"
