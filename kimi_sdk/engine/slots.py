"""Slots: one sequence's complete KDA state, S and conv of every linear-attention layer.

Knows storage and who owns which slot; leaves the meaning of the numbers to ``kda``.
"""

from __future__ import annotations

import heapq

import torch
from torch import Tensor

from kimi_sdk.engine.config import K3Config
from kimi_sdk.errors import EngineError, OutOfMemory


class SlotPool:
    """``count`` slots. ``recurrent[layer]`` is [slots, H, V, K] fp32, ``conv[layer]`` [slots, W - 1, 3*H*D].

    Layers count from 0; only linear-attention layers are present. The lowest free slot is given first.
    """

    def __init__(
        self,
        config: K3Config,
        count: int,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        linear, layers = config.text.linear, config.text.kda_indices
        dim = linear.head_dim
        self.count = count
        self._recurrent = torch.zeros(len(layers), count, linear.heads, dim, dim, device=device)
        self._conv = torch.zeros(
            len(layers), count, linear.conv_size - 1, 3 * linear.width, device=device, dtype=dtype
        )
        self.recurrent: dict[int, Tensor] = {layer: self._recurrent[row] for row, layer in enumerate(layers)}
        self.conv: dict[int, Tensor] = {layer: self._conv[row] for row, layer in enumerate(layers)}
        self._free = list(range(count))
        self._used: set[int] = set()

    @property
    def available(self) -> int:
        """Slots that ``allocate`` can still give."""
        return len(self._free)

    @property
    def bytes_per_slot(self) -> int:
        """Bytes of one sequence's state."""
        total = self._recurrent.nbytes + self._conv.nbytes
        return total // max(self.count, 1)

    def allocate(self) -> int:
        """A zeroed slot.

        Raises:
            OutOfMemory: all slots are in use.
        """
        if not self._free:
            raise OutOfMemory(f"all {self.count} state slots are in use")
        slot = heapq.heappop(self._free)
        self._used.add(slot)
        self.zero(slot)
        return slot

    def free(self, slot: int) -> None:
        """Gives a slot back.

        Raises:
            EngineError: the slot is not in use.
        """
        if slot not in self._used:
            raise EngineError(f"slot {slot} is freed but not in use")
        self._used.remove(slot)
        heapq.heappush(self._free, slot)

    def zero(self, slot: int) -> None:
        """The state before any token."""
        self._recurrent[:, slot].zero_()
        self._conv[:, slot].zero_()

    def copy(self, source: int, target: int) -> None:
        """Makes the target an exact copy of the source."""
        self._recurrent[:, target].copy_(self._recurrent[:, source])
        self._conv[:, target].copy_(self._conv[:, source])
