"""The vision tower in fp32 against its float64 equations: relative L2 of 2e-6 at most (-rP prints it)."""

from __future__ import annotations

import sys

import pytest
import torch
from reference_tower import SMALL, pixels, reference_block, reference_features, reference_tower
from torch import Tensor

from kimi_sdk.vision.layout import layout
from kimi_sdk.vision.tower import MoonViT, PatchMerger, features, rotations

LIMIT = 2e-6
GRIDS = [(1, 2, 2), (1, 6, 4), (1, 10, 14), (4, 2, 6)]


@pytest.fixture(scope="module")
def parts() -> tuple[MoonViT, PatchMerger]:
    generator = torch.Generator().manual_seed(0)
    tower, projector = MoonViT(SMALL), PatchMerger(SMALL)
    with torch.no_grad():
        for weight in (*tower.parameters(), *projector.parameters()):
            noise = torch.randn(weight.shape, generator=generator)
            weight.copy_(noise * (0.3 if weight.dim() > 1 else 0.1) + (weight.dim() == 1))
    return tower.requires_grad_(False), projector.requires_grad_(False)


def hold(name: str, found: Tensor, wanted: Tensor) -> None:
    error = float((found.double() - wanted).norm() / wanted.norm())
    sys.stdout.write(f"{name}: relative L2 {error:.1e}\n")
    assert error <= LIMIT


def wide(module: torch.nn.Module) -> dict[str, Tensor]:
    return {name: value.double() for name, value in module.state_dict().items()}


@pytest.mark.parametrize("size", [1e-4, 1.0, 30.0])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_one_block(parts: tuple[MoonViT, PatchMerger], grid: tuple[int, int, int], size: float) -> None:
    """Rows so small that the norm's eps (that of fp32) decides, ordinary and large ones."""
    block = parts[0].encoder.blocks[0]
    count = grid[0] * grid[1] * grid[2]
    hidden = size * torch.randn(count, SMALL.vt_hidden_size, generator=torch.Generator().manual_seed(3))
    places = layout(grid, SMALL).alone().places.float()
    found = block(hidden.unsqueeze(0), rotations(places, SMALL.head_dim)).squeeze(0)
    hold(f"block, {grid}, size {size:g}", found, reference_block(wide(block), hidden.double(), grid))


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_tower_and_projector(parts: tuple[MoonViT, PatchMerger], grid: tuple[int, int, int]) -> None:
    patches = pixels(grid)
    found = features(*parts, patches.float(), [grid])
    tower, projector = MoonViT(SMALL).double(), PatchMerger(SMALL).double()
    tower.load_state_dict(wide(parts[0]))
    projector.load_state_dict(wide(parts[1]))
    hidden = reference_tower(tower, patches.float().double(), grid)
    hold(f"features, {grid}", found, reference_features(projector, hidden, grid))
