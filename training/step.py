"""One training step on fixed buffers: load a batch, forward and backward, update; captured in CUDA graphs on
a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.feed import Batch
from training.model import TrainingModel
from training.optim import Optimizer
from training.parity import milliseconds
from training.rows import Shape

ON_DEVICE = ("ids", "targets", "weights", "segments", "bounds", "patches", "grids", "places")
BALANCE = 4e-3
"""How far a step moves an expert's selection bias (auxiliary-loss-free balancing, arXiv 2408.15664)."""


class Step:
    """Buffers, and the two halves of a step that read and write them.

    Attributes:
        loss: scalar, of the last forward.
        nll: [rows*length] fp32.
        hit: [rows*length] bool.
        load: [MoE layers, experts] share of tokens per expert.
    """

    def __init__(
        self, model: TrainingModel, optimizer: Optimizer, shape: Shape, device: torch.device
    ) -> None:
        self.model, self.optimizer, self.shape, self.device = model, optimizer, shape, device
        self.inputs: dict[str, Tensor] = {}
        self.loss = torch.zeros((), device=device)
        self.nll = torch.zeros(shape.tokens, device=device)
        self.hit = torch.zeros(shape.tokens, dtype=torch.bool, device=device)
        self.load = torch.zeros(model.moe_layers, model.experts, device=device)
        self._graphs: list[Any] = []

    def fill(self, batch: Batch) -> None:
        """Copies a batch into the input buffers; does not wait for the device."""
        for name in ON_DEVICE:
            value = torch.from_numpy(np.ascontiguousarray(batch[name]))
            if self.device.type == "cuda":
                value = value.pin_memory()
            if name not in self.inputs:
                self.inputs[name] = torch.zeros(value.shape, dtype=value.dtype, device=self.device)
            self.inputs[name].copy_(value, non_blocking=True)

    def forward_backward(self) -> None:
        """Gradients of the batch in the buffers."""
        self.optimizer.zero_grad()
        outcome = self.model(self.inputs)
        outcome.loss.backward()
        self.loss.copy_(outcome.loss.detach())
        self.nll.copy_(outcome.nll)
        self.hit.copy_(outcome.hit)
        self.load.copy_(outcome.load / self.shape.tokens)

    @torch.no_grad()
    def update(self) -> None:
        """Applies the gradients and nudges the routers' selection biases towards equal load."""
        self.optimizer.step()
        for bias, load in zip(self.model.selection_biases, self.load, strict=True):
            bias.add_(torch.sign(load.mean() - load) * (BALANCE * self.optimizer.factor))

    def capture(self, show: Callable[[str], None], warmups: int = 2) -> None:
        """Records both halves as CUDA graphs; the buffers must hold a batch, the optimizer's factor must be
        0."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for number in range(warmups):
                self.forward_backward()
                self.update()
                torch.cuda.synchronize()
                show(f"warm-up {number + 1}: loss {float(self.loss):.4f}")
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        try:
            for half in (self.forward_backward, self.update):
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    half()
                self._graphs.append(graph)
            show("graphs captured")
        except RuntimeError as error:
            self._graphs = []
            show(f"NOT captured, kernels will be launched one by one: {error}")
        torch.cuda.synchronize()
        self.optimizer.reset()

    def wait(self) -> None:
        """Waits for the device."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def table(self) -> list[str]:
        """Where a step's time goes on a GPU: launched, as graphs, memory, the longest kernels."""
        lines = []
        parts: dict[str, Callable[[], object]] = {"forward and backward, launched": self.forward_backward}
        if self._graphs:
            parts |= {
                "forward and backward, graph": self._graphs[0].replay,
                "update, graph": self._graphs[1].replay,
            }
        for name, run in parts.items():
            took = milliseconds(run, 5)
            lines.append(f"{name}: {took:.1f} ms, {self.shape.tokens / took / 1e3:.3f}M tok/s")
        lines.append(f"memory: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for run in list(parts.values())[-2:]:
                run()
            torch.cuda.synchronize()
        events = sorted(profile.key_averages(), key=lambda event: -event.self_device_time_total)
        total = sum(event.self_device_time_total for event in events)
        lines.append(f"kernels of one step: {total / 1e3:.1f} ms")
        lines += [
            f"  {event.self_device_time_total / 1e3:6.2f} ms {event.count:4d}x {event.key[:90]}"
            for event in events[:28]
        ]
        self.optimizer.reset()
        return lines

    def replay(self) -> None:
        """Forward and backward of what is in the buffers."""
        if self._graphs:
            self._graphs[0].replay()
        else:
            self.forward_backward()

    def probe(self, batch: Batch) -> None:
        """Forward (and an unused backward) of a batch: fills `nll` and `hit`, changes no weight."""
        self.fill(batch)
        self.replay()

    def train(self, batch: Batch, factor: float) -> None:
        """One step at a factor of the peak rates; does not wait for the device."""
        self.probe(batch)
        self.optimizer.factor.fill_(factor)
        if self._graphs:
            self._graphs[1].replay()
        else:
            self.update()
