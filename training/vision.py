"""The engine's vision tower and projector on a fixed number of padded images.

Every grid of at most 8x8 patches has a number (`training.rows.grid_index`); the tower's layouts of all of
them are kept as constants, so that images of any size share one static shape.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Self

from torch import Tensor, nn

from kimi_sdk.engine.k3 import K3
from kimi_sdk.vision.layout import Layout, layout, pad
from kimi_sdk.vision.tower import MoonViT, PatchMerger, merge

SIDE = 8
NAMES = tuple(field.name for field in fields(Layout))


class ImageEncoder(nn.Module):
    """Patches to features in the decoder's width.

    Args:
        tower: the engine's tower.
        projector: and its projector.
    """

    def __init__(self, tower: MoonViT, projector: PatchMerger) -> None:
        super().__init__()
        self.tower, self.projector = tower, projector
        grids = [(1, rows, columns) for rows in range(2, SIDE + 1, 2) for columns in range(2, SIDE + 1, 2)]
        whole = pad([layout(grid, tower.config) for grid in grids], patches=SIDE**2, tokens=SIDE**2 // 4)
        for name in NAMES:
            value = getattr(whole, name)
            self.register_buffer(
                name, value.float() if value.is_floating_point() else value, persistent=False
            )

    @classmethod
    def of(cls, k3: K3) -> Self:
        """Around a model's own tower."""
        return cls(k3.vision_tower, k3.mm_projector)

    def forward(self, patches: Tensor, grids: Tensor) -> Tensor:
        """Encodes a batch.

        Args:
            patches: uint8 [images, 64, 588].
            grids: [images] numbers of the grids.

        Returns:
            [images, 16, text width]; rows beyond an image's own tokens are meaningless.
        """
        index = grids.long()
        where = Layout(*(self.get_buffer(name)[index] for name in NAMES))
        pixels = (patches.float() / 255.0 - 0.5) / 0.5
        out: Tensor = self.projector(merge(self.tower.encode(pixels, where, padded=True), where))
        return out
