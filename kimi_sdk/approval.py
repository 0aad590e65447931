"""What a person may say to a call that waits for approval."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kimi_sdk.messages import ToolCall


@dataclass(frozen=True, slots=True)
class Approve:
    """The call may run; ``args`` replaces its arguments, and the model is told so."""

    args: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Deny:
    """The call does not run; the model reads ``reason`` as its result."""

    reason: str = "The user declined this call."


Decision: TypeAlias = Approve | Deny
Approver: TypeAlias = Callable[[ToolCall], Awaitable[Decision] | Decision]
