"""The MoonViT tower against a second writing of its equations, in float64 and loops."""

from __future__ import annotations

import math

import pytest
import torch
from reference_tower import SMALL, pixels, reference_features, reference_positions, reference_tower

from kimi_sdk.errors import ConfigError
from kimi_sdk.vision.layout import layout, pad
from kimi_sdk.vision.tower import MoonViT, PatchMerger, VisionConfig, features, merge, rotations

GRIDS = [(1, 2, 2), (1, 4, 6), (1, 6, 4), (1, 10, 14), (2, 4, 4), (4, 2, 6)]


@pytest.fixture(scope="module")
def parts() -> tuple[MoonViT, PatchMerger]:
    torch.manual_seed(0)
    tower, projector = MoonViT(SMALL).double(), PatchMerger(SMALL).double()
    with torch.no_grad():
        for weight in (*tower.parameters(), *projector.parameters()):
            weight.copy_(torch.randn_like(weight) * (0.3 if weight.dim() > 1 else 0.1) + (weight.dim() == 1))
    return tower, projector


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_tower_and_projector_follow_the_equations(
    parts: tuple[MoonViT, PatchMerger], grid: tuple[int, int, int]
) -> None:
    tower, projector = parts
    patches = pixels(grid)
    with torch.no_grad():
        hidden = tower(patches, [grid])
        expected = reference_tower(tower, patches, grid)
        torch.testing.assert_close(hidden, expected, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(
            features(tower, projector, patches, [grid]),
            reference_features(projector, expected, grid),
            rtol=1e-9,
            atol=1e-9,
        )


@pytest.mark.parametrize("size", [(5, 7), (3, 4), (9, 8), (64, 2)], ids=str)
def test_positions_are_pytorchs_resizing(parts: tuple[MoonViT, PatchMerger], size: tuple[int, int]) -> None:
    """At the table's own size the embeddings are the table, exactly."""
    tower, _ = parts
    table = tower.patch_embed.pos_emb.weight.detach()
    config = VisionConfig.from_dict({**SMALL.to_dict(), "merge_kernel_size": 1})
    found = tower.patch_embed.pos_emb(layout((1, *size), config)).detach()
    torch.testing.assert_close(found, reference_positions(table, (1, *size)), rtol=1e-12, atol=1e-12)
    if size == tuple(table.shape[:2]):
        assert torch.equal(found, table.flatten(0, 1))


def test_packed_items_do_not_see_each_other(parts: tuple[MoonViT, PatchMerger]) -> None:
    tower, projector = parts
    grids = [GRIDS[1], GRIDS[0], GRIDS[4], GRIDS[1]]
    items = [pixels(grid, seed) for seed, grid in enumerate(grids)]
    with torch.no_grad():
        together = features(tower, projector, torch.cat(items), grids)
        alone = [features(tower, projector, item, [grid]) for item, grid in zip(items, grids, strict=True)]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-10, atol=1e-10)


def test_padded_batches_give_the_same_and_gradients_flow(parts: tuple[MoonViT, PatchMerger]) -> None:
    tower, projector = parts
    grids = [(1, 4, 6), (1, 2, 2), (1, 6, 4)]
    where = pad([layout(grid, SMALL) for grid in grids], patches=28, tokens=8)
    assert where.present.sum(1).tolist() == [24, 4, 24]
    assert where.tokens.sum(1).tolist() == [6, 1, 6]
    batch = torch.full((3, 28, 12), 7.0, dtype=torch.float64)
    items = [pixels(grid, seed) for seed, grid in enumerate(grids)]
    for row, item in zip(batch, items, strict=True):
        row[: len(item)] = item.flatten(1)
    tokens = projector(merge(tower.encode(batch, where, padded=True), where))
    assert tokens.shape == (3, 8, 20)
    expected = torch.cat(
        [features(tower, projector, item, [grid]) for item, grid in zip(items, grids, strict=True)]
    )
    torch.testing.assert_close(tokens[where.tokens], expected, rtol=1e-10, atol=1e-10)
    tower.zero_grad()
    tokens[where.tokens].square().sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in tower.parameters())
    assert tower.patch_embed.pos_emb.weight.grad is not None
    assert tower.patch_embed.pos_emb.weight.grad.abs().sum() > 0


def test_the_gradient_is_the_derivative(parts: tuple[MoonViT, PatchMerger]) -> None:
    tower, projector = parts
    patches = pixels((1, 2, 2)).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: features(tower, projector, x, [(1, 2, 2)]), (patches,))


def test_half_precision_stays_close(parts: tuple[MoonViT, PatchMerger]) -> None:
    tower, projector = parts
    low_tower, low_projector = MoonViT(SMALL).bfloat16(), PatchMerger(SMALL).bfloat16()
    low_tower.load_state_dict(tower.state_dict())
    low_projector.load_state_dict(projector.state_dict())
    patches = pixels((1, 4, 6)).float()
    with torch.no_grad():
        low = features(low_tower, low_projector, patches, [(1, 4, 6)])
        full = features(tower, projector, patches.double(), [(1, 4, 6)])
    assert low.dtype == torch.bfloat16
    assert (low.double() - full).norm() / full.norm() < 0.05


def test_names_and_shapes_of_the_released_tower() -> None:
    with torch.device("meta"):
        tower, projector = MoonViT(VisionConfig()), PatchMerger(VisionConfig())
    shapes = {name: list(weight.shape) for name, weight in tower.state_dict().items()}
    assert len(shapes) == 2 + 27 * 6 + 1
    assert shapes["patch_embed.proj.weight"] == [1024, 3, 14, 14]
    assert shapes["patch_embed.pos_emb.weight"] == [64, 64, 1024]
    assert shapes["encoder.blocks.26.wqkv.weight"] == [4608, 1024]
    assert shapes["encoder.blocks.0.wo.weight"] == [1024, 1536]
    assert shapes["encoder.blocks.0.mlp.fc0.weight"] == [4096, 1024]
    assert shapes["encoder.blocks.0.mlp.fc1.weight"] == [1024, 4096]
    assert shapes["encoder.blocks.0.norm0.weight"] == shapes["encoder.final_layernorm.weight"] == [1024]
    assert {name: list(weight.shape) for name, weight in projector.state_dict().items()} == {
        "proj.0.weight": [4096, 4096],
        "proj.2.weight": [7168, 4096],
        "post_norm.weight": [7168],
    }
    assert 2 * sum(weight.numel() for weight in tower.parameters()) == 802_428_928
    assert 2 * sum(weight.numel() for weight in projector.parameters()) == 92_289_024


def test_rotation_order_is_column_row_column_row() -> None:
    cosine, _ = rotations(torch.tensor([[1.0, 0.0]], dtype=torch.float64), 8)
    assert torch.allclose(cosine[0], torch.tensor([math.cos(1), 1, math.cos(0.01), 1], dtype=torch.float64))


@pytest.mark.parametrize(
    ("grid", "text"), [((1, 3, 2), "merged"), ((5, 2, 2), "5 frames"), ((1, 0, 2), "merged")]
)
def test_impossible_grids(grid: tuple[int, int, int], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        layout(grid, SMALL)


def test_wrong_counts_are_refused(parts: tuple[MoonViT, PatchMerger]) -> None:
    with pytest.raises(ValueError, match="24"):
        parts[0](pixels((1, 2, 2)), [(1, 4, 6)])
    with pytest.raises(ValueError, match="frames"):
        pad([layout((1, 2, 2), SMALL), layout((2, 2, 2), SMALL)], patches=8, tokens=1)


def test_config_reads_writes_and_refuses() -> None:
    data = {**VisionConfig().to_dict(), "something_new": 3}
    config = VisionConfig.from_dict(data)
    assert config.extra["something_new"] == 3
    assert config.to_dict() == data
    assert config.head_dim == 128
    for change, text in (
        ({"merge_type": "other"}, "merge_type"),
        ({"attn_bias": True}, "attn_bias"),
        ({"vt_hidden_size": 0}, "vt_hidden_size"),
        ({"qkv_hidden_size": 1000}, "qkv_hidden_size"),
        ({"mm_hidden_size": 512}, "mm_hidden_size"),
    ):
        with pytest.raises(ConfigError, match=text):
            VisionConfig.from_dict({**data, **change})
