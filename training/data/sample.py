"""One training conversation before it is encoded, and the picture that may stand in its messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kimi_sdk.messages import Message


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A drawn canvas standing where an ``Image`` stands in the product.

    Attributes:
        pixels: ``uint8 [height, width, 3]``.
    """

    pixels: np.ndarray

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.pixels.shape[1], self.pixels.shape[0]


@dataclass(slots=True)
class Sample:
    """A conversation as the product would render it.

    Attributes:
        messages: whole history; it ends with an assistant message.
        tools: declarations in prompt order.
        thinking: whether think channels are written.
        effort: of the effort message, with ``thinking``.
        response_format: written before the last assistant message.
        tool_choice: ``"auto"`` writes nothing; ``"required"`` and ``"none"`` write their message.
        last_only: only the last assistant message is a target (the rest of the history was written
            under other settings).
        check: what evaluation needs to judge an answer.
    """

    messages: list[Message]
    tools: list[Mapping[str, Any]] = field(default_factory=list)
    thinking: bool = True
    effort: str = "max"
    response_format: Mapping[str, Any] | None = None
    tool_choice: str = "auto"
    last_only: bool = False
    check: dict[str, Any] = field(default_factory=dict)
