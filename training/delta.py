"""KDA's core operation for training: fla-core's Triton kernels on CUDA, a pure PyTorch chunk form elsewhere.

Both take whole rows [rows, T, heads, D] that start from a zero state, and both are differentiable. Equations:
Kimi Linear, arXiv 2510.26692; the decay is K3's bounded one, g = bound * sigmoid(exp(A_log) * (u + dt_bias)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

KdaOp = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, float], Tensor]
"""(q, k, v, u [rows,T,H,D], beta logits [rows,T,H], A_log [H], dt_bias [H*D], bound) -> [rows,T,H,D]."""

CHUNK = 64
BLOCK = 16


def chunk_kda(
    q: Tensor, k: Tensor, v: Tensor, u: Tensor, beta: Tensor, a_log: Tensor, dt_bias: Tensor, bound: float
) -> Tensor:
    """The chunkwise (WY) form in fp32 with plain PyTorch operations.

    Inside a chunk of 64 the decay differences are formed over blocks of 16 rows relative to the block's first
    row, so that no exponent exceeds 15 * |bound| (75 for K3, within fp32).

    Args:
        q: queries after the convolution, [rows, T, H, D]; normalised and scaled here.
        k: keys, likewise normalised here.
        v: values, [rows, T, H, D].
        u: decay input, [rows, T, H, D].
        beta: logits of the write strength, [rows, T, H].
        a_log: [H].
        dt_bias: [H * D].
        bound: K3's gate_lower_bound, negative.

    Returns:
        [rows, T, H, D] in v's dtype.
    """
    rows, length, heads, width = q.shape
    pad = -length % CHUNK
    g = bound * torch.sigmoid(a_log.float().exp()[:, None] * (u.float() + dt_bias.float().view(heads, width)))
    q, k = _unit(q.float()) * width**-0.5, _unit(k.float())
    b = torch.sigmoid(beta.float())
    q, k, value, g, b = (_chunks(x, pad) for x in (q, k, v.float(), g, b[..., None]))
    total = g.cumsum(-2)
    read, prior = _decayed_products(q, k, total)
    ones = torch.ones(CHUNK, CHUNK, dtype=torch.bool, device=q.device)
    read = read.masked_fill(ones.triu(1), 0.0)
    lower = (b * prior).masked_fill(ones.triu(0), 0.0)
    decay = total.exp()
    sides = torch.cat((value, k * decay), dim=-1) * b
    solved = torch.linalg.solve_triangular(
        lower + torch.eye(CHUNK, device=q.device), sides, upper=False, unitriangular=True
    )
    fresh, erase = solved.split(width, dim=-1)
    out = _scan(q * decay, read, fresh, erase, k * (total[..., -1:, :] - total).exp(), decay[..., -1, :])
    out = out.permute(0, 2, 3, 1, 4).reshape(rows, length + pad, heads, width)
    return out[:, :length].to(v.dtype)


def _scan(q: Tensor, read: Tensor, fresh: Tensor, erase: Tensor, keys: Tensor, decay: Tensor) -> Tensor:
    """Carries the state over the chunks; all [rows, H, chunks, 64, D], read [.., 64, 64], decay [.., D]."""
    state = torch.zeros(*q.shape[:2], q.shape[-1], fresh.shape[-1], device=q.device)
    outs = []
    for i in range(q.shape[2]):
        new = fresh[:, :, i] - erase[:, :, i] @ state
        outs.append(q[:, :, i] @ state + read[:, :, i] @ new)
        state = state * decay[:, :, i, :, None] + keys[:, :, i].mT @ new
    return torch.stack(outs, dim=2)


def _decayed_products(q: Tensor, k: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
    """sum_d q_i k_j exp(G_i - G_j) and the same for k_i; entries above the diagonal are meaningless but
    finite."""
    reads, priors = [], []
    for start in range(0, CHUNK, BLOCK):
        end = start + BLOCK
        origin = total[..., start : start + 1, :]
        falling = (total[..., start:end, :] - origin).exp()
        rising = k[..., :end, :] * (origin - total[..., :end, :]).exp()
        for source, into in ((q, reads), (k, priors)):
            block = (source[..., start:end, :] * falling) @ rising.mT
            into.append(torch.nn.functional.pad(block, (0, CHUNK - end)))
    return torch.cat(reads, dim=-2), torch.cat(priors, dim=-2)


def _unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


def _chunks(x: Tensor, pad: int) -> Tensor:
    """[rows, T, H, D] -> [rows, H, chunks, 64, D], zero-padded at the end."""
    x = torch.nn.functional.pad(x, (0, 0, 0, 0, 0, pad))
    rows, length, heads, width = x.shape
    return x.view(rows, length // CHUNK, CHUNK, heads, width).permute(0, 3, 1, 2, 4)


def pin_autotuner(choice: str) -> list[Any]:
    """Leaves every Triton autotuner made from now on one configuration, or three to race.

    Tuning fla-core's kernels over all configurations takes minutes and gains little at these sizes. Call this
    before fla is imported, and check the result against `chunk_kda` afterwards.

    Args:
        choice: "first" keeps the first listed configuration; "two" and "four" prefer that many warps, then
        the fewest
            stages and the widest blocks up to 64; "race" keeps these three and lets Triton time them.

    Returns:
        a list that fills with the autotuners as they are made.
    """
    from triton.runtime import autotuner

    original = autotuner.Autotuner.__init__
    made: list[Any] = []

    def best(configs: list[Any], warps: int) -> Any:
        def rank(config: Any) -> tuple[float, ...]:
            blocks = [size for size in config.kwargs.values() if isinstance(size, int)]
            over = sum(size > 64 for size in blocks)
            return (abs(config.num_warps - warps), over, config.num_stages, -sum(blocks))

        return min(configs, key=rank)

    def pinned(self: Any, fn: Any, arg_names: Any, configs: Any, *args: Any, **kwargs: Any) -> None:
        if configs and len(configs) > 1:
            options = {"first": configs[0], "two": best(configs, 2), "four": best(configs, 4)}
            configs = (
                list({id(c): c for c in options.values()}.values()) if choice == "race" else [options[choice]]
            )
        original(self, fn, arg_names, configs, *args, **kwargs)
        made.append(self)

    autotuner.Autotuner.__init__ = pinned
    return made


def chosen_configurations(tuners: list[Any]) -> list[str]:
    """What each autotuner that has run settled on, one line each."""
    lines = []
    for tuner in tuners:
        settled = set(map(str, getattr(tuner, "cache", {}).values()))
        if not settled and len(tuner.configs) == 1:
            settled = {str(tuner.configs[0])}
        lines += [
            f"{tuner.base_fn.__name__}: {config}" for config in settled if getattr(tuner, "best_config", None)
        ]
    return lines


def fla_kda() -> KdaOp:
    """fla-core's chunk kernels with gate, sigmoid and normalisation inside; CUDA only."""
    from fla.ops.kda import chunk_kda as kernel

    def run(
        q: Tensor, k: Tensor, v: Tensor, u: Tensor, beta: Tensor, a_log: Tensor, dt_bias: Tensor, bound: float
    ) -> Tensor:
        out, _ = kernel(
            q=q,
            k=k,
            v=v,
            g=u,
            beta=beta,
            A_log=a_log,
            dt_bias=dt_bias,
            use_qk_l2norm_in_kernel=True,
            use_gate_in_kernel=True,
            use_beta_sigmoid_in_kernel=True,
            safe_gate=True,
            lower_bound=bound,
            disable_recompute=True,
        )
        return out

    return run
