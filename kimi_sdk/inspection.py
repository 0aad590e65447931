"""What a model is made of and what it costs to hold, from ``config.json`` and the headers of its weights.

No tensor is read and nothing is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.shards import Located, many_objects, open_shards
from kimi_sdk.source import PathLike, find

_PARTS = (
    ("routed experts", r"\.experts\."),
    ("vision tower", r"^vision_tower\."),
    ("projector", r"^mm_projector\."),
    ("embedding", r"embed_tokens"),
    ("head", r"lm_head"),
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
        files: number of weight files that are there.
        tensors: number of tensors in them.
        absent: files that the index names and that are not there.
        headers_only: files that end with their headers, without weights.
    """

    folder: Path
    config: K3Config
    parts: dict[str, Part]
    files: int
    tensors: int = 0
    absent: tuple[str, ...] = ()
    headers_only: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        return sum(part.parameters for part in self.parts.values())

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts.values())

    @property
    def active_parameters(self) -> int:
        """Weights that one token of text is multiplied with: of the experts the chosen ones, no tower, and no
        table of embeddings unless it is the head too."""
        moe = self.config.text.moe
        passed_by = ["vision tower", "projector"] + (["embedding"] if "head" in self.parts else [])
        total = self.parameters - sum(self.parts.get(name, Part()).parameters for name in passed_by)
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
            "tensors": self.tensors,
            "files": self.files,
            "absent_files": list(self.absent),
            "headers_only": list(self.headers_only),
            "unknown_keys": list(self.config.unknown),
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
            yield f"  {self.tensors:,} tensors in {self.files} files"
            yield f"  active for one token of text: {self.active_parameters:,}"
        else:
            yield "  no weights in this folder"
        for files, lack in ((self.absent, "not here"), (self.headers_only, "headers without weights")):
            if files:
                yield f"  {lack}: {len(files)} files, such as {files[0]}"
        if self.config.unknown:
            yield f"  keys of config.json that nothing reads: {', '.join(self.config.unknown)}"
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
    with many_objects():
        shards = open_shards(folder, partial=True)
    parts: dict[str, Part] = {}
    tensors = 0
    for header in shards.headers.values():
        tensors += len(header.tensors)
        for name, place in header.tensors.items():
            part = parts.setdefault(_part_of(name, config), Part())
            part.bytes += place.stop - place.start
            part.parameters += _weights(name, place)
    order = {name: at for at, (name, _) in enumerate(_PARTS)}
    return Inspection(
        folder=folder,
        config=config,
        parts=dict(sorted(parts.items(), key=lambda item: order.get(item[0], len(order)))),
        files=len(shards.headers),
        tensors=tensors,
        absent=shards.absent,
        headers_only=tuple(file for file, header in shards.headers.items() if not header.whole),
    )


def _part_of(name: str, config: K3Config) -> str:
    if ".experts." in name:  # nearly all of them, so nothing else is looked for
        return "routed experts"
    attention = re.search(r"layers\.(\d+)\.self_attn\.", name)
    if attention is not None:
        return "KDA" if config.text.is_kda(int(attention[1])) else "MLA"
    return next((part for part, pattern in _PARTS if re.search(pattern, name)), "other")


def _weights(name: str, place: Located) -> int:
    """How many weights a tensor stands for: two a byte where packed, none where it scales others."""
    if name.endswith(("_scale", ".weight_shape")):
        return 0
    return 2 * (place.stop - place.start) if name.endswith("_packed") else prod(place.shape)


def _listed(layers: tuple[int, ...]) -> str:
    return ",".join(str(layer + 1) for layer in layers) if len(layers) <= 12 else f"{len(layers)} layers"
