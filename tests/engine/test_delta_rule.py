"""The delta rule chunk by chunk and step by step against float64, where such kernels are known to break."""

from __future__ import annotations

import numpy as np
import pytest
import reference_k3
import torch
from torch import Tensor

from kimi_sdk.engine.delta_rule import chunk_delta_rule, pair_decays, recurrent_step

HEADS, KEYS, VALUES = 2, 16, 24  # K != V: a transposed state must not pass
LENGTHS = (1, 2, 15, 16, 17, 63, 64, 65, 130)
GATES = ("near 0", "middle", "near -5", "mixed")


def inputs(length: int, gates: str, *, alike: bool, seed: int = 0) -> dict[str, Tensor]:
    """q, k, v, decay [T, H, .] and beta [T, H]; keys either random or nearly one and the same."""
    generator = torch.Generator().manual_seed(seed)

    def noise(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    k = noise(length, HEADS, KEYS)
    if alike:
        k = noise(1, HEADS, KEYS) + 0.01 * k
    levels = {"near 0": (-1e-4, 0.0), "middle": (-1.0, -0.05), "near -5": (-5.0, -4.9), "mixed": (-5.0, 0.0)}
    low, high = levels[gates]
    share = torch.rand(length, HEADS, KEYS, generator=generator)
    return {
        "q": torch.nn.functional.normalize(noise(length, HEADS, KEYS), dim=-1) * KEYS**-0.5,
        "k": torch.nn.functional.normalize(k, dim=-1),
        "v": noise(length, HEADS, VALUES),
        "decay": low + (high - low) * share,
        "beta": torch.rand(length, HEADS, generator=generator) * (0.05 if alike else 1)
        + (0.94 if alike else 0),
    }


def exact(x: dict[str, Tensor], state: Tensor) -> tuple[np.ndarray, np.ndarray]:
    wide = {name: value.double().numpy() for name, value in x.items()}
    outs, states = [], []
    for h in range(HEADS):
        parts = [wide[name][:, h] for name in ("q", "k", "v", "decay", "beta")]
        out, last = reference_k3.delta_rule(*parts, state[h].double().numpy())
        outs.append(out)
        states.append(last)
    return np.stack(outs, 1), np.stack(states)


def stepped(x: dict[str, Tensor], state: Tensor) -> tuple[Tensor, Tensor]:
    state = state.clone().unsqueeze(0)
    outs = []
    for t in range(len(x["q"])):
        args = (x[name][t : t + 1] for name in ("q", "k", "v", "decay", "beta"))
        outs.append(recurrent_step(state, *args)[0])
    return torch.cat(outs), state[0]


def chunked(x: dict[str, Tensor], state: Tensor, size: int, *, bounded: bool = True) -> tuple[Tensor, Tensor]:
    length = len(x["q"])
    count = -(-length // size)

    def cut(value: Tensor) -> Tensor:
        padded = torch.cat((value, value.new_zeros(count * size - length, *value.shape[1:])))
        return padded.view(count, size, *value.shape[1:]).transpose(1, 2)

    args = (cut(x[name]) for name in ("q", "k", "v", "decay", "beta"))
    out, last = chunk_delta_rule(state.unsqueeze(0), *args, steps=[1] * count, bounded=bounded)
    return out.transpose(1, 2).flatten(0, 1)[:length], last[0]


def close(found: Tensor, wanted: np.ndarray, limit: float = 1e-5) -> None:
    target = torch.from_numpy(wanted)
    assert torch.isfinite(found).all()
    assert float((found.double() - target).norm() / target.norm()) < limit


@pytest.mark.parametrize("alike", [False, True], ids=["keys apart", "keys alike"])
@pytest.mark.parametrize("gates", GATES)
@pytest.mark.parametrize("length", LENGTHS)
def test_both_forms_are_exact(length: int, gates: str, alike: bool) -> None:
    x = inputs(length, gates, alike=alike, seed=length)
    state = torch.randn(HEADS, VALUES, KEYS, generator=torch.Generator().manual_seed(1))
    out, last = exact(x, state)
    for found in (stepped(x, state), chunked(x, state, 16), chunked(x, state, 64)):
        close(found[0], out)
        if (
            gates != "near -5" or length < 3
        ):  # a state that has decayed to 1e-6 of a step has no digits to compare
            close(found[1], last)


@pytest.mark.parametrize("size", [16, 64])
def test_unbounded_gates_never_overflow(size: int) -> None:
    """Kimi-Linear's softplus decay: single steps of e^-200 beside steps of e^0."""
    x = inputs(130, "middle", alike=True)
    x["decay"] = torch.where(
        torch.rand(x["decay"].shape, generator=torch.Generator().manual_seed(3)) < 0.2, -200.0, -1e-3
    )
    state = torch.randn(HEADS, VALUES, KEYS, generator=torch.Generator().manual_seed(1))
    out, last = exact(x, state)
    found = chunked(x, state, size, bounded=False)
    close(found[0], out)
    close(found[1], last)


@pytest.mark.parametrize("gates", GATES)
def test_two_pieces_are_one(gates: str) -> None:
    x = inputs(96, gates, alike=False)
    state = torch.zeros(HEADS, VALUES, KEYS)
    once, last = chunked(x, state, 64)
    head, middle = chunked({name: value[:37] for name, value in x.items()}, state, 64)
    tail, end = chunked({name: value[37:] for name, value in x.items()}, middle, 64)
    close(torch.cat((head, tail)), once.double().numpy())
    close(end, last.double().numpy())


def test_the_whole_triangle_is_solved_not_only_near_the_diagonal() -> None:
    """All keys equal, beta 1, no decay: doubling products lose everything here, substitution nothing."""
    k = torch.nn.functional.normalize(torch.ones(64, HEADS, KEYS), dim=-1)
    x = inputs(64, "near 0", alike=True) | {"k": k, "beta": torch.ones(64, HEADS)}
    x["decay"] = torch.zeros(64, HEADS, KEYS)
    out, last = exact(x, torch.zeros(HEADS, VALUES, KEYS))
    found = chunked(x, torch.zeros(HEADS, VALUES, KEYS), 64)
    close(found[0], out)
    close(found[1], last)


@pytest.mark.parametrize("bounded", [True, False])
def test_the_future_changes_no_bit_of_the_past(bounded: bool) -> None:
    x, y = inputs(64, "mixed", alike=False), inputs(64, "near 0", alike=True, seed=5)
    mixed = {name: torch.cat((x[name][:41], y[name][41:])) for name in x}
    state = torch.randn(HEADS, VALUES, KEYS, generator=torch.Generator().manual_seed(1))
    before, after = chunked(x, state, 64, bounded=bounded)[0], chunked(mixed, state, 64, bounded=bounded)[0]
    assert torch.equal(before[:41], after[:41])
    assert not torch.equal(before[41:], after[41:])


def test_pairs_below_the_diagonal_and_nothing_above() -> None:
    x = inputs(64, "mixed", alike=False)
    q, k, total = (value.transpose(0, 1) for value in (x["q"], x["k"], x["decay"].double().cumsum(0)))
    for found, rows in zip(pair_decays(q, k, total, bounded=True), (q, k), strict=True):
        gap = (total.unsqueeze(-2) - total.unsqueeze(-3)).clamp(max=0)
        wanted = torch.einsum("hid,hjd,hijd->hij", rows.double(), k.double(), gap.exp()).tril()
        assert torch.allclose(found.tril().double(), wanted, atol=1e-6)


def test_sequences_of_different_lengths_share_one_call() -> None:
    state = torch.randn(3, HEADS, VALUES, KEYS, generator=torch.Generator().manual_seed(1))
    lengths = (48, 32, 16)
    parts = [inputs(length, "middle", alike=False, seed=length) for length in lengths]
    order = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)]

    def cut(name: str) -> Tensor:
        rows = [parts[s][name][c * 16 : c * 16 + 16] for s, c in order]
        return torch.stack(rows).transpose(1, 2)

    args = (cut(name) for name in ("q", "k", "v", "decay", "beta"))
    out, last = chunk_delta_rule(state, *args, steps=[3, 2, 1], bounded=True)
    for s in range(3):
        wanted, end = exact(parts[s], state[s])
        mine = torch.cat([out[row].transpose(0, 1) for row, (owner, _) in enumerate(order) if owner == s])
        close(mine, wanted)
        close(last[s], end)
