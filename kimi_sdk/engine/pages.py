"""Pages: 64 tokens of cached MLA rows each, for every full-attention layer at once.

Knows storage and who owns which page; leaves the meaning of a row to ``mla``.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import torch
from torch import Tensor

from kimi_sdk.engine.config import K3Config
from kimi_sdk.errors import EngineError, OutOfMemory

PAGE = 64
"""Tokens a page."""


class PagePool:
    """``count`` pages. ``rows[layer]`` is [pages, 64, kv_lora + rope]; layers count from 0.

    Pages come out zeroed (a masked row must not hold an old NaN) and lowest first, so that a sequence's pages
    tend to lie in a row.
    """

    def __init__(
        self,
        config: K3Config,
        count: int,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        layers = config.text.mla_indices
        self.count = count
        self._rows = torch.zeros(
            len(layers), count, PAGE, config.text.attention.row, device=device, dtype=dtype
        )
        self.rows: dict[int, Tensor] = {layer: self._rows[row] for row, layer in enumerate(layers)}
        self._free = list(range(count))
        self._used: set[int] = set()

    @staticmethod
    def pages_for(tokens: int) -> int:
        """Pages that hold this many tokens."""
        return -(-tokens // PAGE)

    @property
    def available(self) -> int:
        """Pages that ``allocate`` can still give."""
        return len(self._free)

    @property
    def bytes_per_page(self) -> int:
        """Bytes of one page over all layers."""
        return self._rows.nbytes // max(self.count, 1)

    def allocate(self, count: int = 1) -> list[int]:
        """Zeroed pages, all or none.

        Raises:
            OutOfMemory: fewer than ``count`` pages are free.
        """
        if count > len(self._free):
            raise OutOfMemory(f"{count} pages are wanted, {len(self._free)} of {self.count} are free")
        pages = [heapq.heappop(self._free) for _ in range(count)]
        self._used.update(pages)
        for page in pages:
            self._rows[:, page].zero_()
        return pages

    def free(self, pages: Iterable[int]) -> None:
        """Gives pages back.

        Raises:
            EngineError: a page is not in use.
        """
        for page in pages:
            if page not in self._used:
                raise EngineError(f"page {page} is freed but not in use")
            self._used.remove(page)
            heapq.heappush(self._free, page)

    def copy(self, source: int, target: int) -> None:
        """Makes the target page an exact copy of the source."""
        self._rows[:, target].copy_(self._rows[:, source])
