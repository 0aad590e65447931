"""Whatever pydantic can describe is accepted as an argument, and comes back as the annotated type."""

from __future__ import annotations

import dataclasses
import enum
import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, Json, SecretStr, conint
from typing_extensions import TypeAliasType, TypedDict

from kimi_sdk.errors import Retry
from kimi_sdk.tools import tool
from kimi_sdk.tools.signature import without_titles


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Box:
    size: int


class Row(TypedDict):
    name: str


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    day: date
    items: tuple[int, ...]


Tree = TypeAliasType("Tree", "dict[str, Tree] | int")
Pet = Annotated[Cat | Dog, Field(discriminator="kind")]

CASES: list[tuple[Any, Any, Any]] = [
    (str, "a", "a"),
    (int, 3, 3),
    (float, 2, 2.0),
    (bool, True, True),
    (None, None, None),
    (int | None, None, None),
    (int | str, "x", "x"),
    (list[int], [1], [1]),
    (set[str], ["a"], {"a"}),
    (frozenset[int], [1], frozenset({1})),
    (tuple[int, str], [1, "a"], (1, "a")),
    (tuple[int, ...], [1, 2], (1, 2)),
    (Sequence[int], [1], [1]),
    (Mapping[str, int], {"a": 1}, {"a": 1}),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (dict[Literal["a", "b"], int], {"a": 1}, {"a": 1}),
    (dict[int, str], {"1": "a"}, {1: "a"}),
    (Any, {"x": [1]}, {"x": [1]}),
    (object, [1], [1]),
    (Literal["a", 1, True], 1, 1),
    (Colour, "red", Colour.RED),
    (Level, 1, Level.LOW),
    (date, "2026-01-02", date(2026, 1, 2)),
    (datetime, "2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5)),
    (time, "03:04:05", time(3, 4, 5)),
    (timedelta, "PT1H", timedelta(hours=1)),
    (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
    (Decimal, "1.10", Decimal("1.10")),
    (Path, "a/b", Path("a/b")),
    (IPv4Address, "10.0.0.1", IPv4Address("10.0.0.1")),
    (bytes, "abc", b"abc"),
    (SecretStr, "s", SecretStr("s")),
    (Point, [1, 2], Point(1, 2)),
    (Box, {"size": 1}, Box(1)),
    (Row, {"name": "a"}, {"name": "a"}),
    (Pet, {"kind": "dog"}, Dog(kind="dog")),
    (list[Pet], [{"kind": "cat"}], [Cat(kind="cat")]),
    (Strict, {"day": "2026-01-02", "items": [1]}, Strict(day=date(2026, 1, 2), items=(1,))),
    (Tree, {"a": {"b": 1}}, {"a": {"b": 1}}),
    (Json[list[int]], "[1]", [1]),
    (Annotated[int, Field(gt=1, multiple_of=2)], 4, 4),
    (conint(ge=1), 1, 1),
    (Annotated[str, Field(min_length=1, max_length=3, pattern="^a")], "ab", "ab"),
    (Annotated[list[int], Field(min_length=1, max_length=2)], [1], [1]),
]


@pytest.mark.parametrize(("kind", "given_value", "expected"), CASES, ids=lambda value: str(value)[:40])
def test_types(kind: Any, given_value: Any, expected: Any) -> None:
    def function(value) -> None: ...  # type: ignore[no-untyped-def]

    function.__annotations__ = {"value": kind}
    made = tool(function)
    assert made.parameters["additionalProperties"] is False
    assert '"title"' not in json.dumps(made.parameters)
    _, named = made.bind({"value": given_value})
    assert named == {"value": expected}
    assert type(named["value"]) is type(expected)


@pytest.mark.parametrize(
    "name", ["json", "copy", "schema", "model_config", "class_", "_hidden", "title", "dict"]
)
def test_names_that_pydantic_models_reserve(name: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def function({name}: int) -> int: return {name}", space)  # noqa: S102
    made = tool(space["function"])
    assert list(made.parameters["properties"]) == [name]
    assert made.bind({name: 1}) == ((), {name: 1})


def test_defaults_that_json_cannot_hold_are_left_out() -> None:
    @tool
    def function(a: Path = Path("x"), b: Any = object, c: float = float("inf")) -> None: ...

    members = function.parameters["properties"]
    assert members["a"]["default"] == "x"
    assert "default" not in members["b"]
    assert function.bind({}) == ((), {})


def test_python_values_that_are_not_json_are_validated_too() -> None:
    class Opaque:
        pass

    @tool
    def function(value: Any) -> None: ...

    value = Opaque()
    assert function.bind({"value": value}) == ((), {"value": value})
    assert function.bind({"value": "\ud800"}) == ((), {"value": "\ud800"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@tool
def strict(a: int, b: list[str], c: Strict | None = None) -> None: ...


@given(st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), JSON))
@settings(max_examples=80, deadline=None)
def test_any_arguments_are_taken_or_refused_with_words(args: dict[str, Any]) -> None:
    refused, named = "", {}
    try:
        _, named = strict.bind(args)
    except Retry as error:
        refused = str(error)
    if refused:
        assert refused.startswith("The arguments of strict are not valid.\n- ")
    else:
        assert isinstance(named["a"], int)
        assert all(isinstance(item, str) for item in named["b"])


def test_titles_inside_literal_values_are_kept() -> None:
    schema = {
        "title": "T",
        "const": {"title": "x"},
        "properties": {"title": {"title": "T", "default": {"title": "y"}}},
    }
    assert without_titles(schema) == {
        "const": {"title": "x"},
        "properties": {"title": {"default": {"title": "y"}}},
    }
