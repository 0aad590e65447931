"""Where each patch of a grid lies: its place in the position table, its column and row, its merged token.

Constants that depend on the grid alone, computed once for each grid; the tower gathers with them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypeAlias

import torch
from torch import Tensor

from kimi_sdk.vision.config import VisionConfig

Grid: TypeAlias = tuple[int, int, int]  # frames, rows and columns of patches


@dataclass(frozen=True, slots=True)
class Layout:
    """Of one grid, or stacked and padded of several (then every tensor has a leading batch axis).

    Attributes:
        taps: ``[patches, 4]`` int64, rows of the flattened position table that a patch's embedding mixes.
        shares: ``[patches, 4]`` float64, how much of each; they sum to 1 (0 where padded).
        places: ``[patches, 2]`` float64, column and row.
        frames: ``[patches]`` int64, 1-based frame, or 0 where no time is added: still images.
        merged: ``[tokens, frames, merged patches]`` int64, the patches of each token.
        present: ``[patches]`` bool, false where padded.
        tokens: ``[tokens]`` bool, false where padded.
    """

    taps: Tensor
    shares: Tensor
    places: Tensor
    frames: Tensor
    merged: Tensor
    present: Tensor
    tokens: Tensor

    def to(self, device: torch.device | str) -> Self:
        return type(self)(*(getattr(self, item.name).to(device) for item in fields(self)))

    def alone(self) -> Self:
        """The same with a batch axis of 1."""
        return type(self)(*(getattr(self, item.name).unsqueeze(0) for item in fields(self)))


def layout(grid: Grid, config: VisionConfig) -> Layout:
    """The layout of one item.

    Raises:
        ValueError: the grid cannot be merged evenly, or has more frames than the tower knows.
    """
    return _layout(
        grid,
        (config.init_pos_emb_height, config.init_pos_emb_width),
        config.merge_kernel_size,
        config.init_pos_emb_time,
    )


# A layout of K3's largest image is 8 MB, so few are kept. They outlive the caller: one first needed in
# inference mode must still serve a model that is trained.
@functools.lru_cache(maxsize=16)
@torch.inference_mode(mode=False)
def _layout(grid: Grid, table: tuple[int, int], merge: tuple[int, int], most_frames: int) -> Layout:
    frames, rows, columns = grid
    if min(grid) < 1 or rows % merge[0] or columns % merge[1]:
        raise ValueError(f"A grid of {rows}x{columns} patches cannot be merged {merge[0]}x{merge[1]}.")
    if frames > most_frames:
        raise ValueError(f"An item has {frames} frames; the tower knows {most_frames} at most.")
    taps, shares = _bilinear(rows, columns, table)
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    places = torch.stack((column, row), -1).reshape(-1, 2).double()
    number = torch.arange(frames).repeat_interleave(rows * columns) + 1
    tokens = (rows // merge[0]) * (columns // merge[1])
    patches = frames * rows * columns
    return Layout(
        taps=taps.repeat(frames, 1),
        shares=shares.repeat(frames, 1),
        places=places.repeat(frames, 1),
        frames=number if frames > 1 else torch.zeros_like(number),
        merged=_merged(grid, merge),
        present=torch.ones(patches, dtype=torch.bool),
        tokens=torch.ones(tokens, dtype=torch.bool),
    )


def _merged(grid: Grid, merge: tuple[int, int]) -> Tensor:
    """Patch numbers of each token, frame by frame, in the order (0,0), (0,1), (1,0), (1,1)."""
    frames, rows, columns = grid
    numbers = torch.arange(frames * rows * columns)
    blocks = numbers.view(frames, rows // merge[0], merge[0], columns // merge[1], merge[1])
    return blocks.permute(1, 3, 0, 2, 4).reshape(-1, frames, merge[0] * merge[1])


def _bilinear(rows: int, columns: int, table: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Four entries of the table and their shares for each patch: pixel centres aligned, edges held."""
    top, bottom, down = _axis(rows, table[0])
    left, right, across = _axis(columns, table[1])
    first, last, lower = (x[:, None].expand(rows, columns) for x in (top, bottom, down))
    near, far, later = (x[None, :].expand(rows, columns) for x in (left, right, across))
    width = table[1]
    taps = torch.stack(
        (first * width + near, first * width + far, last * width + near, last * width + far), -1
    )
    shares = torch.stack(
        ((1 - lower) * (1 - later), (1 - lower) * later, lower * (1 - later), lower * later), -1
    )
    return taps.reshape(-1, 4), shares.reshape(-1, 4)


def _axis(wanted: int, given: int) -> tuple[Tensor, Tensor, Tensor]:
    centre = ((torch.arange(wanted, dtype=torch.float64) + 0.5) * (given / wanted) - 0.5).clamp(min=0)
    before = centre.floor().long().clamp(max=given - 1)
    return before, (before + 1).clamp(max=given - 1), centre - before


def pad(layouts: Sequence[Layout], *, patches: int, tokens: int) -> Layout:
    """Stack layouts of items with equally many frames, padded at the end.

    Args:
        layouts: one for each item.
        patches: patches of every item after padding; at least those of the largest.
        tokens: merged tokens of every item after padding.
    """
    if len({item.merged.shape[1] for item in layouts}) > 1:
        raise ValueError("Items with different numbers of frames cannot share a padded batch.")
    stacked: dict[str, Any] = {}
    for field in fields(Layout):
        length = tokens if field.name in ("merged", "tokens") else patches
        parts = [getattr(item, field.name) for item in layouts]
        whole = parts[0].new_zeros((len(parts), length, *parts[0].shape[1:]))
        for row, part in zip(whole, parts, strict=True):
            row[: len(part)] = part
        stacked[field.name] = whole
    return Layout(**stacked)
