"""Numbers before training: the swapped operations against plain PyTorch, forward and backward, and their
speed.

Run as a program on a GPU: `python -m training.parity`. The trainer runs `check_kda` before every run: a
kernel that is wrong at exactly these sizes (it has happened with other sizes and configurations) must not
train a model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from training.attention import AttentionOp, masked_attention, varlen_attention
from training.delta import KdaOp, chosen_configurations, chunk_kda, fla_kda, pin_autotuner

if TYPE_CHECKING:
    from training.model import TrainingModel
    from training.step import Step

NAMES = ("out", "dq", "dk", "dv", "du", "dbeta", "dA", "ddt")
LIMIT = 0.03
"""Largest relative error of a bf16 kernel that counts as right; broken ones are off by 0.3 and more."""
GATES = ("du", "dA", "ddt")
"""Gradients of the decay: sums that cancel, up to a hundred times less exact, meaningless where it saturates.
"""


def relative(value: Tensor, reference: Tensor) -> float:
    """||value - reference|| / ||reference||; nan where it is nan."""
    value, reference = value.double(), reference.double()
    return float((value - reference).norm() / (reference.norm() + 1e-30))


def kda_inputs(rows: int, length: int, heads: int, width: int, shift: float, device: str) -> list[Tensor]:
    """Random bf16 inputs (fp32 for A_log and dt_bias) with correlated keys and a document gap; shift moves
    the decay."""
    wide = (rows, length, heads, width)
    q, k, v, u = (torch.randn(wide, device=device) for _ in range(4))
    k = k + torch.randn(rows, 1, heads, width, device=device)
    beta = torch.randn(wide[:3], device=device)
    gap = slice(length // 2, length // 2 + 4)
    u[:, gap], beta[:, gap] = 1e4, -1e4
    half = [x.to(torch.bfloat16) for x in (q, k, v, u, beta)]
    a_log = torch.randn(heads, device=device) * 0.2
    return [*half, a_log, torch.randn(heads * width, device=device) + shift]


def kda_errors(
    op: KdaOp, rows: int, length: int, heads: int, width: int, shift: float, device: str
) -> list[float]:
    """Relative errors of output and gradients against the fp32 chunk form, in the order of `NAMES`."""
    inputs = kda_inputs(rows, length, heads, width, shift, device)
    weight = torch.randn(rows, length, heads, width, device=device)
    results = []
    for run, dtype in ((op, None), (chunk_kda, torch.float32)):
        leaves = [(x if dtype is None else x.to(dtype)).detach().clone().requires_grad_() for x in inputs]
        out = run(*leaves, -5.0)
        results.append([out.detach(), *torch.autograd.grad((out.float() * weight).sum(), leaves)])
    return [relative(a, b) for a, b in zip(*results, strict=True)]


def check_kda(
    op: KdaOp, heads: int, width: int, length: int, device: str, show: Callable[[str], None]
) -> bool:
    """Whether the operation is right at these sizes, for slow, middling and fast decay."""
    good = True
    for size in (64, 200, length):
        for shift in (-6.0, -1.0, 3.0):
            errors = kda_errors(op, 4, size, heads, width, shift, device)
            gates = 0.3 if shift < 0 else float("inf")
            good = good and all(
                error < (gates if name in GATES else LIMIT) for name, error in zip(NAMES, errors, strict=True)
            )
            listed = " ".join(f"{name} {error:.1e}" for name, error in zip(NAMES, errors, strict=True))
            show(f"kda T={size} decay shift {shift:+.0f}: {listed}")
    return good


def attention_errors(
    op: AttentionOp, rows: int, length: int, heads: int, width: int, device: str
) -> list[float]:
    """Relative errors of output and gradients of q, k, v against fp32 masked attention."""
    cuts = torch.randint(length // 4, length, (rows,))
    segments = (torch.arange(length)[None] >= cuts[:, None]).to(torch.uint8)
    starts = sorted(
        {row * length + cut for row, cut in enumerate(cuts.tolist())} | {r * length for r in range(rows)}
    )
    bounds = torch.full((4 * rows,), rows * length, dtype=torch.int32)
    bounds[: len(starts)] = torch.tensor(starts, dtype=torch.int32)
    inputs = [torch.randn(rows * length, heads, width, device=device).to(torch.bfloat16) for _ in range(3)]
    weight = torch.randn(rows * length, heads, width, device=device)
    results = []
    for run, dtype in ((op, torch.bfloat16), (masked_attention, torch.float32)):
        leaves = [x.detach().to(dtype).requires_grad_() for x in inputs]
        out = run(*leaves, segments.to(device), bounds.to(device), width**-0.5)
        results.append([out.detach(), *torch.autograd.grad((out.float() * weight).sum(), leaves)])
    return [relative(a, b) for a, b in zip(*results, strict=True)]


def model_errors(step: Step, reference: TrainingModel) -> list[str]:
    """The captured bf16 model against the plain fp32 one on the batch in the buffers: loss, likelihoods,
    gradients."""
    wanted = dict(reference.k3.named_parameters())
    for name, parameter in step.model.k3.named_parameters():
        wanted[name].data.copy_(parameter)
    step.replay()
    outcome = reference(step.inputs)
    outcome.loss.backward()
    gap = (step.nll - outcome.nll).abs()
    lines = [
        f"model: loss {float(step.loss):.5f}, plain fp32 {float(outcome.loss):.5f}; "
        f"likelihoods differ by {float(gap.mean()):.1e} on average, {float(gap.max()):.1e} at most; "
        f"same hits {float((step.hit == outcome.hit).float().mean()):.5f}"
    ]
    cosines = []
    for name, parameter in step.model.k3.named_parameters():
        other = wanted[name].grad
        if parameter.grad is not None and other is not None:
            cosine = torch.nn.functional.cosine_similarity(
                parameter.grad.double().flatten(), other.double().flatten(), 0
            )
            cosines.append((float(cosine), float(parameter.grad.norm() / (other.norm() + 1e-30)), name))
    cosines.sort()
    lines += [
        f"  gradient cosine {cosine:.4f}, norm ratio {ratio:.3f}: {name}"
        for cosine, ratio, name in cosines[:8]
    ]
    lines.append(f"  median gradient cosine {cosines[len(cosines) // 2][0]:.5f}")
    return lines


def milliseconds(run: Callable[[], object], repeats: int = 10) -> float:
    """Median time on the GPU."""
    for _ in range(3):
        run()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def kda_time(op: KdaOp, rows: int, length: int, heads: int, width: int) -> float:
    """Nanoseconds a token and head, forward and backward."""
    leaves = [x.requires_grad_() for x in kda_inputs(rows, length, heads, width, -3.0, "cuda")]
    weight = torch.randn(rows, length, heads, width, device="cuda", dtype=torch.bfloat16)

    def run() -> Sequence[Tensor]:
        return torch.autograd.grad(op(*leaves, -5.0), leaves, weight)

    return milliseconds(run) * 1e6 / (rows * length * heads)


def main() -> None:
    """Prints errors and times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pin", default="race", choices=("first", "two", "four", "race"))
    parser.add_argument("--rows", type=int, default=32)
    arguments = parser.parse_args()
    start = time.monotonic()

    def show(text: str) -> None:
        print(f"[{time.monotonic() - start:6.1f}s] {text}", flush=True)

    tuners = pin_autotuner(arguments.pin)
    op = fla_kda()
    good = check_kda(op, 3, 64, 2048, "cuda", show)
    show(f"kda {'agrees' if good else 'IS WRONG'}")
    errors = attention_errors(varlen_attention, 4, 2048, 4, 64, "cuda")
    show("varlen attention: out, dq, dk, dv " + " ".join(f"{error:.1e}" for error in errors))
    show(f"kda: {kda_time(op, arguments.rows, 2048, 3, 64):.2f} ns a token and head, forward and backward")
    show(f"plain chunk form: {kda_time(chunk_kda, arguments.rows, 2048, 3, 64):.2f} ns")
    for line in chosen_configurations(tuners):
        show(f"  {line}")
    if not good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
