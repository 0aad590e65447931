"""Well-formed schemas are those of the meta-schema, and values are compared exactly."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError as Malformed

from kimi_sdk.errors import SchemaError
from kimi_sdk.schema import admit, checker, parse_json, pointer, subschemas

WORDS = [
    "type",
    "enum",
    "required",
    "multipleOf",
    "minimum",
    "maxLength",
    "minItems",
    "uniqueItems",
    "properties",
    "items",
    "prefixItems",
    "allOf",
    "anyOf",
    "not",
    "additionalProperties",
    "pattern",
    "$ref",
    "$defs",
    "if",
    "unknown",
]
THINGS = st.sampled_from(
    [
        True,
        False,
        0,
        1,
        -1,
        2.5,
        2.0,
        "string",
        "foo",
        "",
        None,
        [],
        {},
        ["string"],
        ["a", "a"],
        [{}],
        [1],
        {"a": {}},
        {"a": 1},
    ]
)


@given(
    schema=st.dictionaries(st.sampled_from(WORDS), THINGS, max_size=3),
    nested=st.sampled_from(["", "not", "items"]),
)
def test_admitted_is_what_the_meta_schema_accepts(schema: dict[str, Any], nested: str) -> None:
    whole = {nested: schema} if nested else schema
    try:
        Draft202012Validator.check_schema(whole, format_checker=FormatChecker(formats=()))
    except Malformed:
        # Arrays of items are of older drafts, and an array may list no value at all.
        if not isinstance(schema.get("items"), list):
            with pytest.raises(SchemaError, match="malformed"):
                admit(whole)
    else:
        assert admit(whole) == whole


def test_every_subschema_with_its_pointer() -> None:
    schema = {
        "properties": {"a/b": {"items": {"type": "null"}}},
        "anyOf": [True, {"not": {}}],
        "enum": [{"not": "a schema"}],
    }
    assert [at for _, at in subschemas(schema)] == [
        "/properties/a~1b/items",
        "/properties/a~1b",
        "/anyOf/0",
        "/anyOf/1/not",
        "/anyOf/1",
        "",
    ]
    assert pointer("~", "/", 3) == "/~0/~1/3"


def test_the_caller_keeps_its_schema() -> None:
    schema = {"type": "string", "nullable": True, "enum": ["a"]}
    assert admit(schema) == {"type": ["string", "null"], "enum": ["a", None]}
    assert schema == {"type": "string", "nullable": True, "enum": ["a"]}


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.1", Fraction(1, 10)), ("1.0", 1), ("1e2", 100), ("1e-3", Fraction(1, 1000)), ("1e-99999999", 0)],
)
def test_exact_numbers(text: str, value: Fraction) -> None:
    assert parse_json(text, exact=True) == value


def test_violations_are_said_in_one_sentence() -> None:
    violation = checker({"properties": {"a": {"multipleOf": 0.01, "maximum": 0.3}}})
    assert violation(parse_json('{"a": 0.3}', exact=True)) is None
    assert violation(parse_json('{"a": 0.29}', exact=True)) is None
    assert violation(parse_json('{"a": 0.305}', exact=True)) == "At /a: 0.305 breaks multipleOf 0.01."
    assert checker({"type": "integer"})(parse_json("1.0", exact=True)) is None
    assert checker({"$schema": "http://json-schema.org/draft-07/schema#", "type": "null"})(1) is not None


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "string", "pattern": "^(?!no)"}, "written: look-around, including"),
        (
            {"oneOf": [{"multipleOf": 2, "type": "integer"}, {"multipleOf": 3, "type": "integer"}]},
            "supported. Leave",
        ),
    ],
)
def test_the_reason_is_one_whole_sentence(schema: dict[str, Any], reason: str) -> None:
    from kimi_sdk import JsonSchema, Model

    with pytest.raises(SchemaError, match=re.escape(reason)) as caught:
        Model.from_config("tiny").check([], JsonSchema(schema))
    assert "coerce" not in str(caught.value)
