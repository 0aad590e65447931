"""Which tensors a model's files hold: names, shapes, dtypes, and the parameter behind each.

Knows that experts are stacked in memory and apart (and perhaps packed) on disk, and which tensors stay fp32;
leaves reading and writing to ``checkpoint``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from kimi_sdk.engine.config import GROUP
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.kda import KDA, Conv, HeadNorm
from kimi_sdk.engine.moe import Experts, Router

DISK_DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32, "float16": torch.float16}
"""What the config's ``dtype`` says about tensors that are neither packed nor pinned to fp32."""
_PREFIX = "language_model."


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor of the files."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    parameter: str
    """Name of the parameter in ``K3`` that it fills, or fills a part of."""
    expert: int | None = None
    matrix: str = ""
    """``w1``, ``w2`` or ``w3`` of an expert."""
    part: str = ""
    """``packed`` or ``scale`` of a packed expert."""


def manifest(model: K3) -> dict[str, Entry]:
    """Name on disk -> entry, in the model's order; every tensor that the files must hold, and no other."""
    disk = DISK_DTYPES[model.config.text.dtype]
    pinned = pinned_names(model)
    stacks = {name: module for name, module in model.named_modules() if isinstance(module, Experts)}
    entries: dict[str, Entry] = {}
    for name, parameter in model.named_parameters():
        owner, _, last = name.rpartition(".")
        if owner not in stacks:
            dtype = torch.float32 if name in pinned else disk
            entries[on_disk(model, name)] = Entry(tuple(parameter.shape), dtype, name)
        elif last == "w13":
            for disk_name, entry in _expert_entries(stacks[owner], owner, disk):
                entries[on_disk(model, disk_name)] = entry
    return entries


def on_disk(model: K3, name: str) -> str:
    """A parameter's name in the files: Kimi-Linear's have no ``language_model.`` in front."""
    return name if model.config.nested else name.removeprefix(_PREFIX)


def pinned_names(model: K3) -> set[str]:
    """Parameters that are fp32 on disk and in memory whatever the model's dtype."""
    found = set()
    for name, module in model.named_modules():
        if isinstance(module, Conv | HeadNorm):
            found.add(f"{name}.weight")
        elif isinstance(module, KDA):
            found.update((f"{name}.A_log", f"{name}.dt_bias"))
        elif isinstance(module, Router) and module.e_score_correction_bias is not None:
            found.add(f"{name}.e_score_correction_bias")
    return found


def _expert_entries(stack: Experts, owner: str, disk: torch.dtype) -> Iterator[tuple[str, Entry]]:
    experts, double, latent = stack.w13.shape
    shapes = {"w1": (double // 2, latent), "w2": (latent, double // 2), "w3": (double // 2, latent)}
    for expert in range(experts):
        for matrix, (rows, columns) in shapes.items():
            parameter = f"{owner}.{'w2' if matrix == 'w2' else 'w13'}"
            name = f"{owner}.{expert}.{matrix}.weight"
            if not stack.quantized:
                yield name, Entry((rows, columns), disk, parameter, expert, matrix)
                continue
            for part, width in (("packed", columns // 2), ("scale", columns // GROUP)):
                entry = Entry((rows, width), torch.uint8, parameter, expert, matrix, part)
                yield f"{name}_{part}", entry


def expert_view(stack: Experts, expert: int, matrix: str) -> Tensor:
    """One expert's matrix inside the stacks, [rows, columns]; writing to it writes the stack."""
    if matrix == "w2":
        return stack.w2[expert]
    half = stack.w13.shape[1] // 2
    return stack.w13[expert, :half] if matrix == "w1" else stack.w13[expert, half:]


Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""
