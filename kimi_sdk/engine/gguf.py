"""GGUF files, version 3 of the public specification: typed metadata, a table of tensors, and their bytes.

Knows how values, shapes and MXFP4 blocks lie in the file; leaves which keys and tensors a program wants to
``llama``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import prod
from pathlib import Path
from typing import BinaryIO, TypeAlias

import torch
from torch import Tensor

from kimi_sdk.engine.keys import GROUP
from kimi_sdk.errors import LoadError

Value: TypeAlias = bool | int | float | str | Sequence[int] | Sequence[str]

ALIGNMENT = 32
BLOCK_BYTES = 1 + GROUP // 2
"""An MXFP4 block: the scale's byte, then two values a byte."""
_MAGIC, _VERSION = b"GGUF", 3
_UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9


class Kind(IntEnum):
    """How a tensor's elements are stored, by the number that the file gives."""

    F32 = 0
    F16 = 1
    BF16 = 30
    MXFP4 = 39


_DTYPES = {Kind.F32: torch.float32, Kind.F16: torch.float16, Kind.BF16: torch.bfloat16}


@dataclass(frozen=True, slots=True)
class Stored:
    """One tensor of a file.

    Attributes:
        name: its name in the file.
        kind: how its elements are stored.
        shape: rows first, as PyTorch has it; the file lists the same sizes backwards.
        content: gives the values, or for MXFP4 the blocks, in any number of pieces along the first axis.
    """

    name: str
    kind: Kind
    shape: tuple[int, ...]
    content: Callable[[], Iterable[Tensor]]

    @property
    def bytes(self) -> int:
        """Its size in the file."""
        count = prod(self.shape)
        return (
            count // GROUP * BLOCK_BYTES if self.kind is Kind.MXFP4 else count * _DTYPES[self.kind].itemsize
        )


def write(
    path: Path,
    metadata: Mapping[str, Value],
    tensors: Sequence[Stored],
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Writes a file; nothing of that name is replaced before all is written.

    Args:
        path: the file.
        metadata: keys and values. Integers become unsigned 32-bit (signed in lists), floats 32-bit.
        tensors: in the order of the file; no more than a piece of one is held at a time.
        progress: called with bytes of tensors written and in all.

    Returns:
        Its size in bytes.

    Raises:
        LoadError: a tensor holds NaN or infinity, or has values that its kind cannot hold.
    """
    partial = path.with_name(f"{path.name}.partial")
    total, done = sum(tensor.bytes for tensor in tensors), 0
    try:
        with partial.open("wb") as file:
            file.write(_head(metadata, tensors))
            _pad(file)
            for tensor in tensors:
                start = file.tell()
                for piece in tensor.content():
                    file.write(_raw(tensor, piece))
                assert file.tell() - start == tensor.bytes, f"{tensor.name} is not of its size"
                _pad(file)
                done += tensor.bytes
                if progress is not None:
                    progress(done, total)
            size = file.tell()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return size


def mxfp4_blocks(packed: Tensor, scale: Tensor) -> Tensor:
    """Rearranges MXFP4 as checkpoints have it into GGUF's blocks; the values stay the same.

    Args:
        packed: uint8 [rows, in/2]; byte b holds columns 2b (low nibble) and 2b + 1.
        scale: uint8 [rows, in/32].

    Returns:
        uint8 [rows, in/32, 17]: the scale, then bytes j = 0..15 that hold columns j (low nibble) and j + 16
        of the group.
    """
    rows, groups = scale.shape
    values = torch.stack((packed & 15, packed >> 4), dim=-1).view(rows, groups, 2, GROUP // 2)
    return torch.cat((scale.unsqueeze(-1), values[:, :, 0] | (values[:, :, 1] << 4)), dim=-1)


def _head(metadata: Mapping[str, Value], tensors: Sequence[Stored]) -> bytes:
    parts = [_MAGIC, struct.pack("<IQQ", _VERSION, len(tensors), len(metadata))]
    for key, value in metadata.items():
        kind, content = _typed(value)
        parts += [_text(key), struct.pack("<I", kind), content]
    offset = 0
    for tensor in tensors:
        sizes = tensor.shape[::-1]
        parts.append(_text(tensor.name))
        parts.append(struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, tensor.kind, offset))
        offset += -(-tensor.bytes // ALIGNMENT) * ALIGNMENT
    return b"".join(parts)


def _typed(value: Value) -> tuple[int, bytes]:
    if isinstance(value, bool):
        return _BOOL, struct.pack("<?", value)
    if isinstance(value, int):
        return _UINT32, struct.pack("<I", value)
    if isinstance(value, float):
        return _FLOAT32, struct.pack("<f", value)
    if isinstance(value, str):
        return _STRING, _text(value)
    strings = [item for item in value if isinstance(item, str)]
    if strings:
        return _ARRAY, struct.pack("<IQ", _STRING, len(strings)) + b"".join(map(_text, strings))
    return _ARRAY, struct.pack(f"<IQ{len(value)}i", _INT32, len(value), *value)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _pad(file: BinaryIO) -> None:
    file.write(bytes(-file.tell() % ALIGNMENT))


def _raw(tensor: Stored, piece: Tensor) -> bytes:
    if tensor.kind is not Kind.MXFP4:
        if not bool(torch.isfinite(piece).all()):
            raise LoadError(f"{tensor.name}: its source holds NaN or infinity")
        piece = piece.to(_DTYPES[tensor.kind])
        if tensor.kind is Kind.F16 and not bool(torch.isfinite(piece).all()):
            raise LoadError(f"{tensor.name}: has values beyond the range of f16; use bf16 or f32")
    return piece.contiguous().flatten().view(torch.uint8).numpy().tobytes()
