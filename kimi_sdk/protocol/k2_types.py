"""Tool declarations as TypeScript types, the way K2.5 and later read them.

Knows the part of JSON Schema that has such a form and refuses the rest with ``UntypableError``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

_INDENT = "  "
_SIMPLE = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "{}",
    "array": "Array<any>",
}
_CONSTRAINTS = {
    "string": ("maxLength", "minLength", "pattern"),
    "number": ("maximum", "minimum"),
    "integer": ("maximum", "minimum"),
    "array": ("maxItems", "minItems"),
}
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
}


class UntypableError(Exception):
    """A schema that has no form as a type; the declaration is then written as JSON."""


def declare(tools: Sequence[Schema]) -> str:
    """The body of a ``tool_declare`` message.

    Raises:
        UntypableError: some tool's schema has no such form.
    """
    try:
        functions = "\n".join(_Declaration().function(tool["function"]) for tool in tools)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise UntypableError(f"malformed: {error}") from error
    return f"# Tools\n\n## functions\nnamespace functions {{\n{functions}\n}}\n"


class _Declaration:
    """Writes one function and remembers which definitions its types refer to."""

    def __init__(self) -> None:
        self._definitions: dict[str, Schema] = {}
        self._refers_to_itself = False

    def function(self, function: Schema) -> str:
        parameters = function.get("parameters") or {}
        whole = self._object(parameters, "")
        lines: list[str] = []
        argument = whole
        if self._refers_to_itself:
            argument = "parameters"
            fields = [
                self._field(name, schema, name in parameters.get("required", ()), _INDENT)
                for name, schema in sorted(parameters["properties"].items())
            ]
            body = ",\n".join(fields)
            lines.append(f"interface parameters {{\n{body}\n}}")
        for name, schema in sorted(self._definitions.items()):
            lines += _comment(schema.get("description"), "")
            lines.append(f"interface {name} {self._type(schema, '')}")
        lines += _comment(function.get("description"), "")
        lines.append(f"type {function['name']} = (_: {argument}) => any;")
        return "\n".join(lines)

    def _type(self, schema: object, indent: str) -> str:
        if isinstance(schema, bool):
            return "any" if schema else "null"
        if not isinstance(schema, Mapping):
            raise UntypableError(f"{schema!r:.80} is no schema")
        if "$ref" in schema:
            return self._reference(schema["$ref"])
        if "anyOf" in schema:
            return " | ".join(self._type(one, indent) for one in schema["anyOf"])
        if "enum" in schema:
            return _enum(schema)
        kind = schema.get("type")
        if isinstance(kind, list):
            if not all(one in _SIMPLE for one in kind):
                raise UntypableError(f"unknown type in {kind!r:.80}")
            return " | ".join(_SIMPLE[one] for one in kind)
        if kind == "object":
            return self._object(schema, indent)
        if kind == "array":
            return self._array(schema, indent)
        if isinstance(kind, str):
            return "number" if kind == "integer" else kind
        if schema:
            raise UntypableError(f"no type in {dict(schema)!r:.80}")
        return "any"

    def _reference(self, reference: object) -> str:
        if reference == "#":
            self._refers_to_itself = True
            return "parameters"
        name = str(reference).removeprefix("#/$defs/")
        if name not in self._definitions:
            raise UntypableError(f"cannot follow {reference!r:.80}")
        return name

    def _object(self, schema: Schema, indent: str) -> str:
        self._definitions.update(schema.get("$defs") or {})
        required = set(schema.get("required", ()))
        properties = schema.get("properties") or {}
        inner = indent + _INDENT
        ordered = sorted(properties, key=lambda name: (name not in required, name))
        fields = [self._field(name, properties[name], name in required, inner) for name in ordered]
        rest = schema.get("additionalProperties")
        if rest is not None:
            kind = "never" if rest is False else self._type(rest, inner)
            fields.append(f"{inner}[k: string]: {kind}")
        if not fields:
            return "{}"
        body = ",\n".join(fields)
        return f"{{\n{body}\n{indent}}}"

    def _field(self, name: str, schema: object, required: bool, indent: str) -> str:
        lines = _doc(schema, indent)
        default = schema.get("default") if isinstance(schema, Mapping) else None
        if default is not None:
            plain = isinstance(default, (int, float))
            lines.append(
                f"{indent}// Default: {default if plain else json.dumps(default, ensure_ascii=False)}"
            )
        lines.append(f"{indent}{name}{'' if required else '?'}: {self._type(schema, indent)}")
        return "\n".join(lines)

    def _array(self, schema: Schema, indent: str) -> str:
        item = schema.get("items") or {}
        inner = indent + _INDENT
        doc = _doc(item, inner)
        if not doc:
            return f"Array<{self._type(item, indent)}>"
        lines = ["Array<", *doc, f"{inner}{self._type(item, inner)}", f"{indent}>"]
        return "\n".join(lines)


def _comment(description: object, indent: str) -> list[str]:
    if not description:
        return []
    return [f"{indent}// {line}" if line else "" for line in str(description).split("\n")]


def _doc(schema: object, indent: str) -> list[str]:
    if not isinstance(schema, Mapping):
        return []
    lines = _comment(schema.get("description"), indent)
    kind = schema.get("type")
    if isinstance(kind, str) and not {"$ref", "anyOf", "enum"} & set(schema):
        limits = [f"{key}: {schema[key]}" for key in _CONSTRAINTS.get(kind, ()) if key in schema]
        if limits:
            lines.append(f"{indent}// {', '.join(limits)}")
    return lines


def _enum(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"] if len(kind) == 2 else kind
        if len(others) != 1:
            raise UntypableError(f"an enum of type {kind!r:.80}")
        kind = others[0]
    for value in schema["enum"]:
        if value is not None and not isinstance(value, _PYTHON_TYPES.get(str(kind), object)):
            raise UntypableError(f"{value!r:.80} in an enum of type {kind}")
    return " | ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in schema["enum"])
