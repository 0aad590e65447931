"""Functions as tools: declared to a model by their signatures, run safely, and fifteen that come built in.

Knows nothing of models or engines.
"""

from kimi_sdk.tools.context import RunContext
from kimi_sdk.tools.tool import AnyTool, Approval, Options, Tool, tool, toolset

__all__ = ["AnyTool", "Approval", "Options", "RunContext", "Tool", "tool", "toolset"]
