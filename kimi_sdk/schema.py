"""JSON Schema as a value: admitted, walked and checked against; JSON text parsed strictly.

Leaves the enforcement while tokens are written to ``kimi_sdk.protocol``. jsonschema and llguidance are
imported where they are needed.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from kimi_sdk.errors import SchemaError

Schema: TypeAlias = dict[str, Any] | bool

SCHEMA_BYTES = 256 * 1024
SCHEMA_DEPTH = 64

_MAPS_OF_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMAS = (
    "items", "additionalItems", "additionalProperties", "propertyNames", "contains", "not", "if", "then",
    "else", "unevaluatedItems", "unevaluatedProperties", "contentSchema",
)  # fmt: skip

TYPES = ("string", "integer", "number", "boolean", "null", "object", "array")


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) for name in value)
        and len(set(value)) == len(value)
    )


def _are_types(value: Any) -> bool:
    named = [value] if isinstance(value, str) else value
    return _are_names(named) and bool(named) and set(named) <= set(TYPES)


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_schema, value))


_Shape: TypeAlias = tuple[Callable[[Any], bool], str]
_ANY_SHAPE: _Shape = (lambda value: True, "anything")
_SHAPES: dict[str, _Shape] = {
    "type": (_are_types, f"one or several of {', '.join(TYPES)}"),
    "enum": (lambda value: isinstance(value, list), "an array"),
    "required": (_are_names, "an array of different names"),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
    "uniqueItems": (lambda value: isinstance(value, bool), "a boolean"),
    "items": (lambda value: _is_schema(value) or _are_schemas(value), "a schema or an array of schemas"),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (_is_number, "a number")
    ),
    **dict.fromkeys(
        (
            *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
            *("minContains", "maxContains"),
        ),
        (_is_count, "a number of things"),
    ),
    **dict.fromkeys(
        ("pattern", "format", "$ref", "$schema"), (lambda value: isinstance(value, str), "a string")
    ),
    **dict.fromkeys(_LISTS_OF_SCHEMAS, (_are_schemas, "an array of schemas, not empty")),
    **dict.fromkeys(
        _MAPS_OF_SCHEMAS,
        (lambda value: isinstance(value, dict) and all(map(_is_schema, value.values())), "a map of schemas"),
    ),
    **dict.fromkeys(
        ("dependentRequired", "dependencies"), (lambda value: isinstance(value, dict), "an object")
    ),
    **{keyword: (_is_schema, "a schema") for keyword in _SCHEMAS if keyword != "items"},
}  # fmt: skip
# Inside a class: what Python warns about, because other dialects give it a meaning.
_FOREIGN = re.compile(r"\[\^?\]?[^\]]*(?:\[|--|&&|~~|\|\|)")


class InvalidOutput(ValueError):
    """A text that is not what its constraint asks for; the message is one sentence with the reason."""


def admit(schema: Mapping[str, Any] | bool, *, what: str = "The schema") -> Schema:
    """A private copy of a JSON Schema that is JSON, of bearable size, and well-formed.

    ``nullable`` (of OpenAPI) has become a type list.

    Raises:
        SchemaError: it is none of these.
    """
    if not isinstance(schema, bool | Mapping):
        raise SchemaError(f"{what} must be an object or a boolean, not {type(schema).__name__}.")
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False, default=_plain_mapping)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"{what} is not JSON: {error}.") from None
    if size > SCHEMA_BYTES:
        raise SchemaError(f"{what} is larger than {SCHEMA_BYTES // 1024} KB.")
    copy: Schema = json.loads(text)
    if _depth(copy) > SCHEMA_DEPTH:
        raise SchemaError(f"{what} is nested more than {SCHEMA_DEPTH} levels deep.")
    _refuse_malformed(copy, what)
    for part, _ in subschemas(copy):
        if isinstance(part, dict) and part.pop("nullable", False) and "type" in part:
            kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
            part["type"] = [*kinds, *(() if "null" in kinds else ("null",))]
            if "enum" in part and None not in part["enum"]:
                part["enum"].append(None)
    return copy


def _refuse_malformed(schema: Schema, what: str) -> None:
    """Checks the shape of every keyword: the meta-schema's rules, a hundred times faster than by it."""
    waiting: list[tuple[Any, str]] = [(schema, "")]
    while waiting:
        part, at = waiting.pop()
        for keyword, value in part.items() if isinstance(part, dict) else ():
            here = at + pointer(keyword)
            fits, wanted = _SHAPES.get(keyword, _ANY_SHAPE)
            if not fits(value):
                message = (
                    f"{what} is malformed at {here!r}: {keyword} must be {wanted}, not {shorten(value)}."
                )
                raise SchemaError(message, pointer=here, keyword=keyword)
            if keyword in _MAPS_OF_SCHEMAS:
                waiting += [(inner, here + pointer(name)) for name, inner in value.items()]
            elif isinstance(value, list) and keyword in (*_LISTS_OF_SCHEMAS, "items"):
                waiting += [(inner, here + pointer(number)) for number, inner in enumerate(value)]
            elif keyword in _SCHEMAS:
                waiting.append((value, here))


def checker(schema: Schema) -> Callable[[Any], str | None]:
    """A function that says in one sentence what is wrong with a JSON value, ``None`` for nothing.

    Numbers are compared exactly: give it values of ``parse_json(text, exact=True)``.
    """
    from jsonschema import Draft7Validator, Draft202012Validator
    from jsonschema.exceptions import best_match
    from jsonschema.validators import extend, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    base = validator_for(schema, default=Draft202012Validator)
    if any(isinstance(part, dict) and isinstance(part.get("items"), list) for part, _ in subschemas(schema)):
        base = Draft7Validator  # the last draft in which an array of items described a tuple
    validator = extend(base, {"pattern": _check_pattern})(  # type: ignore[no-untyped-call]
        _exact(schema), format_checker=base.FORMAT_CHECKER, registry=Registry()
    )

    def violation(value: Any) -> str | None:
        try:
            error = best_match(validator.iter_errors(value))
        except Unresolvable as missing:
            raise SchemaError(f"The reference {missing.ref!r} leads nowhere.", keyword="$ref") from None
        if error is None:
            return None
        wanted = shorten(error.validator_value)
        return f"{place(error.absolute_path)}: {shorten(error.instance)} breaks {error.validator} {wanted}."

    return violation


def parse_json(text: str, *, exact: bool = False) -> Any:
    """Parses JSON strictly: no NaN, no key twice, no number beyond a double.

    Args:
        text: the whole JSON text.
        exact: give numbers with a fraction or an exponent as ``int`` or ``Fraction`` instead of ``float``.

    Raises:
        InvalidOutput: it is not such a text.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_exact_number if exact else _finite,
        )
    except InvalidOutput:
        raise
    except json.JSONDecodeError as error:
        raise InvalidOutput(f"It is not JSON: {error.msg} at character {error.pos}.") from None
    except RecursionError:
        raise InvalidOutput("It is not JSON: it is nested too deeply.") from None
    except ValueError:
        raise InvalidOutput("It holds an integer with too many digits.") from None


def subschemas(schema: Any, at: str = "") -> Iterator[tuple[Any, str]]:
    """Every schema inside ``schema``, inner ones first, each with its JSON pointer."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            place = at + pointer(key)
            if key in _MAPS_OF_SCHEMAS and isinstance(value, dict):
                for name, part in value.items():
                    yield from subschemas(part, place + pointer(name))
            elif key in _LISTS_OF_SCHEMAS or (key == "items" and isinstance(value, list)):
                for number, part in enumerate(value):
                    yield from subschemas(part, place + pointer(number))
            elif key in _SCHEMAS:
                yield from subschemas(value, place)
    yield schema, at


def pointer(*steps: object) -> str:
    """A JSON pointer (RFC 6901) from its unescaped steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def shorten(value: Any) -> str:
    """A value as JSON, at most 80 characters of it."""
    text = json.dumps(value, ensure_ascii=False, default=_readable)
    return text if len(text) <= 80 else text[:77] + "..."


def _readable(value: Any) -> Any:
    if isinstance(value, Fraction):
        return float(value) if abs(value) <= sys.float_info.max else str(value)
    return repr(value)


def _plain_mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _depth(value: Any) -> int:
    deepest, layer = 0, [value]
    while containers := [part for part in layer if isinstance(part, dict | list)]:
        deepest += 1
        layer = [
            part for outer in containers for part in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return deepest


def place(path: Iterable[object]) -> str:
    """Where in a value, as the beginning of a sentence."""
    at = pointer(*path)
    return f"At {at}" if at else "The value"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidOutput(f"The key {shorten(twice)} appears twice in one object.")
    return value


def _refuse_constant(name: str) -> Any:
    raise InvalidOutput(f"{name} is not a JSON number.")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise InvalidOutput(f"The number {shorten(text)} is too large.")
    return value


def _exact_number(text: str) -> int | Fraction:
    value = _finite(text)
    exponent = text.lower().rpartition("e")[2] if "e" in text.lower() else "0"
    exact = Fraction(text) if len(exponent) <= 5 else Fraction(value)
    return int(exact) if exact.denominator == 1 else exact


def _exact(value: Any) -> Any:
    """The same JSON value with every float as the fraction that its shortest spelling means."""
    if isinstance(value, float):
        return Fraction(repr(value))
    if isinstance(value, dict):
        return {key: _exact(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_exact(part) for part in value]
    return value


def _check_pattern(validator: Any, wanted: str, value: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not validator.is_type(value, "string"):
        return
    try:
        found = None if _FOREIGN.search(wanted) else re.search(wanted, value) is not None
    except re.error:
        found = None
    if found is None:  # legal in ECMA 262 or in pydantic's dialect, not in Python's
        matches = byte_matcher({"grammars": [{"json_schema": {"pattern": wanted}}]}, "pattern")
        found = matches(json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f"))
    if not found:
        yield ValidationError(f"{value!r} does not match {wanted!r}")


def byte_matcher(grammar: dict[str, Any], what: str) -> Callable[[str], bool]:
    """A function that says whether a text belongs to a grammar of llguidance, byte by byte."""
    from llguidance import LLMatcher, LLTokenizer

    first = LLMatcher(LLTokenizer("byte"), json.dumps(grammar), log_level=0)
    if first.is_error():
        raise SchemaError(f"{what} is malformed: {first.get_error().splitlines()[0]}.", keyword=what)

    def matches(text: str) -> bool:
        data = list(text.encode("utf-8", "replace"))
        matcher = first.deep_copy()
        return matcher.try_consume_tokens(data) == len(data) and bool(matcher.is_accepting())

    return matches
