"""Whether a lowered schema has a finite value: a node that must have a child of its own kind has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from kimi_sdk.schema import Schema


def ends(schema: Schema, ending: Set[str]) -> bool:
    """Whether some finite value satisfies ``schema``, if the definitions ``ending`` have one each."""
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema and schema["$ref"][8:] not in ending:
        return False
    if not all(ends(part, ending) for part in schema.get("allOf", ())):
        return False
    for key in ("anyOf", "oneOf"):
        if key in schema and not any(ends(part, ending) for part in schema[key]):
            return False
    kinds = schema.get("type", "any")
    return any(_ends_as(kind, schema, ending) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _ends_as(kind: str, schema: Mapping[str, Any], ending: Set[str]) -> bool:
    if kind == "object":
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
        return all(ends(properties.get(name, rest), ending) for name in schema.get("required", ()))
    if kind == "array":
        needed = list(_first_items(schema, int(schema.get("minItems", 0))))
        return all(ends(part, ending) for part in needed)
    return True


def _first_items(schema: Mapping[str, Any], count: int) -> Iterator[Schema]:
    first = schema.get("prefixItems", ())
    yield from first[:count]
    if count > len(first):
        yield schema.get("items", True)
