"""An agent SDK that contains its engine: Kimi K3 models in this process.

    from kimi_sdk import Agent
    print(Agent("k3-mini").run_sync("Hello").output)

Names are imported where they are first used, so that importing the package stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kimi_sdk import errors as errors
    from kimi_sdk.agent import Agent as Agent
    from kimi_sdk.approval import Approve as Approve
    from kimi_sdk.approval import Approver as Approver
    from kimi_sdk.approval import Decision as Decision
    from kimi_sdk.approval import Deny as Deny
    from kimi_sdk.backend import TokenLogprob as TokenLogprob
    from kimi_sdk.backend import ToolChoice as ToolChoice
    from kimi_sdk.events import CallArgsDelta as CallArgsDelta
    from kimi_sdk.events import CallFinished as CallFinished
    from kimi_sdk.events import CallProgress as CallProgress
    from kimi_sdk.events import CallReady as CallReady
    from kimi_sdk.events import CallStarted as CallStarted
    from kimi_sdk.events import Event as Event
    from kimi_sdk.events import OutputDelta as OutputDelta
    from kimi_sdk.events import ReasoningDelta as ReasoningDelta
    from kimi_sdk.events import StepFinished as StepFinished
    from kimi_sdk.events import StepStarted as StepStarted
    from kimi_sdk.events import TextDelta as TextDelta
    from kimi_sdk.hooks import Hooks as Hooks
    from kimi_sdk.messages import CallStats as CallStats
    from kimi_sdk.messages import Message as Message
    from kimi_sdk.messages import Part as Part
    from kimi_sdk.messages import Reasoning as Reasoning
    from kimi_sdk.messages import Role as Role
    from kimi_sdk.messages import Task as Task
    from kimi_sdk.messages import Text as Text
    from kimi_sdk.messages import ToolCall as ToolCall
    from kimi_sdk.messages import ToolResult as ToolResult
    from kimi_sdk.model import Model as Model
    from kimi_sdk.output import Choice as Choice
    from kimi_sdk.output import Constraint as Constraint
    from kimi_sdk.output import Grammar as Grammar
    from kimi_sdk.output import JsonSchema as JsonSchema
    from kimi_sdk.output import OneOf as OneOf
    from kimi_sdk.output import Regex as Regex
    from kimi_sdk.reply import Reply as Reply
    from kimi_sdk.result import RunResult as RunResult
    from kimi_sdk.session import Session as Session
    from kimi_sdk.settings import Effort as Effort
    from kimi_sdk.settings import Limits as Limits
    from kimi_sdk.settings import Sampling as Sampling
    from kimi_sdk.settings import Usage as Usage
    from kimi_sdk.source import PathLike as PathLike
    from kimi_sdk.stream import Stream as Stream
    from kimi_sdk.tools.builtin import builtin_tools as builtin_tools
    from kimi_sdk.tools.context import RunContext as RunContext
    from kimi_sdk.tools.tool import AnyTool as AnyTool
    from kimi_sdk.tools.tool import Approval as Approval
    from kimi_sdk.tools.tool import Tool as Tool
    from kimi_sdk.tools.tool import tool as tool
    from kimi_sdk.trace import Trace as Trace
    from kimi_sdk.vision.image import Image as Image

__version__ = "0.1.0"

_HOMES = {
    "kimi_sdk.agent": ("Agent",),
    "kimi_sdk.approval": ("Approve", "Approver", "Decision", "Deny"),
    "kimi_sdk.backend": ("TokenLogprob", "ToolChoice"),
    "kimi_sdk.events": (
        "CallArgsDelta",
        "CallFinished",
        "CallProgress",
        "CallReady",
        "CallStarted",
        "Event",
        "OutputDelta",
        "ReasoningDelta",
        "StepFinished",
        "StepStarted",
        "TextDelta",
    ),
    "kimi_sdk.hooks": ("Hooks",),
    "kimi_sdk.messages": (
        "CallStats",
        "Message",
        "Part",
        "Reasoning",
        "Role",
        "Task",
        "Text",
        "ToolCall",
        "ToolResult",
    ),
    "kimi_sdk.model": ("Model",),
    "kimi_sdk.output": ("Choice", "Constraint", "Grammar", "JsonSchema", "OneOf", "Regex"),
    "kimi_sdk.reply": ("Reply",),
    "kimi_sdk.result": ("RunResult",),
    "kimi_sdk.session": ("Session",),
    "kimi_sdk.settings": ("Effort", "Limits", "Sampling", "Usage"),
    "kimi_sdk.source": ("PathLike",),
    "kimi_sdk.stream": ("Stream",),
    "kimi_sdk.tools.builtin": ("builtin_tools",),
    "kimi_sdk.tools.context": ("RunContext",),
    "kimi_sdk.tools.tool": ("AnyTool", "Approval", "Tool", "tool"),
    "kimi_sdk.trace": ("Trace",),
    "kimi_sdk.vision.image": ("Image",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", "errors", *sorted(_HOME_OF)]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("kimi_sdk.errors")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'kimi_sdk' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
