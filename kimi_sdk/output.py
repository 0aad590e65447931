"""What the text of a reply must be, and the typed value that it stands for.

Knows types, JSON Schema and their validation; leaves the enforcement while tokens are written to
``kimi_sdk.protocol.grammar``. pydantic, jsonschema and llguidance are imported where they are needed.
"""

from __future__ import annotations

import enum
import inspect
import json
import re
import sys
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeAlias, cast, overload

import typing_extensions
from typing_extensions import TypeVar

from kimi_sdk.errors import SchemaError
from kimi_sdk.schema import InvalidOutput as InvalidOutput
from kimi_sdk.schema import Schema, admit, byte_matcher, checker, parse_json, place, shorten, subschemas

T = TypeVar("T", default=str)
T_co = TypeVar("T_co", covariant=True, default=str)
A1 = TypeVar("A1")
A2 = TypeVar("A2")
A3 = TypeVar("A3")

# What may hold any character in a Lark grammar: strings, regular expressions, comments.
_LARK_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|/(?![/*])(?:\\.|[^/\\\n])+/|//.*|#.*')

Kind: TypeAlias = Literal["json", "regex", "choice", "lark"]


class Constraint(ABC, Generic[T_co]):
    """What a reply's text must be.

    Attributes:
        kind: how it is enforced: ``"json"``, ``"regex"``, ``"choice"`` or ``"lark"``.
        schema: the JSON Schema of a ``"json"`` constraint, ``None`` for the others.
        closed: whether objects may have declared properties only, where the schema leaves that open.
    """

    kind: ClassVar[Kind]
    schema: Schema | None = None
    closed: bool = False

    @abstractmethod
    def validate(self, text: str) -> T_co:
        """The value that ``text`` stands for.

        Raises:
            InvalidOutput: the text is something else.
        """

    def partial(self, text: str) -> Any:
        """The best value that a beginning of the text gives; ``None`` while there is none."""
        return text


class Regex(Constraint[str]):
    """Text that matches a regular expression from its first to its last character."""

    kind = "regex"

    def __init__(self, pattern: str) -> None:
        if not isinstance(pattern, str) or not pattern:
            raise SchemaError(f"Regex needs a pattern, not {pattern!r}.", keyword="pattern")
        self.pattern = pattern
        self._matches = _full_matcher(pattern)

    def validate(self, text: str) -> str:
        if not self._matches(text):
            raise InvalidOutput(f"{shorten(text)} does not match the pattern {self.pattern!r}.")
        return text

    def __repr__(self) -> str:
        return f"Regex({self.pattern!r})"


class Choice(Constraint[T]):
    """One text of several, each standing for a value.

    Args:
        options: the values (a text is written as it is, an enum member as its value, anything else as
            JSON), or a mapping from the text that is written to the value that it stands for.
    """

    kind = "choice"

    def __init__(self, options: Sequence[T] | Mapping[str, T]) -> None:
        if isinstance(options, Mapping):
            pairs = list(options.items())
        elif isinstance(options, str):
            raise SchemaError(f"Choice needs a sequence of options, not the single text {options!r}.")
        else:
            pairs = [(_spelling(option), option) for option in options]
        self.options: dict[str, T] = dict(pairs)
        if not self.options:
            raise SchemaError("Choice needs at least one option.")
        for text in self.options:
            if not isinstance(text, str):
                raise SchemaError(f"Choice's texts must be str, not {text!r}.")
        if len(self.options) != len(pairs):
            raise SchemaError(f"Choice has an option twice: {[text for text, _ in pairs]!r}.")

    def validate(self, text: str) -> T:
        try:
            return self.options[text]
        except KeyError:
            raise InvalidOutput(f"{shorten(text)} is none of {shorten(list(self.options))}.") from None

    def __repr__(self) -> str:
        return f"Choice({self.options!r})"


class JsonSchema(Constraint[Any]):
    """A JSON value that a JSON Schema describes; the value is what ``json.loads`` gives."""

    kind = "json"

    def __init__(self, schema: Mapping[str, Any] | bool) -> None:
        self.schema = admit(schema)
        self._violation = checker(self.schema)

    def validate(self, text: str) -> Any:
        value = parse_json(text)
        reason = self._violation(parse_json(text, exact=True))
        if reason is not None:
            raise InvalidOutput(reason)
        return value

    def partial(self, text: str) -> Any:
        return _partial_json(text)

    def __repr__(self) -> str:
        return f"JsonSchema({self.schema!r})"


class Grammar(Constraint[str]):
    """Text of a context-free grammar.

    Args:
        ebnf: GBNF (``root ::= "a" | "b"``), or Lark (``root: "a" | "b"``) if no rule has ``::=``.
        root: the rule that the whole text must be.
    """

    kind = "lark"

    def __init__(self, ebnf: str, *, root: str = "root") -> None:
        self.ebnf = ebnf
        self.root = root
        self.lark = _lark(ebnf, root)
        self._matches = byte_matcher({"grammars": [{"lark_grammar": self.lark}]}, "Grammar")

    def validate(self, text: str) -> str:
        if not self._matches(text):
            raise InvalidOutput(f"{shorten(text)} is not a text of the grammar.")
        return text

    def __repr__(self) -> str:
        return f"Grammar({self.ebnf!r}, root={self.root!r})"


class PythonType(Constraint[T]):
    """A JSON value that pydantic turns into a Python type. Use ``constraint_for`` to make one."""

    kind = "json"
    closed = True

    def __init__(self, output_type: type[T]) -> None:
        self.output_type = output_type
        self._adapter, schema = _adapt(output_type)
        self.schema = admit(schema)
        self._violation = checker(self.schema)

    def validate(self, text: str) -> T:
        from pydantic import ValidationError

        reason = self._violation(parse_json(text, exact=True))
        if reason is not None:
            raise InvalidOutput(reason)
        try:
            return cast(T, self._adapter.validate_json(text))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            raise InvalidOutput(f"{place(first['loc'])}: {first['msg']}.") from None

    def partial(self, text: str) -> Any:
        return _partial_json(text)

    def __repr__(self) -> str:
        return f"PythonType({self.output_type!r})"


class OneOf(Constraint[T]):
    """A value of one of several types."""

    kind = "json"
    closed = True
    types: tuple[Any, ...]
    _union: PythonType[Any]

    @overload
    def __new__(cls, a: type[A1], b: type[A2], /) -> OneOf[A1 | A2]: ...
    @overload
    def __new__(cls, a: type[A1], b: type[A2], c: type[A3], /) -> OneOf[A1 | A2 | A3]: ...
    def __new__(cls, *types: Any) -> OneOf[Any]:
        if len(types) < 2:
            raise SchemaError("OneOf needs at least two types.")
        made = cast("OneOf[Any]", super().__new__(cls))
        made.types = types
        made._union = PythonType(cast(Any, typing.Union[types]))  # noqa: UP007 - members known at run time only
        made.schema = made._union.schema
        return made

    def validate(self, text: str) -> T:
        return cast(T, self._union.validate(text))

    def partial(self, text: str) -> Any:
        return self._union.partial(text)

    def __repr__(self) -> str:
        return f"OneOf({', '.join(map(repr, self.types))})"


def constraint_for(output_type: Any) -> Constraint[Any] | None:
    """The constraint that an ``output_type`` stands for; ``None`` where any text will do.

    Args:
        output_type: ``str`` or ``None`` (any text), a ``Constraint``, a JSON Schema as a mapping, an
            output type of outlines (``JsonSchema``, ``Regex``, ``Choice``, ``CFG`` or a pattern term), or
            whatever pydantic can validate: models, dataclasses, TypedDict, enums, ``Literal``, ``bool``,
            ``int``, ``float``, containers and unions of them.

    Raises:
        SchemaError: the type has no JSON Schema, or its schema is malformed or too large.
    """
    if output_type is None or output_type is str:
        return None
    if isinstance(output_type, Constraint):
        return output_type
    if isinstance(output_type, Mapping):
        return JsonSchema(output_type)
    if type(output_type).__module__.startswith("outlines."):
        return _from_outlines(output_type)
    if inspect.isroutine(output_type):
        raise SchemaError(f"{output_type!r} is a function; an output type must be a type or a constraint.")
    return PythonType(output_type)


def _full_matcher(pattern: str) -> Callable[[str], object]:
    try:
        return re.compile(pattern).fullmatch
    except re.error as error:
        from llguidance import regex_to_lark

        lark = f"start: /{regex_to_lark(pattern, '')}/"
        try:  # Rust's dialect knows more classes than Python's
            return byte_matcher({"grammars": [{"lark_grammar": lark}]}, "pattern")
        except SchemaError:
            raise SchemaError(f"Regex {pattern!r} is malformed: {error}.", keyword="pattern") from None


def _spelling(option: Any) -> str:
    if isinstance(option, enum.Enum):
        option = option.value
    if isinstance(option, str):
        return option
    try:
        return json.dumps(option, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        raise SchemaError(
            f"Choice cannot spell {option!r}; give a mapping from each text to its value."
        ) from None


def _partial_json(text: str) -> Any:
    from pydantic_core import from_json

    try:
        return from_json(text, allow_inf_nan=False, allow_partial="trailing-strings")
    except ValueError:
        return None


def _adapt(output_type: Any) -> tuple[Any, Any]:
    """pydantic's adapter of a type, and the type's JSON Schema without titles."""
    from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        """Without warnings; a Decimal is a number only, since a text could not keep its bounds."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic's name

        def decimal_schema(self, schema: Any) -> dict[str, Any]:
            made = super().decimal_schema(schema)
            return dict(made["anyOf"][0]) if "anyOf" in made else made

    try:
        adapter = TypeAdapter(_portable(output_type))
        schema = adapter.json_schema(schema_generator=Untitled)
    except (
        PydanticSchemaGenerationError,
        PydanticUndefinedAnnotation,
        PydanticInvalidForJsonSchema,
        PydanticUserError,
        TypeError,
        NameError,
    ) as error:
        reason = str(error).splitlines()[0]
        raise SchemaError(f"{output_type!r} cannot be an output type: {reason}") from error
    for part, _ in subschemas(schema):
        if isinstance(part, dict):
            part.pop("title", None)
    return adapter, schema


def _portable(output_type: Any) -> Any:
    """The same type; before Python 3.12 pydantic reads only the TypedDict of typing_extensions."""
    if sys.version_info >= (3, 12) or not typing.is_typeddict(output_type):
        return output_type
    if typing_extensions.is_typeddict(output_type) and type(output_type).__module__ != "typing":
        return output_type
    fields = {}
    for name, hint in typing.get_type_hints(output_type, include_extras=True).items():
        if typing.get_origin(hint) in (typing.Required, typing.NotRequired):
            hint = typing.get_args(hint)[0]
        needed = name in output_type.__required_keys__
        fields[name] = hint if needed else typing_extensions.NotRequired[hint]
    made = typing_extensions.TypedDict(output_type.__name__, fields)  # type: ignore[misc]
    made.__doc__ = output_type.__doc__
    return made


def _lark(ebnf: str, root: str) -> str:
    """The grammar as Lark with a rule ``start``, free of references out of it."""
    from llguidance.gbnf_to_lark import any_to_lark

    if re.search(r"^\s*[\w-]+\s*::=", ebnf, re.MULTILINE):
        gbnf = ebnf if root == "root" else f"root ::= {root}\n{ebnf}"
        try:
            ebnf, root = str(any_to_lark(gbnf)).removeprefix("%llguidance {}"), "start"
        except Exception as error:  # the converter raises nothing narrower
            raise SchemaError(f"The GBNF grammar is malformed: {error}.") from None
    bare = _LARK_TEXT.sub(" ", ebnf)
    for found, name in (
        (r"<[^>\n]*>", "a special token"),
        (r"@\w+", "another grammar"),
        (r"%llguidance", "options"),
    ):
        if where := re.search(found, bare):
            raise SchemaError(f"A grammar may not name {name}: {where[0]!r}.", keyword=where[0])
    if not re.search(rf"^\s*{re.escape(root)}\s*:", bare, re.MULTILINE):
        raise SchemaError(f"The grammar has no rule {root!r} to begin with.")
    return ebnf if root == "start" else f"start: {root}\n{ebnf}"


def _from_outlines(output_type: Any) -> Constraint[Any]:
    """Our constraint for an output type of outlines, told apart by its class name."""
    name = type(output_type).__name__
    if name == "JsonSchema":
        return JsonSchema(json.loads(output_type.schema))
    if name == "Regex":
        return Regex(output_type.pattern)
    if name == "Choice":
        return Choice(output_type.items)
    if name == "CFG":
        return Grammar(output_type.definition, root="start")
    from outlines.types.dsl import to_regex

    try:
        return Regex(to_regex(output_type))
    except TypeError as error:
        raise SchemaError(f"{output_type!r} of outlines cannot be an output type: {error}.") from None
