"""Every keyword is enforced, brought into an equivalent or narrower form, or refused with its pointer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llguidance import LLMatcher

from kimi_sdk.errors import SchemaError
from kimi_sdk.protocol import Tokenizer
from kimi_sdk.protocol.grammar import TurnGrammar
from kimi_sdk.protocol.lower import Lowering
from kimi_sdk.schema import admit, byte_matcher

SELF = {"$defs": {"n": {"$ref": "#/$defs/n"}}, "$ref": "#/$defs/n"}
ENDLESS = {
    "$defs": {"n": {"type": "object", "properties": {"c": {"$ref": "#/$defs/n"}}, "required": ["c"]}},
    "$ref": "#/$defs/n",
}
OVERLAP = {"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}]}
REFUSED: list[tuple[Any, str, str]] = [
    ({"not": {"type": "string"}}, "/not", "not"),
    (OVERLAP, "/oneOf", "oneOf"),
    ({"oneOf": [{"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}]}, "/oneOf", "oneOf"),
    ({"type": "string", "pattern": "(?!a)b"}, "/pattern", "pattern"),
    ({"type": "string", "pattern": r"\bb"}, "/pattern", "pattern"),
    ({"type": "string", "format": "iso-country"}, "/format", "format"),
    ({"type": "array", "uniqueItems": True}, "/uniqueItems", "uniqueItems"),
    ({"type": "array", "contains": True}, "/contains", "contains"),
    ({"if": {"type": "string"}, "then": {"minLength": 3}}, "/if", "if"),
    ({"dependentRequired": {"a": ["b"]}}, "/dependentRequired", "dependentRequired"),
    ({"type": "object", "propertyNames": {"minLength": 3}}, "/propertyNames", "propertyNames"),
    ({"$ref": "https://example.org/schema"}, "/$ref", "$ref"),
    ({"$ref": "#/$defs/missing"}, "/$ref", "$ref"),
    ({"type": "integer", "minimum": 2**53 + 1}, "/minimum", "minimum"),
    ({"type": "array", "items": {"properties": {"x/y": {"not": {}}}}}, "/items/properties/x~1y/not", "not"),
    ({"type": "array", "items": OVERLAP}, "/items/oneOf", "oneOf"),
    (
        {"type": "object", "minProperties": 2, "properties": {"a": {}, "b": {}, "c": {}}},
        "/minProperties",
        "minProperties",
    ),
    ({"type": "integer", "minimum": 5, "maximum": 3}, "", ""),
    ({"type": "string", "minLength": 3, "maxLength": 2}, "", ""),
    ({"type": "string", "pattern": "^abc$", "maxLength": 2}, "", ""),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "", ""),
    ({"type": "string", "enum": ["abc"], "maxLength": 2}, "", ""),
    ({"enum": []}, "", ""),
    ({"type": "number", "minimum": 1.6, "maximum": 1.7, "multipleOf": 0.5}, "", "multipleOf"),
    ({"type": "nothing"}, "/type", "type"),
    ({"type": "string", "minLength": -1}, "/minLength", "minLength"),
]


@pytest.mark.parametrize(("schema", "at", "keyword"), REFUSED)
def test_refused_by_name(tokenizer: Tokenizer, schema: Any, at: str, keyword: str) -> None:
    parameters = {"type": "object", "properties": {"v": schema}, "required": ["v"]}
    tool = {"type": "function", "function": {"name": "the tool", "parameters": parameters}}
    with pytest.raises(SchemaError, match="'the tool'") as caught:
        TurnGrammar.build(tokenizer, start="response", tools=[tool])
    assert (caught.value.pointer, caught.value.keyword) == (f"/properties/v{at}", keyword)


@pytest.mark.parametrize("schema", [SELF, ENDLESS])
def test_schema_without_a_finite_value(tokenizer: Tokenizer, schema: Any) -> None:
    with pytest.raises(SchemaError, match="without an end") as caught:
        Lowering(admit(schema), closed=False)
    assert (caught.value.pointer, caught.value.keyword) == ("/$defs/n", "$ref")


@pytest.mark.parametrize(
    ("schema", "lowered"),
    [
        ({"title": "T", "description": "d", "default": 1, "x-own": 2}, {}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "array", "uniqueItems": True, "maxItems": 1}, {"type": "array", "maxItems": 1}),
        ({"type": "integer", "maximum": 2**63, "format": "int64"}, {"type": "integer", "maximum": 2**53 - 1}),
        ({"type": "integer", "minimum": 2.0}, {"type": "integer", "minimum": 2}),
        ({"type": "number", "multipleOf": 5}, {"type": ["integer"], "multipleOf": 5}),
        ({"type": "string", "format": "path"}, {"type": "string"}),
        (
            {"items": [{"type": "null"}], "additionalItems": False},
            {"prefixItems": [{"type": "null"}], "items": False},
        ),
        (
            {"propertyNames": {"enum": ["a"]}, "additionalProperties": {"type": "null"}},
            {"properties": {"a": {"type": "null"}}, "additionalProperties": False},
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "null"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        (
            {"properties": {}, "unevaluatedProperties": False},
            {"properties": {}, "additionalProperties": False},
        ),
    ],
)
def test_lowered(schema: Any, lowered: Any) -> None:
    assert Lowering(admit(schema), closed=False).schema == lowered


def test_tags_prove_one_of() -> None:
    def tagged(tag: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"const": tag}}, "required": ["kind"]}

    schema = {
        "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "$defs": {"a": tagged("a"), "b": tagged("b")},
    }
    assert "anyOf" in Lowering(admit(schema), closed=False).schema  # type: ignore[operator]
    schema["$defs"] = {"a": tagged("a"), "b": tagged("a")}
    assert "oneOf" in Lowering(admit(schema), closed=False).schema  # type: ignore[operator]


def test_closing_objects() -> None:
    inner = {"properties": {"a": {}}}
    closed = {"properties": {"a": {}}, "additionalProperties": False}

    def lower(schema: Any) -> Any:
        return Lowering(admit(schema), closed=True).schema

    assert lower(inner) == closed
    assert lower({"type": "object"}) == {"type": "object"}
    assert lower({"anyOf": [inner, {"type": "null"}]}) == {"anyOf": [closed, {"type": "null"}]}
    assert lower({"allOf": [inner, {"properties": {"b": {}}}]}) == {
        "allOf": [inner, {"properties": {"b": {}}}]
    }
    assert lower({"properties": {"b": inner}, "anyOf": [inner, {}]}) == {
        "properties": {"b": closed},
        "anyOf": [inner, {}],
    }


def test_only_reachable_definitions_are_written() -> None:
    schema = {
        "$defs": {"used": {"type": "null"}, "unused": {"type": "string"}},
        "items": {"$ref": "#/$defs/used"},
    }
    lowering = Lowering(admit(schema), closed=False)
    assert '"string"' not in lowering.text(lowering.schema)
    assert '"d0": {"type": "null"}' in lowering.text(lowering.schema)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "number"}, ["-0.25", str(2**62)], ["1e999", "9" * 400]),
        ({}, ['[1, {"a": 0.5}]', "true"], ["[1e999]", '{"a": {"b": -1e400}}']),
        ({"type": "array"}, ["[]", '[{"a": 1}]'], ["[1e400]"]),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, ['{"a": 1}'], ['{"a": 1e400}']),
        ({"type": "number", "minimum": 0}, ["12.5"], ["-1", "9" * 400]),
        ({"type": "integer"}, [str(10**30)], ["1.5"]),
    ],
)
def test_numbers_end_where_a_double_holds_them(schema: Any, good: list[str], bad: list[str]) -> None:
    lowering = Lowering(admit(schema), closed=False)
    grammar = json.loads(LLMatcher.grammar_from_json_schema(lowering.text(lowering.schema)))
    matches = byte_matcher(grammar, "schema")
    assert [matches(text) for text in good] == [True] * len(good)
    assert [matches(text) for text in bad] == [False] * len(bad)
