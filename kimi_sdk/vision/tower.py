"""The MoonViT tower and its projector: patches in, features of the language model's width out.

Parameter names are those of the released checkpoint under ``vision_tower.`` and ``mm_projector.``. Everything
is differentiable and takes packed items or padded batches. Knows nothing of files and prompts.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from kimi_sdk.vision.config import VisionConfig
from kimi_sdk.vision.layout import Grid, Layout, layout, pad

__all__ = ["Grid", "Layout", "MoonViT", "PatchMerger", "VisionConfig", "features", "layout", "merge", "pad"]

THETA = 10000.0


def rotations(places: Tensor, head_dim: int) -> tuple[Tensor, Tensor]:
    """Cosine and sine of the 2-D rotary embedding.

    Pair ``2j`` of a head turns by ``column * f_j`` and pair ``2j + 1`` by ``row * f_j``, with
    ``f_j = theta ** (-4j / head_dim)``.

    Args:
        places: ``[..., patches, 2]``, column and row.
        head_dim: a multiple of 4.

    Returns:
        Two float tensors ``[..., patches, head_dim / 2]`` in the dtype of ``places``.
    """
    steps = torch.arange(0, head_dim, 4, dtype=places.dtype, device=places.device)
    frequencies = THETA ** (-steps / head_dim)
    angles = (places.unsqueeze(-2) * frequencies.unsqueeze(-1)).flatten(-2)
    return angles.cos(), angles.sin()


def rotate(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn adjacent pairs of ``heads [..., patches, heads, head_dim]`` by the angles of each patch."""
    pairs = heads.to(cosine.dtype).reshape(*heads.shape[:-1], -1, 2)
    even, odd = pairs.unbind(-1)
    cosine, sine = cosine.unsqueeze(-2), sine.unsqueeze(-2)
    turned = torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1)
    return turned.flatten(-2).to(heads.dtype)


def time_rows(frames: Tensor, width: int) -> Tensor:
    """Fixed embedding of a frame: sines, then cosines; zero for frame number 0, which means "no time".

    Args:
        frames: ``[..., patches]`` int64, 1-based; the first frame's angle is 0.
        width: of the tower.

    Returns:
        ``[..., patches, width]`` float64.
    """
    half = width // 2
    omega = THETA ** (-torch.arange(half, dtype=torch.float64, device=frames.device) / half)
    angles = (frames - 1).unsqueeze(-1) * omega
    rows = torch.cat((angles.sin(), angles.cos()), -1)
    return torch.where((frames > 0).unsqueeze(-1), rows, torch.zeros_like(rows))


class PositionTable(nn.Module):
    """The learned grid of position embeddings, ``[rows, columns, width]``."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        shape = (config.init_pos_emb_height, config.init_pos_emb_width, config.vt_hidden_size)
        self.weight = nn.Parameter(torch.empty(shape))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, where: Layout) -> Tensor:
        """``[..., patches, width]``: the table resized bilinearly to the grid, and time if it has frames."""
        table = self.weight.flatten(0, 1)
        accurate = torch.promote_types(table.dtype, torch.float32)
        shares = where.shares.to(accurate)
        rows = torch.zeros((), dtype=accurate, device=table.device)
        for tap in range(4):  # one at a time: a large image has 65,536 patches
            rows = rows + table[where.taps[..., tap]].to(accurate) * shares[..., tap, None]
        if where.merged.shape[-2] > 1:
            rows = rows + time_rows(where.frames, table.shape[-1]).to(accurate)
        return rows.to(table.dtype)


class PatchEmbed(nn.Module):
    """Pixels of a patch to the tower's width, plus where the patch lies."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        side = config.patch_size
        self.proj = nn.Conv2d(3, config.vt_hidden_size, side, stride=side, bias=False)
        self.pos_emb = PositionTable(config)

    def forward(self, patches: Tensor, where: Layout) -> Tensor:
        """``patches [..., patches, 3 * side * side]`` in channel, row, column order."""
        weight = self.proj.weight.flatten(1)
        embedded: Tensor = F.linear(patches.to(weight.dtype), weight) + self.pos_emb(where)
        return embedded


class MLP(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.fc0 = nn.Linear(config.vt_hidden_size, config.vt_intermediate_size, bias=False)
        self.fc1 = nn.Linear(config.vt_intermediate_size, config.vt_hidden_size, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        out: Tensor = self.fc1(F.gelu(self.fc0(hidden), approximate="tanh"))
        return out


class Block(nn.Module):
    """Pre-norm attention within one item, without causality, then a pre-norm MLP."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        width, inner = config.vt_hidden_size, config.qkv_hidden_size
        self.heads, self.head_dim = config.vt_num_attention_heads, config.head_dim
        self.norm0 = nn.RMSNorm(width, eps=config.vt_norm_eps)
        self.norm1 = nn.RMSNorm(width, eps=config.vt_norm_eps)
        self.wqkv = nn.Linear(width, 3 * inner, bias=False)
        self.wo = nn.Linear(inner, width, bias=False)
        self.mlp = MLP(config)

    def forward(self, hidden: Tensor, turns: tuple[Tensor, Tensor], keys: Tensor | None = None) -> Tensor:
        """One block.

        Args:
            hidden: ``[items, patches, width]``.
            turns: cosine and sine of ``rotations``.
            keys: ``[items, patches]`` bool, which patches may be attended to; ``None`` is all.
        """
        hidden = hidden + self.wo(self.attend(self.norm0(hidden), turns, keys))
        out: Tensor = hidden + self.mlp(self.norm1(hidden))
        return out

    def attend(self, hidden: Tensor, turns: tuple[Tensor, Tensor], keys: Tensor | None) -> Tensor:
        q, k, v = self.wqkv(hidden).view(*hidden.shape[:-1], 3, self.heads, self.head_dim).unbind(-3)
        q, k = rotate(q, *turns), rotate(k, *turns)
        mask = None if keys is None else keys[:, None, None, :]
        mixed = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask, scale=self.head_dim**-0.5
        )
        return mixed.transpose(1, 2).flatten(-2)


class Encoder(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.vt_num_hidden_layers))
        self.final_layernorm = nn.RMSNorm(config.vt_hidden_size, eps=config.vt_norm_eps)


class MoonViT(nn.Module):
    """The vision tower, up to its last norm."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.config = config
        self.patch_embed = PatchEmbed(config)
        self.encoder = Encoder(config)

    def forward(self, patches: Tensor, grids: Sequence[Grid]) -> Tensor:
        """Encode items packed one after another; an item's result does not depend on its neighbours.

        Args:
            patches: ``[all patches, 3, side, side]``, or flattened from the second axis.
            grids: frames, rows and columns of each item, in order.

        Returns:
            ``[all patches, width]``.
        """
        sizes = [frames * rows * columns for frames, rows, columns in grids]
        if sum(sizes) != len(patches):
            raise ValueError(
                f"{len(patches)} patches were given, but the grids {list(grids)} hold {sum(sizes)}."
            )
        items = torch.split(patches.flatten(1), sizes)
        done: list[Tensor] = [patches.new_empty(0)] * len(items)
        for grid in dict.fromkeys(grids):  # items of one grid go through together
            members = [number for number, other in enumerate(grids) if other == grid]
            where = layout(grid, self.config).alone().to(patches.device)
            batch = torch.stack([items[number] for number in members])
            for number, hidden in zip(members, self.encode(batch, where), strict=True):
                done[number] = hidden
        return torch.cat(done)

    def encode(self, patches: Tensor, where: Layout, *, padded: bool = False) -> Tensor:
        """Encode a batch of items.

        Args:
            patches: ``[items, patches, 3 * side * side]``.
            where: of the items, on the same device; a leading axis of 1 stands for all of them.
            padded: whether ``where.present`` must hide padding. Padded rows of the result are meaningless.

        Returns:
            ``[items, patches, width]``.
        """
        hidden = self.patch_embed(patches, where)
        accurate = torch.promote_types(hidden.dtype, torch.float32)
        turns = rotations(where.places.to(accurate), self.config.head_dim)
        keys = where.present if padded else None
        for block in self.encoder.blocks:
            hidden = block(hidden, turns, keys)
        normed: Tensor = self.encoder.final_layernorm(hidden)
        return normed


def merge(hidden: Tensor, where: Layout) -> Tensor:
    """Join each token's patches side by side, averaged over frames.

    Args:
        hidden: ``[patches, width]``, or with a leading axis of items for a stacked layout.
        where: of the item or items.

    Returns:
        ``[tokens, merged patches * width]``, with the leading axis if there was one.
    """
    if hidden.dim() == 2:
        return hidden[where.merged].mean(-3).flatten(-2)
    index = where.merged.flatten(1).unsqueeze(-1).expand(hidden.shape[0], -1, hidden.shape[-1])
    gathered = hidden.gather(1, index).view(hidden.shape[0], *where.merged.shape[1:], hidden.shape[-1])
    return gathered.mean(-3).flatten(-2)


class PatchMerger(nn.Module):
    """The projector from merged patches to the language model: linear, exact GELU, linear, RMSNorm."""

    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        width = config.mm_hidden_size * config.merge_kernel_size[0] * config.merge_kernel_size[1]
        self.proj = nn.Sequential(
            nn.Linear(width, width, bias=False),
            nn.GELU(),
            nn.Linear(width, config.text_hidden_size, bias=False),
        )
        self.post_norm = nn.RMSNorm(config.text_hidden_size, eps=config.projector_ln_eps)

    def forward(self, merged: Tensor) -> Tensor:
        """``[..., tokens, merged patches * width]`` to ``[..., tokens, text_hidden_size]``."""
        projected: Tensor = self.post_norm(self.proj(merged))
        return projected


def features(tower: MoonViT, projector: PatchMerger, patches: Tensor, grids: Sequence[Grid]) -> Tensor:
    """Pixels of packed items to rows of the language model's input.

    Args:
        tower: the vision tower.
        projector: its projector.
        patches: ``[all patches, 3, side, side]``.
        grids: of each item.

    Returns:
        ``[all tokens, text_hidden_size]``, the items one after another.
    """
    hidden = tower(patches, grids)
    parts = torch.split(hidden, [frames * rows * columns for frames, rows, columns in grids])
    merged = [
        merge(part, layout(grid, tower.config).to(part.device))
        for part, grid in zip(parts, grids, strict=True)
    ]
    out: Tensor = projector(torch.cat(merged))
    return out
