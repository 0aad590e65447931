"""Whatever a tool's schema is, K2.5 gets a declaration of it: as types, or as JSON where it has none."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_sdk.protocol.k2 import render_k2

END = "<|im_end|>"
KEYS = [
    "type",
    "properties",
    "items",
    "required",
    "enum",
    "anyOf",
    "$ref",
    "$defs",
    "x",
    "minimum",
    "default",
]
KEYS += ["additionalProperties", "description", "maxLength", "object", "array", "string"]
NAMES = st.sampled_from(["object", "array", "string", "#", "#/$defs/x"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYS), st.one_of(inner, NAMES), max_size=4),
    ),
    max_leaves=12,
)


def declared(function: dict[str, object]) -> str:
    tool = {"type": "function", "function": {"name": "f", **function}}
    return (
        render_k2([{"role": "user", "content": "x"}], tools=[tool])
        .text.split("<|im_middle|>")[1]
        .split(END)[0]
    )


@settings(max_examples=200)
@given(JSON, JSON)
def test_any_schema_has_a_declaration(parameters: object, description: object) -> None:
    body = declared({"parameters": parameters, "description": description})
    head = "# Tools\n\n## functions\nnamespace functions {\n"
    assert body.startswith((head, '[{"function":{"description":'))


def test_constraints_defaults_and_unions() -> None:
    properties = {
        "b": {"type": "boolean", "default": False},
        "n": {"type": "number", "maximum": 9.5, "minimum": -1, "default": 1.5},
        "s": {"type": "string", "pattern": "^a", "minLength": 1, "description": "one\n\ntwo"},
        "l": {
            "type": "array",
            "items": {"type": "object", "properties": {"k": {"type": "null"}}},
            "maxItems": 2,
        },
        "u": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"enum": ["a", 1]}}]},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}},
        "e": {"type": "object"},
        "t": {"type": ["null"], "enum": [None]},
    }
    body = declared({"parameters": {"type": "object", "properties": properties, "required": ["u", "n"]}})
    assert (
        body
        == """# Tools

## functions
namespace functions {
type f = (_: {
  // maximum: 9.5, minimum: -1
  // Default: 1.5
  n: number,
  u: number | Array<"a" | 1>,
  // Default: False
  b?: boolean,
  e?: {},
  // maxItems: 2
  l?: Array<{
    k?: null
  }>,
  m?: {
    [k: string]: number
  },
  // one

  // two
  // minLength: 1, pattern: ^a
  s?: string,
  t?: None
}) => any;
}
"""
    )


def test_a_tool_without_parameters() -> None:
    assert declared({}).endswith("namespace functions {\ntype f = (_: {}) => any;\n}\n")
