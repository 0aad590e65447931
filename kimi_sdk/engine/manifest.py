"""Which tensors a model's files hold: names, shapes, dtypes, and the parameter behind each.

Knows that experts are stacked in memory and apart (and perhaps packed) on disk, and which tensors stay fp32;
leaves reading and writing to ``checkpoint``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.kda import KDA, Conv, HeadNorm
from kimi_sdk.engine.keys import GROUP
from kimi_sdk.engine.moe import Experts, Router

DISK_DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32, "float16": torch.float16}
"""What the config's ``dtype`` says about tensors that are neither packed nor pinned to fp32."""
_PREFIX = "language_model."


class Entry(NamedTuple):
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
    pinned: bool = False
    """Whether memory keeps it in fp32 whatever the model computes in."""

    @property
    def bytes(self) -> int:
        """Its size on disk."""
        return prod(self.shape) * self.dtype.itemsize


def blueprint(config: K3Config) -> K3:
    """The model of a config without storage: names and shapes of everything, however large."""
    with torch.device("meta"):
        return K3(config, seed=None)


def manifest(model: K3) -> dict[str, Entry]:
    """Name on disk -> entry, in the model's order; every tensor that the files must hold, and no other."""
    disk = DISK_DTYPES[model.config.text.dtype]
    pinned = pinned_names(model)
    entries: dict[str, Entry] = {}
    for owner, module in model.named_modules():
        if isinstance(module, Experts):
            for disk_name, entry in _expert_entries(module, owner, disk):
                entries[on_disk(model, disk_name)] = entry
            continue
        for last, parameter in module.named_parameters(recurse=False):
            full = f"{owner}.{last}"
            name = on_disk(model, full)
            fixed = full in pinned
            dtype = model.stored_as.get(name, torch.float32 if fixed else disk)
            entries[name] = Entry(tuple(parameter.shape), dtype, full, pinned=fixed)
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
    inward, outward = (stack.width, stack.latent), (stack.latent, stack.width)
    kinds: list[tuple[str, str, tuple[int, int], torch.dtype, str]] = []
    for matrix, (rows, columns) in (("w1", inward), ("w2", outward), ("w3", inward)):
        parameter = f"{owner}.{'w2' if matrix == 'w2' else 'w13'}"
        if stack.quantized:
            kinds.append((matrix, "packed", (rows, columns // 2), torch.uint8, parameter))
            kinds.append((matrix, "scale", (rows, columns // GROUP), torch.uint8, parameter))
        else:
            kinds.append((matrix, "", (rows, columns), disk, parameter))
    for expert in range(stack.count):
        for matrix, part, shape, dtype, parameter in kinds:
            name = f"{owner}.{expert}.{matrix}.weight{f'_{part}' if part else ''}"
            yield name, Entry(shape, dtype, parameter, expert, matrix, part)


def expert_view(stack: Experts, expert: int, matrix: str, part: str = "") -> Tensor:
    """One expert's matrix inside the stacks, [rows, columns]; writing to it writes the stack.

    Args:
        stack: the layer's experts.
        expert: which.
        matrix: ``w1``, ``w2`` or ``w3``.
        part: ``packed`` or ``scale``, of a stack that is kept packed; the values without it.
    """
    last = "w2" if matrix == "w2" else "w13"
    if part:
        assert stack.store is not None, "only packed stacks have parts"
        whole = stack.store.stack(last, part)[expert]
    else:
        whole = (stack.w2 if matrix == "w2" else stack.w13)[expert]
    if matrix == "w2":
        return whole
    return whole[: stack.width] if matrix == "w1" else whole[stack.width :]


Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""
