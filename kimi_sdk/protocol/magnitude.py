"""The size of numbers in a lowered schema: what is left unbounded ends where a double still holds it.

JSON's own grammar allows ``1e999``, which no Python float can be. Only the matcher's text is bounded, so
what a schema says about its values stays readable elsewhere.
"""

from __future__ import annotations

from typing import Any

from kimi_sdk.schema import TYPES, Schema

# The widest symmetric range that the matcher compiles; it writes numbers in a range without an exponent.
LARGEST = 2**62
ANYTHING = "any"
_REFERENCE = {"$ref": f"#/$defs/{ANYTHING}"}
DEFINITION: dict[str, Any] = {
    "minimum": -LARGEST,
    "maximum": LARGEST,
    "items": _REFERENCE,
    "additionalProperties": _REFERENCE,
}
_COMBINERS = frozenset(("allOf", "anyOf", "oneOf", "$ref"))


def bounded(schema: Schema) -> Schema:
    """The schema with its numbers bounded, at every depth.

    Where it leaves a value open it refers to ``#/$defs/any``, which is ``DEFINITION``.
    """
    if isinstance(schema, bool):
        return dict(_REFERENCE) if schema else False
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            out[key] = {name: bounded(part) for name, part in value.items()}
        elif key in ("items", "additionalProperties"):
            out[key] = bounded(value)
        elif key in ("prefixItems", "allOf", "anyOf", "oneOf"):
            out[key] = [bounded(part) for part in value]
        else:
            out[key] = value
    if out.keys() & {"enum", "const", *_COMBINERS}:
        return out
    kinds = out.get("type", list(TYPES))
    if "number" in kinds and "multipleOf" not in out:  # in the list of kinds, or the kind itself
        if not out.keys() & {"minimum", "exclusiveMinimum"}:
            out["minimum"] = -LARGEST
        if not out.keys() & {"maximum", "exclusiveMaximum"}:
            out["maximum"] = LARGEST
    if "array" in kinds:
        out.setdefault("items", _REFERENCE)
    if "object" in kinds:
        out.setdefault("additionalProperties", _REFERENCE)
    return out


def refers(schema: Any) -> bool:
    """Whether a bounded schema refers to the definition of anything."""
    if isinstance(schema, dict):
        return schema == _REFERENCE or any(refers(part) for part in schema.values())
    return isinstance(schema, list) and any(refers(part) for part in schema)
