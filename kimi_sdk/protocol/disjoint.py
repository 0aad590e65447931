"""Proofs that no JSON value satisfies two schemas at once: then ``oneOf`` means ``anyOf``.

Three reasons count: different types, different listed values, and objects that must share a key whose
values exclude each other (a tag).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kimi_sdk.schema import TYPES, Schema

_DEEPEST = 8
Resolve = Callable[[str], Any]


def disjoint(a: Schema, b: Schema, resolve: Resolve, *, depth: int = 0) -> bool:
    """Whether ``a`` and ``b`` provably have no value in common.

    Args:
        a: a schema.
        b: another one.
        resolve: gives the schema that a reference leads to.
        depth: of tags within tags so far.
    """
    mine, theirs = _conjuncts(a, resolve), _conjuncts(b, resolve)
    if False in mine or False in theirs:
        return True
    kinds = _kinds(mine) & _kinds(theirs)
    if not kinds:
        return True
    listed, others = _listed(mine), _listed(theirs)
    if listed is not None and others is not None:
        return not any(same(x, y) for x in listed for y in others)
    if kinds != {"object"} or depth >= _DEEPEST:
        return False
    tags = _required(mine) & _required(theirs)
    return any(disjoint(_value(mine, key), _value(theirs, key), resolve, depth=depth + 1) for key in tags)


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values: true is not 1."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _conjuncts(schema: Schema, resolve: Resolve) -> list[Any]:
    """Schemas that all hold wherever ``schema`` does, references followed."""
    found: list[Any] = []
    waiting: list[Any] = [schema]
    seen: set[str] = set()
    while waiting:
        part = waiting.pop()
        found.append(part)
        if isinstance(part, dict):
            waiting += part.get("allOf", ())
            if "$ref" in part and part["$ref"] not in seen:
                seen.add(part["$ref"])
                waiting.append(resolve(part["$ref"]))
    return found


def _kinds(parts: list[Any]) -> set[str]:
    left = set(TYPES) - {"integer"}
    for part in parts:
        if isinstance(part, dict) and "type" in part:
            named = [part["type"]] if isinstance(part["type"], str) else part["type"]
            left &= {"number" if name == "integer" else name for name in named}
    return left


def _listed(parts: list[Any]) -> list[Any] | None:
    for part in parts:
        if isinstance(part, dict) and "const" in part:
            return [part["const"]]
        if isinstance(part, dict) and "enum" in part:
            return list(part["enum"])
    return None


def _required(parts: list[Any]) -> set[str]:
    return {name for part in parts if isinstance(part, dict) for name in part.get("required", ())}


def _value(parts: list[Any], key: str) -> Schema:
    """The schema of the values under ``key``."""
    return {
        "allOf": [
            part["properties"][key]
            for part in parts
            if isinstance(part, dict) and key in part.get("properties", ())
        ]
    }
