"""Output constraints: what becomes which schema, and which text becomes which value."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import subprocess
import sys
import typing
from typing import Annotated, Any, Literal

import outlines.types
import pytest
from pydantic import BaseModel, Field

from kimi_sdk.errors import SchemaError
from kimi_sdk.output import Choice, Grammar, InvalidOutput, JsonSchema, OneOf, Regex, constraint_for


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Line(BaseModel):
    text: str
    amount: Annotated[decimal.Decimal, Field(ge=0)]


class Invoice(BaseModel):
    """What is to be paid."""

    issued: datetime.date
    lines: Annotated[list[Line], Field(min_length=1)]
    title: str = "Invoice"


@dataclasses.dataclass
class Point:
    x: float
    colour: Colour = Colour.RED


class Loose(typing.TypedDict, total=False):
    a: int
    b: typing.Required[str]


@pytest.mark.parametrize("output_type", [str, None])
def test_any_text_needs_no_constraint(output_type: Any) -> None:
    assert constraint_for(output_type) is None


@pytest.mark.parametrize(
    ("output_type", "text", "value"),
    [
        (bool, "true", True),
        (int, "5", 5),
        (float, "5", 5.0),
        (list[int], "[1, 2]", [1, 2]),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (dict[Colour, int], '{"red": 1}', {Colour.RED: 1}),
        (tuple[int, str], '[1, "a"]', (1, "a")),
        (Literal["a", 1], "1", 1),
        (int | str | None, "null", None),
        (Colour, '"green"', Colour.GREEN),
        (Point, '{"x": 1.5}', Point(1.5)),
        (Loose, '{"b": "x"}', {"b": "x"}),
        (OneOf(Line, Point), '{"x": 2}', Point(2.0)),
        (
            Invoice,
            '{"issued": "2024-02-29", "lines": [{"text": "", "amount": 12.10}]}',
            Invoice(
                issued=datetime.date(2024, 2, 29), lines=[Line(text="", amount=decimal.Decimal("12.10"))]
            ),
        ),
        ({"type": "integer"}, "3", 3),
        (JsonSchema({"multipleOf": 0.1}), "0.3", 0.3),
        (JsonSchema(True), '{"a": [1.5]}', {"a": [1.5]}),
        (JsonSchema({"items": [{"type": "null"}], "additionalItems": False}), "[null]", [None]),
        (Choice(["a", "b"]), "b", "b"),
        (Choice([1, True, None, Colour.RED]), "red", Colour.RED),
        (Choice({"angry": -1}), "angry", -1),
        (Regex("a+"), "aaa", "aaa"),
        (Regex(r"\p{Lu}+"), "É", "É"),
        (Grammar('root ::= "a" root | "b"'), "aab", "aab"),
        (Grammar('s ::= "a"', root="s"), "a", "a"),
        (outlines.types.Regex("a+"), "aa", "aa"),
        (outlines.types.Choice(["a", "b"]), "a", "a"),
        (outlines.types.CFG('start: "a"'), "a", "a"),
        (outlines.types.JsonSchema({"type": "integer"}), "1", 1),
        (outlines.types.Regex("a") | outlines.types.Regex("b"), "b", "b"),
    ],
)
def test_text_becomes_a_value(output_type: Any, text: str, value: Any) -> None:
    constraint = constraint_for(output_type)
    assert constraint is not None
    assert constraint.validate(text) == value
    assert (constraint.schema is not None) == (constraint.kind == "json")


@pytest.mark.parametrize(
    ("output_type", "text", "reason"),
    [
        (Point, '{"x": 1, "x": 2}', 'The key "x" appears twice'),
        (float, "NaN", "NaN is not a JSON number"),
        (float, "1e999", "too large"),
        (int, "9" * 5000, "too many digits"),
        (Point, '{"x": 1} tail', "not JSON"),
        (Point, "[" * 100_000, "nested too deeply"),
        (Point, "{}", 'breaks required ["x"]'),
        (Invoice, '{"issued": "2023-02-29", "lines": [{"text": "", "amount": 1}]}', "At /issued: "),
        (JsonSchema({"items": {"minimum": 3}}), "[5, 1]", "At /1: 1 breaks minimum 3"),
        (JsonSchema({"multipleOf": 0.1}), "0.35", "breaks multipleOf 0.1"),
        (JsonSchema({"pattern": r"^\p{L}+$"}), '"1"', "breaks pattern"),
        (JsonSchema(False), "1", "breaks"),
        (Choice(["a"]), "b", "none of"),
        (Regex("a"), "aa", "does not match"),
        (Grammar('root ::= "a"'), "b", "not a text of the grammar"),
    ],
)
def test_wrong_text_is_refused_with_a_reason(output_type: Any, text: str, reason: str) -> None:
    constraint = constraint_for(output_type)
    assert constraint is not None
    with pytest.raises(InvalidOutput) as caught:
        constraint.validate(text)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_schemas_of_types_have_no_titles_and_are_closed() -> None:
    constraint = constraint_for(Invoice)
    assert constraint is not None
    assert constraint.closed
    assert not JsonSchema({}).closed
    assert isinstance(constraint.schema, dict)
    assert "title" not in constraint.schema
    assert constraint.schema["properties"]["title"] == {"default": "Invoice", "type": "string"}
    assert constraint.schema["$defs"]["Line"]["properties"]["amount"] == {"minimum": 0, "type": "number"}


def test_partial_values() -> None:
    constraint = constraint_for(Point)
    assert constraint is not None
    assert constraint.partial('{"x": 1.5, "colour": "re') == {"x": 1.5, "colour": "re"}
    assert constraint.partial("") is None
    assert Regex("a+").partial("a") == "a"


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JsonSchema({"type": "foo"}), "malformed at '/type'"),
        (
            lambda: JsonSchema({"properties": {"a/b": {"minimum": "x"}}}),
            "malformed at '/properties/a~1b/minimum'",
        ),
        (lambda: JsonSchema({"allOf": []}), "malformed"),
        (lambda: JsonSchema({"enum": {1, 2}}), "not JSON"),
        (lambda: JsonSchema({"const": float("nan")}), "not JSON"),
        (lambda: JsonSchema({"const": "\ud800"}), "not JSON"),
        (lambda: JsonSchema({"enum": ["x" * 300_000]}), "larger than 256 KB"),
        (lambda: JsonSchema(deep(70)), "nested more than 64"),
        (lambda: JsonSchema(3), "must be an object"),
        (lambda: JsonSchema({"$ref": "https://example.org/x"}).validate("1"), "leads nowhere"),
        (lambda: Regex("("), "malformed"),
        (lambda: Regex(""), "needs a pattern"),
        (lambda: Choice([]), "at least one"),
        (lambda: Choice("abc"), "sequence"),
        (lambda: Choice(["a", "a"]), "twice"),
        (lambda: Choice([object()]), "mapping"),
        (lambda: Grammar('root ::= "a" | missing'), "malformed"),
        (lambda: Grammar("start: <|close|>", root="start"), "special token"),
        (lambda: Grammar("start: <[5]>", root="start"), "special token"),
        (lambda: Grammar("start: @other", root="start"), "another grammar"),
        (lambda: Grammar('x: "a"'), "no rule 'root'"),
        (lambda: Grammar('start: "a', root="start"), "malformed"),
        (lambda: OneOf(int), "two types"),  # type: ignore[call-overload]
        (lambda: constraint_for(object()), "cannot be an output type"),
        (lambda: constraint_for(deep), "is a function"),
    ],
)
def test_bad_constraints(make: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        make()
    assert message in str(caught.value)


def test_importing_is_light() -> None:
    code = (
        "import sys, kimi_sdk.output\n"
        "heavy = {'torch', 'pydantic', 'jsonschema', 'llguidance', 'outlines', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
