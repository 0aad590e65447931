"""Everything this package raises on purpose, sorted by whose fault it is.

KimiError
├── ConfigError (ValueError)        the caller's mistake, raised before any token is spent
│   ├── ToolDefinitionError         name, duplicate, annotation without a schema, ``**kwargs``
│   ├── SchemaError                 a keyword the grammar cannot enforce, an unresolvable ``$ref``
│   └── ImageError                  unreadable, truncated, too large, unsupported format
├── LoadError                       files missing, wrong architecture, wrong tensors
├── EngineError                     the engine's fault; the run cannot go on
│   ├── EngineClosed
│   └── OutOfMemory
├── ContextOverflow                 ``.needed`` and ``.available`` tokens
└── RunError                        ``.messages .usage .trace``: what had been done by then
    ├── LimitExceeded               ``.limit`` and ``.value``
    ├── OutputError                 the typed output failed its validators after every retry
    ├── ToolFailed                  a tool raised Abort
    └── ModelStalled                the same call with the same result, too often in a row

``Retry`` and ``Abort`` are not errors of this package: a tool raises them to speak to the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_sdk.messages import Message
    from kimi_sdk.settings import Usage
    from kimi_sdk.trace import Trace


class KimiError(Exception):
    """Base of every error that kimi_sdk raises on purpose."""


class ConfigError(KimiError, ValueError):
    """The caller's mistake, found before any token is spent."""


class ToolDefinitionError(ConfigError):
    """A function that cannot be a tool; the message names the function and the argument."""


class SchemaError(ConfigError):
    """A schema that cannot be enforced.

    Attributes:
        pointer: JSON pointer of the offending place, ``""`` for the whole schema.
        keyword: the offending keyword, ``""`` when it is not one keyword.
    """

    def __init__(self, message: str, *, pointer: str = "", keyword: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer
        self.keyword = keyword


class ImageError(ConfigError):
    """An image that cannot be used: unreadable, truncated, too large or of an unknown format."""


class LoadError(KimiError):
    """A model checkpoint that cannot be loaded; the message names the file, tensor or key."""


class EngineError(KimiError):
    """The engine's own fault; the run cannot go on."""


class EngineClosed(EngineError):
    """The model was closed while, or before, the request ran."""


class OutOfMemory(EngineError):
    """A request that can never fit into the memory given to the engine."""


class ContextOverflow(KimiError):
    """A prompt longer than the context.

    Attributes:
        needed: tokens the prompt has.
        available: tokens the context can hold.
    """

    def __init__(self, message: str, *, needed: int, available: int) -> None:
        super().__init__(message)
        self.needed = needed
        self.available = available


class RunError(KimiError):
    """A run that ended without its answer; nothing that was done is lost.

    Attributes:
        messages: the whole conversation up to the failure, a legal history.
        usage: what was spent.
        trace: the record of the run, ``None`` before its first step.
    """

    def __init__(
        self,
        message: str,
        *,
        messages: Sequence[Message],
        usage: Usage,
        trace: Trace | None = None,
    ) -> None:
        super().__init__(message)
        self.messages = messages
        self.usage = usage
        self.trace = trace


class LimitExceeded(RunError):
    """A limit of ``Limits`` was reached.

    Attributes:
        limit: the field's name, such as ``"steps"``.
        value: the value that it had.
    """

    def __init__(
        self,
        message: str,
        *,
        limit: str,
        value: float,
        messages: Sequence[Message],
        usage: Usage,
        trace: Trace | None = None,
    ) -> None:
        super().__init__(message, messages=messages, usage=usage, trace=trace)
        self.limit = limit
        self.value = value


class OutputError(RunError):
    """The typed output was cut short or failed its validators after every retry."""


class ToolFailed(RunError):
    """A tool raised ``Abort``."""


class ModelStalled(RunError):
    """The model repeated one call with one result more often than ``Limits.repeats`` allows."""


class Abort(Exception):
    """Raise inside a tool to end the run; any other exception goes back to the model as text."""


class Retry(Exception):
    """Raise inside a tool to send its message back and ask for the call again."""
