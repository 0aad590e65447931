"""One argument's schema as alternatives by wire type: raw text for strings, JSON for everything else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from kimi_sdk.errors import SchemaError
from kimi_sdk.protocol.lower import Lowering, unenforceable
from kimi_sdk.protocol.probe import error_of
from kimi_sdk.protocol.rules import INTEGER, NUMBER, TEXT, Rules, literal, regex
from kimi_sdk.schema import Schema, checker, parse_json

WireType: TypeAlias = Literal["string", "number", "boolean", "null", "object", "array"]
# Schemas that must all hold, none with a combiner or a reference at its top.
Conjunction: TypeAlias = tuple[dict[str, Any], ...]

WIRE_TYPES: tuple[WireType, ...] = ("string", "number", "boolean", "null", "object", "array")
MOST_ALTERNATIVES = 256
_LONGEST_CHAIN = 64
# An integer is a number, and so is a fraction: told apart, types can be intersected as sets.
_ATOMS: dict[str, frozenset[str]] = {
    **{kind: frozenset((kind,)) for kind in ("string", "integer", "boolean", "null", "object", "array")},
    "number": frozenset(("integer", "fraction")),
}
_ALL = frozenset().union(*_ATOMS.values())
_NUMERIC = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "oneOf"))
_RELEVANT: dict[str, frozenset[str]] = {
    "number": _NUMERIC,
    "integer": _NUMERIC,
    "boolean": frozenset(("oneOf",)),
    "null": frozenset(("oneOf",)),
    "array": frozenset(("items", "prefixItems", "minItems", "maxItems", "oneOf")),
    "object": frozenset(
        (
            *("properties", "patternProperties", "additionalProperties", "required", "minProperties"),
            *("maxProperties", "oneOf"),
        )
    ),
}


def expand(lowering: Lowering, schema: Schema, at: str, *, depth: int = 0) -> list[Conjunction]:
    """The schema as alternatives of conjunctions: combiners and references at its top are resolved.

    Raises:
        SchemaError: there are too many alternatives, or a ``oneOf`` whose branches may overlap.
    """
    if depth > _LONGEST_CHAIN:
        raise unenforceable("$ref", at, "its references and combiners go too deep")
    if isinstance(schema, bool):
        return [({},)] if schema else []
    flat = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}
    result: list[Conjunction] = [(flat,)] if flat else [()]
    if "$ref" in schema:
        result = _both(result, expand(lowering, lowering.defs[schema["$ref"][8:]], at, depth=depth + 1), at)
    for part in schema.get("allOf", ()):
        result = _both(result, expand(lowering, part, at, depth=depth + 1), at)
    if "anyOf" in schema:
        branches = [expand(lowering, part, at, depth=depth + 1) for part in schema["anyOf"]]
        result = _both(result, [option for branch in branches for option in branch], at)
    if "oneOf" in schema:
        result = _both(result, _one_of(lowering, schema["oneOf"], at, depth), at)
    return [option or ({},) for option in result]


def kinds(conjunction: Conjunction) -> frozenset[str]:
    """The types that a conjunction leaves."""
    left = _ALL
    for part in conjunction:
        if "type" in part:
            names = [part["type"]] if isinstance(part["type"], str) else part["type"]
            left &= frozenset().union(*(_ATOMS[name] for name in names))
    return left


def wire_type(value: Any) -> WireType:
    """The wire type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "number"


def values(rules: Rules, lowering: Lowering, schema: Schema, at: str) -> dict[WireType, str]:
    """What may be written as a value of ``schema``: a Lark expression for every wire type it allows.

    Raises:
        SchemaError: no value satisfies it, or something in it cannot be enforced.
    """
    texts: list[str] = []
    others: dict[WireType, list[Schema]] = {}
    listed: dict[WireType, list[Any]] = {}
    for option in expand(lowering, schema, at):
        choices = _listed(option)
        if choices is not None:
            for value in _fitting(lowering, choices, option):
                listed.setdefault(wire_type(value), []).append(value)
            continue
        left = kinds(option)
        if "string" in left:
            texts.append(_text(rules, option, at))
        for kind in WIRE_TYPES[1:]:
            if atoms := _ATOMS[kind] & left:
                others.setdefault(kind, []).append(
                    _typed(option, "integer" if atoms == {"integer"} else kind)
                )
    texts += [literal(value) for value in listed.pop("string", ())]
    for kind, choices in listed.items():
        others.setdefault(kind, []).append({"enum": choices})
    found: dict[WireType, str] = {}
    if texts:
        found["string"] = rules.terminal(TEXT if TEXT in texts else " | ".join(dict.fromkeys(texts)))
    for kind, schemas in others.items():
        found[kind] = _json(rules, lowering, schemas)
    if not found:
        raise SchemaError(f"No value satisfies the schema at {at or '/'!r}.", pointer=at)
    return found


def _both(left: list[Conjunction], right: list[Conjunction], at: str) -> list[Conjunction]:
    if len(left) * len(right) > MOST_ALTERNATIVES:
        raise unenforceable("anyOf", at, f"it has more than {MOST_ALTERNATIVES} alternatives")
    return [(*a, *(part for part in b if part)) for a in left for b in right]


def _one_of(lowering: Lowering, parts: Sequence[Schema], at: str, depth: int) -> list[Conjunction]:
    """Branches that are not known to exclude each other: JSON ones are left to the matcher's own proof."""
    branches = [expand(lowering, part, at, depth=depth + 1) for part in parts]
    left = frozenset().union(*(kinds(option) for branch in branches for option in branch))
    if "string" in left:
        raise unenforceable("oneOf", f"{at}/oneOf", "its branches may overlap")
    names = sorted((left - {"fraction"}) | ({"number"} if "fraction" in left else set()))
    return [({"type": names, "oneOf": list(parts)},)]


def _listed(option: Conjunction) -> list[Any] | None:
    for part in option:
        if "const" in part:
            return [part["const"]]
        if "enum" in part:
            return list(part["enum"])
    return None


def _fitting(lowering: Lowering, listed: Iterable[Any], option: Conjunction) -> list[Any]:
    """The listed values that satisfy the whole conjunction."""
    if len(option) == 1 and option[0].keys() <= {"enum", "const", "type"} and len(option[0]) < 3:
        left = kinds(option)
        return [value for value in listed if _atom(value) in left]
    violation = checker({"allOf": list(option), "$defs": lowering.defs})
    return [value for value in listed if violation(parse_json(json.dumps(value), exact=True)) is None]


def _atom(value: Any) -> str:
    kind = wire_type(value)
    if kind == "number":
        return "integer" if float(value).is_integer() else "fraction"
    return kind


def _text(rules: Rules, option: Conjunction, at: str) -> str:
    """A raw string's Lark terminal: its patterns and its length, all at once."""
    patterns = dict.fromkeys(part["pattern"] for part in option if "pattern" in part)
    least = max((part.get("minLength", 0) for part in option), default=0)
    most = min((part["maxLength"] for part in option if "maxLength" in part), default=None)
    parts = [regex(pattern, f"{at}/pattern", search=True) for pattern in patterns]
    rules.delicate |= len(parts) > 1
    if least or most is not None:
        parts.append(f"/(?s:.{{{least},{'' if most is None else most}}})/")
    if not parts:
        return TEXT
    if len(parts) > 1 or (most is not None and most < least):
        joined = " & ".join(parts)
        if error_of(f"start: T\nT: {joined}"):
            raise SchemaError(f"No text satisfies the schema at {at or '/'!r}.", pointer=at)
        return joined
    return parts[0]


def _typed(option: Conjunction, name: str) -> Schema:
    """The conjunction as one JSON Schema for one type, without what is about other types."""
    own = [{key: value for key, value in part.items() if key in _RELEVANT[name]} for part in option]
    own = [part for part in own if part]
    if len(own) == 1:
        return {"type": name, **own[0]}
    return {"type": name, "allOf": own} if own else {"type": name}


def _json(rules: Rules, lowering: Lowering, schemas: list[Schema]) -> str:
    plain = {schema["type"] for schema in schemas if isinstance(schema, dict) and schema.keys() == {"type"}}
    if "null" in plain:
        return literal("null")
    if "boolean" in plain:
        return rules.terminal('"true" | "false"')
    if "number" in plain:
        return rules.terminal(NUMBER)
    if "integer" in plain and len(schemas) == 1:
        return rules.terminal(INTEGER)
    return f"%json {lowering.text(schemas[0] if len(schemas) == 1 else {'anyOf': schemas})}"
