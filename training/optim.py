"""Muon for matrices and AdamW for everything else, on fp32 masters beside the model's own parameters.

Parameters of one shape live in one slab: the model's tensors and their gradients become views of it, so that
a step is a handful of batched operations, can be captured in a CUDA graph, and never waits for the device.
Which parameter is a matrix is the caller's decision; the schedule is `training.schedule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Quintic coefficients of Muon (Jordan et al. 2024): they push every singular value towards one in five
steps."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Peak rates and decays; every one is multiplied by the schedule's factor.

    Attributes:
        muon: step of an orthogonalised update, before the shape factor sqrt(max(1, rows / columns)).
        adam: AdamW's step for embeddings, vectors, router, gates and convolutions.
        decay: decoupled weight decay of matrices, per unit of step.
        momentum: Muon's momentum (Nesterov).
        betas: AdamW's averages.
        clip: gradients are scaled down to this global norm.
    """

    muon: float = 0.02
    adam: float = 3e-3
    decay: float = 0.05
    momentum: float = 0.95
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0


def orthogonalise(matrices: Tensor, steps: int = 5) -> Tensor:
    """Replaces each matrix's singular values by values near one.

    Args:
        matrices: [n, rows, columns]; worked on in bf16 on CUDA and fp32 elsewhere.
        steps: Newton-Schulz iterations.

    Returns:
        [n, rows, columns] fp32.
    """
    a, b, c = NEWTON_SCHULZ
    x = matrices.to(torch.bfloat16) if matrices.is_cuda else matrices.float()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (torch.linalg.vector_norm(x, dim=(-2, -1), keepdim=True, dtype=torch.float32) + 1e-7).to(x.dtype)
    for _ in range(steps):
        gram = torch.bmm(x, x.mT)
        poly = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.baddbmm(x, poly, x, beta=a)
    return (x.mT if tall else x).float()


class Slab:
    """Same-shaped tensors stored together: the model's own, their gradients and the fp32 masters."""

    def __init__(self, members: list[tuple[str, nn.Parameter]], tail: tuple[int, int] | None) -> None:
        """Moves the members into one storage.

        Args:
            members: (name, parameter) pairs of one dtype.
            tail: rows and columns for a slab [n, rows, columns] (Muon); None for a flat one (AdamW).
        """
        self.names = [name for name, _ in members]
        self.parameters = [parameter for _, parameter in members]
        first = self.parameters[0]
        count = sum(parameter.numel() for parameter in self.parameters)
        shape = (count // (tail[0] * tail[1]), *tail) if tail else (count,)
        self.weights = torch.empty(shape, dtype=first.dtype, device=first.device)
        self.grads = torch.zeros_like(self.weights)
        self.master = torch.empty(shape, dtype=torch.float32, device=first.device)
        self.moments = [torch.zeros_like(self.master) for _ in range(1 if tail else 2)]
        self._adopt()

    def _adopt(self) -> None:
        weights, grads, master = self.weights.view(-1), self.grads.view(-1), self.master.view(-1)
        self.masters: dict[str, Tensor] = {}
        start = 0
        for name, parameter in zip(self.names, self.parameters, strict=True):
            end = start + parameter.numel()
            weights[start:end].copy_(parameter.detach().reshape(-1))
            master[start:end].copy_(parameter.detach().reshape(-1))
            parameter.data = weights[start:end].view(parameter.shape)
            parameter.grad = grads[start:end].view(parameter.shape)
            self.masters[name] = master[start:end].view(parameter.shape)
            start = end


class Optimizer:
    """One step for all parameters; device-side only, so that it can be captured in a graph.

    Attributes:
        factor: scalar tensor, the schedule's factor; fill it before each step.
        norm: scalar tensor, the last global gradient norm before clipping.
        quantise: scalar tensor, 1 when the expert slabs are rounded to their 4-bit grid (straight-through).
    """

    def __init__(
        self,
        parameters: Iterable[tuple[str, nn.Parameter]],
        *,
        matrix: Callable[[str, nn.Parameter], tuple[int, int] | None],
        is_quantised: Callable[[str], bool],
        rounding: Callable[[Tensor], Tensor],
        rates: Rates | None = None,
    ) -> None:
        """Groups the parameters.

        Args:
            parameters: named, trainable, floating.
            matrix: rows and columns of what Muon moves (a parameter may hold several such matrices one after
                another), None for the rest.
            is_quantised: true for matrices that the checkpoint stores in MXFP4.
            rounding: fp32 [n, rows, columns] to the nearest storable values, same shape.
            rates: peak rates.
        """
        self.rates = rates or Rates()
        self.rounding = rounding
        groups: dict[tuple[tuple[int, int] | None, torch.dtype, bool], list[tuple[str, nn.Parameter]]] = {}
        for name, parameter in parameters:
            key = (matrix(name, parameter), parameter.dtype, is_quantised(name))
            groups.setdefault(key, []).append((name, parameter))
        self.matrices = [(Slab(members, key[0]), key[2]) for key, members in groups.items() if key[0]]
        self.vectors = [Slab(members, None) for key, members in groups.items() if not key[0]]
        device = self.slabs[0].weights.device
        self.factor = torch.zeros((), device=device)
        self.norm = torch.zeros((), device=device)
        self.quantise = torch.zeros((), device=device)
        self._steps = torch.zeros((), device=device)

    @property
    def slabs(self) -> list[Slab]:
        """All slabs, matrices first."""
        return [slab for slab, _ in self.matrices] + self.vectors

    def zero_grad(self) -> None:
        """Clears the gradients in place: the parameters keep their views."""
        for slab in self.slabs:
            slab.grads.zero_()

    @torch.no_grad()
    def reset(self) -> None:
        """Forgets the moments and the step count (after a warm-up whose steps moved nothing)."""
        self._steps.zero_()
        for slab in self.slabs:
            for moment in slab.moments:
                moment.zero_()

    @torch.no_grad()
    def step(self) -> None:
        """Applies the gradients; a step whose gradient is not finite changes nothing but `norm`."""
        squares = [torch.linalg.vector_norm(slab.grads, dtype=torch.float32).square() for slab in self.slabs]
        self.norm.copy_(torch.stack(squares).sum().sqrt())
        good = torch.isfinite(self.norm)
        scale = torch.where(good, (self.rates.clip / (self.norm + 1e-6)).clamp(max=1.0), 0.0)
        self._steps.add_(good)
        for slab, quantised in self.matrices:
            self._muon(slab, _finite(slab.grads, scale), good, quantised)
        for slab in self.vectors:
            self._adam(slab, _finite(slab.grads, scale), good)

    def _muon(self, slab: Slab, grad: Tensor, good: Tensor, quantised: bool) -> None:
        momentum = slab.moments[0]
        momentum.mul_(torch.where(good, self.rates.momentum, 1.0)).add_(grad)
        update = orthogonalise(grad.add(momentum, alpha=self.rates.momentum))
        rows, columns = slab.master.shape[-2:]
        rate = self.factor * torch.where(good, self.rates.muon, 0.0)
        slab.master.mul_(1.0 - rate * self.rates.decay)
        slab.master.sub_(update * (rate * max(1.0, rows / columns) ** 0.5))
        if quantised:
            rounded = self.rounding(slab.master)
            slab.weights.copy_(torch.where(self.quantise > 0, rounded, slab.master))
        else:
            slab.weights.copy_(slab.master)

    def _adam(self, slab: Slab, grad: Tensor, good: Tensor) -> None:
        first, second = slab.moments
        beta1, beta2 = self.rates.betas
        first.lerp_(grad, torch.where(good, 1.0 - beta1, 0.0))
        second.lerp_(grad.square(), torch.where(good, 1.0 - beta2, 0.0))
        steps = self._steps.clamp(min=1.0)
        mean = first / (1.0 - beta1**steps)
        spread = (second / (1.0 - beta2**steps)).sqrt()
        slab.master.sub_(mean / (spread + 1e-8) * (self.factor * torch.where(good, self.rates.adam, 0.0)))
        slab.weights.copy_(slab.master)

    def masters(self) -> dict[str, Tensor]:
        """The fp32 values by parameter name, live views."""
        return {name: value for slab in self.slabs for name, value in slab.masters.items()}

    @torch.no_grad()
    def load_masters(self, values: Mapping[str, Tensor]) -> None:
        """Sets masters and weights; moments stay as they are, so warm the rate up again.

        Raises:
            KeyError: a parameter has no value.
            ValueError: a value has another shape.
        """
        for slab in self.slabs:
            for name, master in slab.masters.items():
                value = values[name]
                if value.shape != master.shape:
                    raise ValueError(
                        f"{name}: {tuple(value.shape)} stored, {tuple(master.shape)} in the model"
                    )
                master.copy_(value)
            slab.weights.copy_(slab.master)


def _finite(grads: Tensor, scale: Tensor) -> Tensor:
    """Scaled fp32 gradients; zeros where the step is to be skipped (scale 0)."""
    return torch.where(scale > 0, grads.float() * scale, torch.zeros_like(grads, dtype=torch.float32))


@dataclass(frozen=True, slots=True)
class Schedule:
    """Warm-up by steps, then constant, then linear decay, by seconds of training over all runs together.

    Attributes:
        total: planned seconds of training in all runs.
        decay: share of `total` at the end over which the factor falls linearly.
        warmup: steps of linear warm-up at the start of every run (moments start at zero in each).
        floor: factor at the very end.
    """

    total: float
    decay: float = 0.38
    warmup: int = 100
    floor: float = 0.01

    def factor(self, elapsed: float, step: int) -> float:
        """The factor for a step.

        Args:
            elapsed: seconds trained so far, earlier runs included.
            step: steps of this run so far.
        """
        start = self.total * (1.0 - self.decay)
        fallen = min(1.0, max(0.0, (elapsed - start) / (self.total - start)))
        return min(1.0, (step + 1) / self.warmup) * (1.0 + fallen * (self.floor - 1.0))
