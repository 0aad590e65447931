"""Whatever a model without sense writes under the mask parses, names a declared tool and validates."""

from __future__ import annotations

import json
from typing import Any

import pytest
from grammar_walk import Walker
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_sdk.errors import SchemaError
from kimi_sdk.output import JsonSchema
from kimi_sdk.protocol import Tokenizer, parse
from kimi_sdk.protocol.grammar import TurnGrammar
from kimi_sdk.schema import admit, checker, parse_json

NAMES = ["a", "b", "long name", 'k"&', "é", "<|sep|>"]
PATTERNS = [
    "^[a-z]+$",
    "abc",
    "^a|b$",
    r"\d{2}",
    r"^\w{1,3}$",
    r"[^\d]",
    r"^\S+$",
    r"^[\w.-]+@x$",
    "(?i)yes",
    "^$",
]
FORMATS = [
    "date",
    "date-time",
    "time",
    "uuid",
    "ipv4",
    "ipv6",
    "email",
    "hostname",
    "uri",
    "duration",
    "base64",
]
VALUES = ["a", "ab", "", 'é"q', 1, 2.5, True, None, [1], {"k": "v"}, "<|close|>", 100.0, -3]


@st.composite
def numbers(draw: st.DrawFn) -> dict[str, Any]:
    low = draw(st.sampled_from([-5, 0, 1.5, 100]))
    bounds: dict[str, Any] = {"type": draw(st.sampled_from(["integer", "number"]))}
    bounds[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
    if draw(st.booleans()):
        bounds["maximum"] = low + draw(st.sampled_from([7.5, 20, 1000]))
    if draw(st.integers(0, 3)) == 0:
        bounds["multipleOf"] = draw(st.sampled_from([1, 2, 5, 0.5, 0.25]))
    return bounds


@st.composite
def texts(draw: st.DrawFn) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    least = draw(st.integers(0, 4))
    if draw(st.booleans()):
        schema["minLength"] = least
    if draw(st.booleans()):
        schema["maxLength"] = least + draw(st.integers(0, 5))
    return schema


LEAVES = st.one_of(
    texts(),
    numbers(),
    st.sampled_from(
        [{"type": "boolean"}, {"type": "null"}, {"type": "integer"}, {"$ref": "#/$defs/color"}, {}]
    ),
    st.sampled_from(PATTERNS).map(lambda pattern: {"type": "string", "pattern": pattern}),
    st.sampled_from(FORMATS).map(lambda name: {"type": "string", "format": name}),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=4).map(lambda values: {"enum": values}),
    st.lists(
        st.sampled_from(["string", "integer", "null", "array"]), min_size=1, max_size=3, unique=True
    ).map(lambda names: {"type": names, "maxLength": 3, "minimum": 2}),
)


def objects(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    @st.composite
    def made(draw: st.DrawFn) -> dict[str, Any]:
        properties = draw(st.dictionaries(st.sampled_from(NAMES), parts, max_size=3))
        required = [name for name in properties if draw(st.booleans())]
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
        if draw(st.booleans()):
            schema["additionalProperties"] = draw(st.sampled_from([False, {"type": "integer"}]))
        return schema

    return made()


def containers(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        objects(parts),
        parts.map(lambda part: {"type": "array", "items": part, "maxItems": 3}),
        st.lists(parts, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
        st.lists(parts, min_size=1, max_size=2).map(lambda branches: {"allOf": branches}),
        parts.map(lambda part: {"oneOf": [part, {"type": "null"}]}),
        st.just({"$ref": "#/$defs/node"}),
    )


SCHEMAS = st.recursive(LEAVES, containers, max_leaves=4)
DEFS = {
    "color": {"enum": ["red", "green"]},
    "node": {
        "type": "object",
        "properties": {
            "v": {"type": "integer"},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        },
        "required": ["v"],
    },
}


@pytest.fixture(scope="module")
def walker(tokenizer: Tokenizer) -> Walker:
    return Walker(tokenizer)


@settings(max_examples=250)
@given(
    parameters=st.lists(objects(SCHEMAS), min_size=1, max_size=3),
    seed=st.integers(0, 2**32),
    choice=st.sampled_from(["auto", "required"]),
)
def test_calls_validate(walker: Walker, parameters: list[dict[str, Any]], seed: int, choice: str) -> None:
    tokenizer = walker.tokenizer
    tools = [
        {"type": "function", "function": {"name": f"tool {number}", "parameters": {**schema, "$defs": DEFS}}}
        for number, schema in enumerate(parameters)
    ]
    try:
        grammar = TurnGrammar.build(tokenizer, start="think", tools=tools, tool_choice=choice)
    except SchemaError:
        return
    violation = {tool["function"]["name"]: checker(admit(tool["function"]["parameters"])) for tool in tools}
    for number in range(2):
        ids = walker.turn(grammar, seed + number)
        if ids is None:
            continue
        assert ids[-1] == tokenizer.end_of_msg_id
        turn = parse(ids, start="think", tokenizer=tokenizer)
        assert not turn.diagnostics
        assert turn.calls or choice == "auto"
        for call in turn.calls:
            assert violation[call.name](parse_json(json.dumps(call.args), exact=True)) is None


@settings(max_examples=250)
@given(schema=SCHEMAS, seed=st.integers(0, 2**32))
def test_outputs_validate(walker: Walker, schema: dict[str, Any], seed: int) -> None:
    output = JsonSchema({"$defs": DEFS, "allOf": [schema]} if "$ref" in schema else {**schema, "$defs": DEFS})
    try:
        grammar = TurnGrammar.build(walker.tokenizer, start="response", output=output)
    except SchemaError:
        return
    ids = walker.turn(grammar, seed)
    if ids is None:
        return
    content = parse(ids, start="response", tokenizer=walker.tokenizer).content
    assert content is not None
    # A key of the model's own choice may come twice: the mask cannot see it, validation does.
    twice = len(json.dumps(json.loads(content), ensure_ascii=False)) < len(content)
    if not twice:
        output.validate(content)
