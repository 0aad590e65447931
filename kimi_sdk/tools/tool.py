"""A Python function that a model can call: its name, its texts, its schema, and how it may be run.

Running it (validation, threads, timeouts, results) is execute.py's part.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, cast, overload

from kimi_sdk.errors import Retry, ToolDefinitionError
from kimi_sdk.messages import ToolCall
from kimi_sdk.tools.signature import Signature, read_signature

P = ParamSpec("P")
R = TypeVar("R")

Approval: TypeAlias = bool | Callable[[ToolCall], bool]
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a tool may be run.

    Attributes:
        timeout: seconds one call may take; ``None`` is no limit.
        retries: how many calls in one run may be refused before the run ends.
        approval: whether a person must agree first, or a function that decides it for a call.
        sequential: whether the tool runs alone, with no other call beside it.
        idempotent: whether calling it twice does no harm.
        max_result_tokens: a longer result is cut; ``None`` never cuts.
    """

    timeout: float | None = None
    retries: int = 1
    approval: Approval = False
    sequential: bool = False
    idempotent: bool = False
    max_result_tokens: int | None = 8192

    def __post_init__(self) -> None:
        for name, kinds in (("timeout", (int, float)), ("retries", int), ("max_result_tokens", int)):
            value = getattr(self, name)
            absent = value is None and name != "retries"
            if not absent and (isinstance(value, bool) or not isinstance(value, kinds)):
                raise ToolDefinitionError(f"A tool's {name} must be a number, not {value!r}.")
        if self.timeout is not None and not self.timeout > 0:
            raise ToolDefinitionError(f"A tool's timeout must be positive or None, not {self.timeout!r}.")
        if self.retries < 0:
            raise ToolDefinitionError(f"A tool's retries must not be negative: {self.retries!r}.")
        if self.max_result_tokens is not None and self.max_result_tokens < 1:
            raise ToolDefinitionError(
                f"A tool's max_result_tokens must be at least 1 or None, not {self.max_result_tokens!r}."
            )


class Tool(Generic[P, R]):
    """A function with what a model must know to call it. Calling the tool calls the function.

    Attributes:
        name: what the model calls it.
        description: what the model reads about it.
        parameters: JSON schema of the arguments, always an object.
        function: the function itself.
        options: how it may be run.
        signature: how its arguments are validated; ``None`` for a tool made from a schema.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[P, R]
    options: Options
    signature: Signature | None

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str,
        description: str,
        parameters: Mapping[str, Any],
        options: Options,
        signature: Signature | None = None,
    ) -> None:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ToolDefinitionError(
                f"Tool function {_place(function)} cannot be called {name!r}: a tool's name begins with a "
                "letter or an underscore and has at most 64 letters, digits, '_' and '-': @tool(name=...)."
            )
        functools.update_wrapper(self, function)
        self.name = name
        self.description = description
        self.parameters = parameters
        self.function = function
        self.options = options
        self.signature = signature

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Tool {self.name}({', '.join(self.parameters.get('properties', {}))})>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        # A decorated function is found again by its name; anything else is made again from its parts.
        qualname = getattr(self.function, "__qualname__", "")
        if "<" not in qualname and _lookup(getattr(self.function, "__module__", ""), qualname) is self:
            return qualname
        made_from = None if self.signature is not None else dict(self.parameters)
        return _rebuild, (self.function, self.name, self.description, made_from, self.options)

    @property
    def declaration(self) -> dict[str, Any]:
        """The tool as models are told about it, in OpenAI's form."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": dict(self.parameters),
            },
        }

    @property
    def takes_context(self) -> bool:
        """Whether the function's first parameter is a ``RunContext``."""
        return self.signature is not None and self.signature.takes_context

    @property
    def is_async(self) -> bool:
        """Whether the function runs on the event loop; others run in a worker thread."""
        return inspect.iscoroutinefunction(self.function)

    def needs_approval(self, call: ToolCall) -> bool:
        """Whether a person must agree to this call first."""
        approval = self.options.approval
        return approval(call) if callable(approval) else approval

    def bind(self, args: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Validate a model's arguments.

        Returns:
            Positional and keyword arguments of the function, without its context.

        Raises:
            Retry: lists every problem.
        """
        if self.signature is not None:
            return self.signature.bind(args)
        from jsonschema.validators import validator_for

        problems = [
            f"- {'.'.join(map(str, error.absolute_path)) or 'arguments'}: {error.message}"
            for error in validator_for(self.parameters)(self.parameters).iter_errors(dict(args))
        ]
        if problems:
            raise Retry(f"The arguments of {self.name} are not valid.\n" + "\n".join(problems))
        return (dict(args),), {}

    @classmethod
    def from_schema(
        cls,
        call: Callable[[Mapping[str, Any]], Awaitable[Any]],
        *,
        name: str,
        description: str,
        parameters: Mapping[str, Any],
        timeout: float | None = None,
        retries: int = 1,
        approval: Approval = False,
        sequential: bool = False,
        idempotent: bool = False,
        max_result_tokens: int | None = 8192,
    ) -> Tool[..., Awaitable[Any]]:
        """A tool whose schema is given instead of read from a function.

        Args:
            call: gets the arguments as one mapping, already checked against ``parameters``.
            name: what the model calls it.
            description: what the model reads about it.
            parameters: JSON schema of an object.
            timeout: see ``Options``, as all that follow.

        Raises:
            ToolDefinitionError: a bad name, or a schema that is not one of an object.
        """
        options = Options(
            timeout=timeout,
            retries=retries,
            approval=approval,
            sequential=sequential,
            idempotent=idempotent,
            max_result_tokens=max_result_tokens,
        )
        return _from_schema(call, name, description, parameters, options)


AnyTool: TypeAlias = Tool[..., Any] | Callable[..., Any]


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
    retries: int = 1,
    approval: Approval = False,
    sequential: bool = False,
    idempotent: bool = False,
    max_result_tokens: int | None = 8192,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
    retries: int = 1,
    approval: Approval = False,
    sequential: bool = False,
    idempotent: bool = False,
    max_result_tokens: int | None = 8192,
) -> Any:
    """Make a tool of a function; ``@tool`` and ``@tool(...)`` both work.

    The schema comes from the annotations, the texts from the docstring. A first parameter annotated with
    ``RunContext`` is filled by the run and hidden from the model. ``def`` functions run in worker threads.

    Args:
        function: sync or async.
        name: instead of the function's own name.
        description: instead of the docstring's text.
        timeout: seconds one call may take; ``None`` is no limit.
        retries: how many calls in one run may be refused before the run ends.
        approval: whether a person must agree first, or a function that decides it for a call.
        sequential: whether the tool runs alone, with no other call beside it.
        idempotent: whether calling it twice does no harm.
        max_result_tokens: a longer result is cut; ``None`` never cuts.

    Raises:
        ToolDefinitionError: names the function and the argument that cannot be offered to a model.
    """
    options = Options(
        timeout=timeout,
        retries=retries,
        approval=approval,
        sequential=sequential,
        idempotent=idempotent,
        max_result_tokens=max_result_tokens,
    )
    # Annotations kept as text may name things that are local to the code that holds the decorator.
    scope = sys._getframe(1).f_locals
    if function is None:
        return lambda decorated: _define(decorated, name, description, options, scope)
    return _define(function, name, description, options, scope)


def toolset(tools: Iterable[AnyTool]) -> dict[str, Tool[..., Any]]:
    """Tools by name, in order; plain functions become tools.

    Raises:
        ToolDefinitionError: two of them have one name; both places are named.
    """
    found: dict[str, Tool[..., Any]] = {}
    for item in tools:
        if item is None:
            raise ToolDefinitionError("A tool is made from a function or a bound method, not from None.")
        made = item if isinstance(item, Tool) else tool(item)
        if made.name in found:
            raise ToolDefinitionError(
                f"Two tools are called {made.name!r}: {_place(found[made.name].function)} and "
                f"{_place(made.function)}. Rename one: @tool(name=...)."
            )
        found[made.name] = made
    return found


def _define(
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    options: Options,
    scope: Mapping[str, Any],
) -> Tool[..., Any]:
    if isinstance(function, Tool):
        raise ToolDefinitionError(f"{function!r} is a tool already; decorate the function once.")
    if isinstance(function, functools.partial):
        raise ToolDefinitionError(
            f"{function!r} is a partial and has no annotations of its own; write a def around it."
        )
    if not inspect.isroutine(function):
        raise ToolDefinitionError(f"A tool is made from a function or a bound method, not from {function!r}.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(f"Tool function {_place(function)} yields; a tool returns one value.")
    if name is None and function.__name__ == "<lambda>":
        raise ToolDefinitionError(f"A lambda at {_place(function)} has no name; write a def.")
    given = function.__name__ if name is None else name
    signature = read_signature(function, tool=given, scope=scope)
    return Tool(
        function,
        name=given,
        description=signature.description if description is None else description,
        parameters=signature.schema,
        options=options,
        signature=signature,
    )


def _from_schema(
    call: Callable[..., Any], name: str, description: str, parameters: Mapping[str, Any], options: Options
) -> Tool[..., Any]:
    if not isinstance(parameters, Mapping) or parameters.get("type", "object") != "object":
        raise ToolDefinitionError(
            f"Tool {name!r}: parameters must be the JSON schema of an object, such as "
            f"{{'type': 'object', 'properties': {{...}}}}, not {parameters!r}."
        )
    if not isinstance(parameters.get("properties", {}), Mapping):
        raise ToolDefinitionError(f"Tool {name!r}: 'properties' must map argument names to schemas.")
    schema = {"type": "object", "properties": {}, **parameters}
    return Tool(call, name=name, description=description, parameters=schema, options=options)


def _rebuild(
    function: Callable[..., Any],
    name: str,
    description: str,
    parameters: Mapping[str, Any] | None,
    options: Options,
) -> Tool[..., Any]:
    if parameters is None:
        return _define(function, name, description, options, {})
    return _from_schema(function, name, description, parameters, options)


def _lookup(module: str, qualname: str) -> Any:
    try:
        return functools.reduce(getattr, qualname.split("."), cast(Any, importlib.import_module(module)))
    except (ImportError, AttributeError, ValueError):
        return None


def _place(function: Any) -> str:
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    name = getattr(function, "__qualname__", repr(function))
    return f"{name}() ({code.co_filename}:{code.co_firstlineno})" if code else f"{name}()"
