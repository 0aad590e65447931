"""From a Python function to the JSON schema of its arguments, and from a model's arguments back to a call.

Types come from annotations alone, by way of pydantic; texts come from the docstring (docstring.py).
Knows nothing of running a tool.
"""

from __future__ import annotations

import difflib
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, get_origin

from kimi_sdk.errors import Retry, ToolDefinitionError
from kimi_sdk.tools.context import RunContext
from kimi_sdk.tools.docstring import describe

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from pydantic.fields import FieldInfo

VARIADIC = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
SHOWN_INPUT = 60  # characters of a refused value that an error repeats


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes.

    Attributes:
        tool: the name used in messages.
        description: the docstring's text before its sections.
        schema: JSON schema of the arguments, an object without further properties.
        takes_context: whether the first parameter is a ``RunContext``; it is not in the schema.
        positional: names of the positional-only arguments, in order.
        fields: arguments declared as ``x: int = Field(...)``, whose default is inside the field.
        adapter: validates the arguments as one object.
    """

    tool: str
    description: str
    schema: Mapping[str, Any]
    takes_context: bool
    positional: tuple[str, ...]
    fields: Mapping[str, FieldInfo]
    adapter: TypeAdapter[Any] = field(repr=False, compare=False)

    def bind(self, args: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Validate a model's arguments and sort them into positional and keyword ones.

        Raises:
            Retry: lists every problem, one a line, for the model to read.
        """
        from pydantic import ValidationError

        try:
            values: dict[str, Any] = self._validate(args)
        except ValidationError as error:
            raise Retry(explain(error, self.tool, tuple(self.schema["properties"]))) from None
        for name, info in self.fields.items():
            if name not in values:
                values[name] = info.get_default(call_default_factory=True)
        positional = []
        for name in self.positional:
            if name not in values:
                break
            positional.append(values.pop(name))
        return tuple(positional), values

    def _validate(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments are JSON by origin, so pydantic's JSON rules apply; Python values are taken too."""
        from pydantic_core import PydanticSerializationError, to_json

        try:
            document = to_json(dict(args), inf_nan_mode="constants")
        except (PydanticSerializationError, UnicodeEncodeError):
            return typing.cast("dict[str, Any]", self.adapter.validate_python(dict(args)))
        return typing.cast("dict[str, Any]", self.adapter.validate_json(document))


def read_signature(
    function: Callable[..., Any], *, tool: str, scope: Mapping[str, Any] | None = None
) -> Signature:
    """Work out what ``function`` takes.

    Args:
        function: a plain function or a bound method.
        tool: the tool's name, for messages.
        scope: names visible where the function was written, for annotations kept as text.

    Raises:
        ToolDefinitionError: names the function and the argument that has no schema.
    """
    parameters = list(inspect.signature(function).parameters.values())
    texts = describe(inspect.getdoc(function) or "", [p.name for p in parameters])
    hints = {p.name: _hint(function, p, scope or {}) for p in parameters}
    takes_context = bool(parameters) and _is_context(hints[parameters[0].name])
    own = parameters[1:] if takes_context else parameters
    for parameter in own:
        _check(function, parameter, hints[parameter.name])
    members, fields = _members(own, hints, texts.arguments)
    adapter, schema = _build(function, tool, members)
    _finish(schema, own, fields)
    return Signature(
        tool=tool,
        description=texts.description,
        schema=schema,
        takes_context=takes_context,
        positional=tuple(p.name for p in own if p.kind is inspect.Parameter.POSITIONAL_ONLY),
        fields={name: info for name, info in fields.items() if not info.is_required()},
        adapter=adapter,
    )


def _refuse(function: Callable[..., Any], argument: str, problem: str) -> NoReturn:
    name = getattr(function, "__qualname__", repr(function))
    raise ToolDefinitionError(f"Tool function {name}(), argument {argument!r}: {problem}")


def _hint(function: Callable[..., Any], parameter: inspect.Parameter, scope: Mapping[str, Any]) -> Any:
    """One parameter's annotation, evaluated where the function was written."""
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty or parameter.kind in VARIADIC:
        return inspect.Parameter.empty
    body = inspect.unwrap(getattr(function, "__func__", function))
    names = {**scope, **_free_names(body)}

    def probe() -> None: ...

    probe.__annotations__ = {parameter.name: annotation}
    try:
        found = typing.get_type_hints(
            probe, globalns=getattr(body, "__globals__", {}), localns=names, include_extras=True
        )
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        _refuse(
            function,
            parameter.name,
            f"the annotation {annotation!r} cannot be evaluated ({error}). Import its names at run time, "
            "not only under TYPE_CHECKING.",
        )
    return found[parameter.name]


def _free_names(body: Any) -> dict[str, Any]:
    code, cells = getattr(body, "__code__", None), getattr(body, "__closure__", None)
    if code is None or not cells:
        return {}
    names = {}
    for name, cell in zip(code.co_freevars, cells, strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # a variable that is not assigned yet
            continue
    return names


def _is_context(hint: Any) -> bool:
    return hint is RunContext or get_origin(hint) is RunContext


def _check(function: Callable[..., Any], parameter: inspect.Parameter, hint: Any) -> None:
    """Refuse parameters that no schema can describe."""
    if parameter.kind in VARIADIC:
        stars = VARIADIC[parameter.kind]
        _refuse(
            function,
            stars + parameter.name,
            "a model can only fill named arguments; list them, or take one dict.",
        )
    if hint is inspect.Parameter.empty:
        if parameter.name in ("self", "cls"):
            _refuse(function, parameter.name, "pass a bound method instead: tool(instance.method).")
        _refuse(function, parameter.name, "it has no annotation; write its type, such as `: str`.")
    if _is_context(hint):
        _refuse(function, parameter.name, "RunContext must be the first parameter.")


def _members(
    parameters: list[inspect.Parameter], hints: Mapping[str, Any], texts: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, FieldInfo]]:
    """The arguments as members of a TypedDict, and those that carry a ``Field`` as their default."""
    from typing import NotRequired, Required

    from pydantic.fields import Field, FieldInfo
    from pydantic_core import PydanticUndefined

    members: dict[str, Any] = {}
    fields: dict[str, FieldInfo] = {}
    for parameter in parameters:
        name, hint, default = parameter.name, hints[parameter.name], parameter.default
        # The outermost Field wins, so the docstring goes innermost.
        if name in texts:
            base, *extras = _parts(hint)
            hint = Annotated[(base, Field(description=texts[name]), *extras)]
        required = default is inspect.Parameter.empty
        if isinstance(default, FieldInfo):
            fields[name], required = default, default.is_required()
            bare = FieldInfo.merge_field_infos(default, default=PydanticUndefined, default_factory=None)
            hint = Annotated[hint, bare]
        members[name] = Required[hint] if required else NotRequired[hint]
    return members, fields


def _parts(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Annotated:
        return (hint.__origin__, *hint.__metadata__)
    return (hint,)


def _build(
    function: Callable[..., Any], tool: str, members: dict[str, Any]
) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    from pydantic import ConfigDict, TypeAdapter
    from typing_extensions import TypedDict

    arguments = TypedDict(f"{tool}_arguments", members)  # type: ignore[misc]
    setattr(arguments, "__pydantic_config__", ConfigDict(extra="forbid"))  # noqa: B010
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(arguments)
        return adapter, _schema_of(adapter)
    except Exception as error:
        for name, member in members.items():
            problem = _problem(member.__args__[0])
            if problem:
                _refuse(function, name, problem)
        raise ToolDefinitionError(f"Tool function {tool}() has no schema: {_first_line(error)}") from error


def _problem(hint: Any) -> str:
    """Why a type has no schema, or nothing."""
    from pydantic import TypeAdapter

    try:
        _schema_of(TypeAdapter(hint))
    except Exception as error:
        return f"its type has no JSON schema: {_first_line(error)}"
    return ""


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _schema_of(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    from pydantic.json_schema import GenerateJsonSchema

    class Quiet(GenerateJsonSchema):
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    return typing.cast("dict[str, Any]", without_titles(adapter.json_schema(schema_generator=Quiet)))


def _finish(schema: dict[str, Any], own: list[inspect.Parameter], fields: Mapping[str, FieldInfo]) -> None:
    """Write the defaults that JSON can hold, and drop the text that TypedDict brings along."""
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    schema.pop("description", None)
    schema.setdefault("properties", {})
    schema["additionalProperties"] = False
    for parameter in own:
        default = fields[parameter.name].default if parameter.name in fields else parameter.default
        described = schema["properties"].get(parameter.name)
        if described is None or default is inspect.Parameter.empty:
            continue
        try:
            described.setdefault("default", to_jsonable_python(default, inf_nan_mode="constants"))
        except (PydanticSerializationError, ValueError):
            continue


NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
LITERAL = frozenset({"const", "enum", "default", "examples", "example", "required", "discriminator"})


def without_titles(schema: Any) -> Any:
    """A copy of a JSON schema without its ``title`` keywords; members that are called "title" stay."""
    if isinstance(schema, list):
        return [without_titles(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in NAMED and isinstance(value, Mapping):
            kept[key] = {name: without_titles(member) for name, member in value.items()}
        else:
            kept[key] = value if key in LITERAL else without_titles(value)
    return kept


def explain(error: ValidationError, tool: str, known: tuple[str, ...]) -> str:
    """Every problem of a validation, one a line, in words that a model can act on."""
    lines = []
    for problem in error.errors(include_url=False, include_context=False):
        where = ".".join(str(step) for step in problem["loc"])
        if problem["type"] == "missing" and len(problem["loc"]) == 1:
            lines.append(f"{where}: this argument is required")
        elif problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
            lines.append(f"{where}: there is no such argument; {_nearest(where, known)}")
        else:
            lines.append(f"{where or 'arguments'}: {problem['msg']}{_shown(problem['input'])}")
    return f"The arguments of {tool} are not valid.\n" + "\n".join(f"- {line}" for line in lines)


def _nearest(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known arguments are {', '.join(known)}" if known else "the tool takes none"


def _shown(value: Any) -> str:
    if isinstance(value, (str, int, float, bool)) or value is None:
        text = repr(value)
        return f", not {text if len(text) <= SHOWN_INPUT else text[:SHOWN_INPUT] + '...'}"
    return ""
