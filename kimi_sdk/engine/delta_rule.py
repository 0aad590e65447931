"""The gated delta rule of Kimi Delta Attention (arXiv 2510.26692), one step at a time and chunk by chunk.

Pure functions of q, k, v, log-decay, beta and a state; they know nothing of projections, slots or batches.
The state of one head is ``S`` [V, K], fp32. For each token, with ``a = exp(decay)`` along K:
``S <- S * a``, ``e = beta (v - S k)``, ``S <- S + outer(e, k)``, ``o = S q``.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

CHUNK = 64
"""Tokens whose mutual influence is solved at once; chunks begin at multiples of this position."""
BLOCK = 16
"""Tokens over which decays may be multiplied out as exp(a) exp(-b): 16 * 5 = 80 is below fp32's 88."""


def recurrent_step(
    state: Tensor, q: Tensor, k: Tensor, v: Tensor, decay: Tensor, beta: Tensor
) -> tuple[Tensor, Tensor]:
    """One token of several sequences; all fp32.

    Args:
        state: [S, H, V, K]; updated in place.
        q: [S, H, K], normalised and scaled.
        k: [S, H, K], normalised.
        v: [S, H, V].
        decay: [S, H, K], log of the factor, at most 0.
        beta: [S, H].

    Returns:
        o [S, H, V] and the state.
    """
    count, heads, width, keys = state.shape
    flat, key = state.view(count * heads, width, keys), k.reshape(count * heads, 1, keys)
    # As rows times S^T: BLAS is several times slower at S times columns of this size.
    turned = flat.transpose(1, 2)
    flat.mul_(torch.exp(decay).view(count * heads, 1, keys))
    error = torch.baddbmm(v.reshape(count * heads, 1, width), key, turned, alpha=-1)
    error = error.mul_(beta.reshape(count * heads, 1, 1))
    flat.addcmul_(error.transpose(1, 2), key)
    out = torch.bmm(q.reshape(count * heads, 1, keys), turned)
    return out.view(count, heads, width), state


def pair_decays(q: Tensor, k: Tensor, total: Tensor, *, bounded: bool) -> tuple[Tensor, Tensor]:
    """Decayed products of queries and keys with keys inside chunks.

    Exponents are never positive, except inside a block of 16 under a bounded gate: there they stay below 80.
    No exponent that a row depends on reads a later row, so changing the future changes no bit of the past.

    Args:
        q: [..., C, K] with C a multiple of 16.
        k: [..., C, K].
        total: [..., C, K] fp64, running sum of the log-decay inside the chunk, own token included.
        bounded: whether one token's log-decay is at least -5.

    Returns:
        qk and kk, each [..., C, C]: ``sum_d x_i k_j exp(total_i - total_j)`` for j <= i; other entries are 0.
    """
    length = k.shape[-2]
    rows = torch.stack((q, k))
    out = torch.zeros(*rows.shape[:-1], length, dtype=rows.dtype, device=rows.device)
    for start in range(0, length, BLOCK):
        stop = start + BLOCK
        anchor = total[..., start : start + 1, :]
        left = rows[..., start:stop, :] * _decayed(total[..., start:stop, :], anchor)
        if bounded:
            right = k[..., :stop, :] * _decayed(anchor, total[..., :stop, :])
            out[..., start:stop, :stop] = left @ right.transpose(-1, -2)
            continue
        if start:
            right = k[..., :start, :] * _decayed(anchor, total[..., :start, :])
            out[..., start:stop, :start] = left @ right.transpose(-1, -2)
        out[..., start:stop, start:stop] = _diagonal(rows, k, total, start)
    return out.tril_()[0], out[1]


def _decayed(later: Tensor, earlier: Tensor) -> Tensor:
    """fp32 ``exp(later - earlier)`` of fp64 running sums: sums of hundreds must keep small gaps."""
    return torch.exp((later - earlier).float())


def _diagonal(rows: Tensor, k: Tensor, total: Tensor, start: int) -> Tensor:
    """One 16x16 block pair by pair: safe for any decay."""
    inside = slice(start, start + BLOCK)
    here = total[..., inside, :]
    gap = (here.unsqueeze(-2) - here.unsqueeze(-3)).clamp(max=0).float()
    keys = k[..., inside, :].unsqueeze(-3) * torch.exp(gap)
    return torch.matmul(keys, rows[..., inside, :].unsqueeze(-1)).squeeze(-1)


def chunk_delta_rule(
    state: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    beta: Tensor,
    *,
    steps: Sequence[int],
    bounded: bool,
) -> tuple[Tensor, Tensor]:
    """Many tokens of several sequences, chunk by chunk; all fp32.

    Inside a chunk ``(I + L) U = diag(beta) (V - (K e^G) S^T)`` with ``L = strictly_lower(beta kk)`` is
    solved by forward substitution: products of powers of L lose everything when keys are alike and decay
    is slow.
    Rows with beta = 0 and decay = 0 leave the state as it is, and serve as padding anywhere.

    Args:
        state: [S, H, V, K], the states that the sequences enter with, longest sequence first.
        q: [M, H, C, K], normalised and scaled; M chunks of C tokens, C a multiple of 16: the first chunk of
            every sequence, then the second of those that have one, and so on.
        k: [M, H, C, K], normalised.
        v: [M, H, C, V].
        decay: [M, H, C, K], log-decay.
        beta: [M, H, C].
        steps: how many sequences have a first chunk, a second, ...; never rising, M in all.
        bounded: whether decay is at least -5 everywhere.

    Returns:
        o [M, H, C, V] and the states after each sequence's last chunk (a new tensor).
    """
    total = decay.double().cumsum(dim=-2)
    qk, kk = pair_decays(q, k, total, bounded=bounded)
    grown = torch.exp(total.float())
    weight = beta.unsqueeze(-1)
    sides = torch.cat((v, k * grown), dim=-1) * weight
    solved = torch.linalg.solve_triangular((kk * weight).tril(-1), sides, upper=False, unitriangular=True)
    values, keys = solved.split((v.shape[-1], k.shape[-1]), dim=-1)
    queries = q * grown
    leaving = total[..., -1:, :]
    ending = k * _decayed(leaving, total)
    kept = torch.exp(leaving.float())
    outputs, finished, start = [], [], 0
    for active in steps:
        here = slice(start, start + active)
        start += active
        finished.append(state[active:])
        state = state[:active]
        turned = state.transpose(-1, -2)
        update = values[here] - keys[here] @ turned
        outputs.append(queries[here] @ turned + qk[here] @ update)
        state = state * kept[here] + update.transpose(-1, -2) @ ending[here]
    return torch.cat(outputs), torch.cat([state, *reversed(finished)])
