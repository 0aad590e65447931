"""The MoonViT tower and its projector from their equations, head by head, written apart."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from kimi_sdk.vision.config import VisionConfig
from kimi_sdk.vision.tower import MoonViT, PatchMerger

SMALL = VisionConfig(
    patch_size=2,
    init_pos_emb_height=5,
    init_pos_emb_width=7,
    vt_hidden_size=16,
    vt_num_hidden_layers=2,
    vt_num_attention_heads=3,
    qkv_hidden_size=36,
    vt_intermediate_size=24,
    mm_hidden_size=16,
    text_hidden_size=20,
)


def pixels(grid: tuple[int, int, int], seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(math.prod(grid), 3, 2, 2, dtype=torch.float64, generator=generator)


def reference_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight


def reference_positions(table: Tensor, grid: tuple[int, int, int]) -> Tensor:
    """PyTorch's own resizing of the table, then sines and cosines of the frame's number."""
    frames, rows, columns = grid
    resized = F.interpolate(table.permute(2, 0, 1)[None], size=(rows, columns), mode="bilinear")[0]
    still = resized.permute(1, 2, 0).reshape(rows * columns, -1)
    if frames == 1:
        return still
    half = still.shape[-1] // 2
    out = []
    for frame in range(frames):
        angles = torch.tensor([frame * 10000 ** (-i / half) for i in range(half)], dtype=torch.float64)
        out.append(still + torch.cat((angles.sin(), angles.cos())))
    return torch.cat(out)


def reference_rotate(vector: Tensor, column: int, row: int) -> Tensor:
    """One head of one patch, pair by pair as complex numbers."""
    size = len(vector)
    pairs = torch.view_as_complex(vector.reshape(-1, 2).contiguous())
    turned = []
    for j in range(size // 4):
        frequency = 10000 ** (-4 * j / size)
        turned.append(pairs[2 * j] * complex(math.cos(column * frequency), math.sin(column * frequency)))
        turned.append(pairs[2 * j + 1] * complex(math.cos(row * frequency), math.sin(row * frequency)))
    return torch.view_as_real(torch.stack(turned)).reshape(-1)


def reference_attention(x: Tensor, weights: dict[str, Tensor], grid: tuple[int, int, int]) -> Tensor:
    heads, size = SMALL.vt_num_attention_heads, SMALL.head_dim
    inner = heads * size
    mixed = x @ weights["wqkv.weight"].T
    q, k, v = (mixed[:, i * inner : (i + 1) * inner].reshape(-1, heads, size) for i in range(3))
    places = [(c, r) for _ in range(grid[0]) for r in range(grid[1]) for c in range(grid[2])]
    out = torch.zeros_like(q)
    for head in range(heads):
        turned_q = torch.stack([reference_rotate(q[n, head], *at) for n, at in enumerate(places)])
        turned_k = torch.stack([reference_rotate(k[n, head], *at) for n, at in enumerate(places)])
        shares = torch.softmax(turned_q @ turned_k.T / math.sqrt(size), -1)
        out[:, head] = shares @ v[:, head]
    return out.reshape(-1, inner) @ weights["wo.weight"].T


def reference_block(own: dict[str, Tensor], x: Tensor, grid: tuple[int, int, int]) -> Tensor:
    x = x + reference_attention(reference_norm(x, own["norm0.weight"], SMALL.vt_norm_eps), own, grid)
    inside = reference_norm(x, own["norm1.weight"], SMALL.vt_norm_eps) @ own["mlp.fc0.weight"].T
    inside = 0.5 * inside * (1 + torch.tanh(math.sqrt(2 / math.pi) * (inside + 0.044715 * inside**3)))
    return x + inside @ own["mlp.fc1.weight"].T


def reference_tower(tower: MoonViT, patches: Tensor, grid: tuple[int, int, int]) -> Tensor:
    state = tower.state_dict()
    x = F.conv2d(patches, state["patch_embed.proj.weight"], stride=2).flatten(1)
    x = x + reference_positions(state["patch_embed.pos_emb.weight"], grid)
    for number in range(SMALL.vt_num_hidden_layers):
        start = f"encoder.blocks.{number}."
        own = {name.removeprefix(start): weight for name, weight in state.items() if name.startswith(start)}
        x = reference_block(own, x, grid)
    return reference_norm(x, state["encoder.final_layernorm.weight"], SMALL.vt_norm_eps)


def reference_features(projector: PatchMerger, hidden: Tensor, grid: tuple[int, int, int]) -> Tensor:
    frames, rows, columns = grid
    cells = hidden.reshape(frames, rows, columns, -1)
    tokens = []
    for row in range(0, rows, 2):
        for column in range(0, columns, 2):
            corners = [(0, 0), (0, 1), (1, 0), (1, 1)]
            tokens.append(torch.cat([cells[:, row + r, column + c].mean(0) for r, c in corners]))
    state = projector.state_dict()
    x = torch.stack(tokens) @ state["proj.0.weight"].T
    x = 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    return reference_norm(x @ state["proj.2.weight"].T, state["post_norm.weight"], SMALL.projector_ln_eps)
