"""A function becomes a tool: names, texts, schemas, refusals."""

from __future__ import annotations

import copy
import functools
import json
import pickle
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from kimi_sdk.errors import Retry, ToolDefinitionError
from kimi_sdk.messages import ToolCall
from kimi_sdk.tools import RunContext, Tool, tool, toolset

if TYPE_CHECKING:
    from decimal import Decimal


@tool
def stock(ctx: RunContext[dict[str, int]], sku: str, shelf: Literal["a", "b"] = "a") -> int:
    """Count the units of one article.

    They are counted on the shelf,
    not in the cellar.

    Args:
        sku: Article number,
            such as "K-104".
        shelf: One of:
            - a
            - b

    Returns:
        How many.
    """
    return ctx.deps[sku]


@tool(name="order-now", timeout=2.5, retries=3, approval=True, sequential=True, max_result_tokens=None)
async def order(sku: str) -> str:
    """Order it."""
    return sku


def plain(count: int) -> int:
    """Add one."""
    return count + 1


async def from_mapping(args: Mapping[str, Any]) -> str:
    return ", ".join(args)


def test_the_context_is_left_out_of_the_schema() -> None:
    assert stock.takes_context
    assert not stock.is_async
    assert stock.declaration == {
        "type": "function",
        "function": {
            "name": "stock",
            "description": "Count the units of one article.\n\n"
            "They are counted on the shelf,\nnot in the cellar.",
            "parameters": {
                "type": "object",
                "properties": {
                    "sku": {"type": "string", "description": 'Article number,\nsuch as "K-104".'},
                    "shelf": {
                        "type": "string",
                        "enum": ["a", "b"],
                        "default": "a",
                        "description": "One of:\n- a\n- b",
                    },
                },
                "required": ["sku"],
                "additionalProperties": False,
            },
        },
    }


def test_options_reach_the_tool() -> None:
    assert (order.name, order.description, order.is_async, order.takes_context) == (
        "order-now",
        "Order it.",
        True,
        False,
    )
    assert (order.options.timeout, order.options.retries, order.options.sequential) == (2.5, 3, True)
    assert order.options.max_result_tokens is None
    call = ToolCall("c", "order-now", {"sku": "x"}, 1)
    assert order.needs_approval(call)
    assert not stock.needs_approval(call)
    asked = tool(approval=lambda call: call.args["count"] > 3)(plain)
    assert asked.needs_approval(ToolCall("c", "plain", {"count": 4}, 1))
    assert not asked.needs_approval(ToolCall("c", "plain", {"count": 3}, 1))


def test_calling_a_tool_calls_the_function() -> None:
    assert tool(plain)(2) == 3
    assert tool(plain).__name__ == "plain"
    assert repr(stock) == "<Tool stock(sku, shelf)>"


def test_description_can_be_given() -> None:
    assert tool(description="Else.")(plain).description == "Else."


STYLES = {
    "numpy": """Do it.

    Parameters
    ----------
    a : int
        First
        line.
    b
        Second.

    Returns
    -------
    int
    """,
    "sphinx": """Do it.

    :param int a: First
        line.
    :param b: Second.
    :returns: nothing
    """,
    "google": """Do it.

    Args:
        a (int) : First
            line.
        b: Second.
        other: Not ours.

    Raises:
        ValueError: never.
    """,
    "none": "Do it.",
}


@pytest.mark.parametrize("style", STYLES)
def test_docstring_styles(style: str, recwarn: pytest.WarningsRecorder) -> None:
    def function(a: int, b: int) -> None: ...

    function.__doc__ = STYLES[style]
    made = tool(function)
    assert made.description == "Do it."
    texts = {name: member.get("description") for name, member in made.parameters["properties"].items()}
    expected = {"a": "First\nline.", "b": "Second."} if style != "none" else {"a": None, "b": None}
    assert texts == expected
    assert not recwarn.list


def test_a_field_wins_over_the_docstring() -> None:
    @tool
    def function(
        a: Annotated[int, Field(description="field", ge=3)], b: int = Field(7, description="own")
    ) -> int:
        """Do.

        Args:
            a: docstring
            b: docstring
        """
        return a + b

    members = function.parameters["properties"]
    assert members["a"] == {"type": "integer", "minimum": 3, "description": "field"}
    assert members["b"] == {"type": "integer", "default": 7, "description": "own"}
    assert function.parameters["required"] == ["a"]
    positional, named = function.bind({"a": 4})
    assert function(*positional, **named) == 11


class Leaf(BaseModel):
    title: str = Field(title="Heading")
    children: list[Leaf] = []


def test_titles_go_and_members_called_title_stay() -> None:
    @tool
    def plant(title: str, leaf: Leaf) -> None: ...

    text = json.dumps(plant.parameters)
    assert "Heading" not in text
    assert plant.parameters["properties"]["title"] == {"type": "string"}
    assert plant.parameters["$defs"]["Leaf"]["properties"]["title"] == {"type": "string"}
    assert plant.parameters["$defs"]["Leaf"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Leaf"}
    _, named = plant.bind({"title": "t", "leaf": {"title": "a", "children": [{"title": "b"}]}})
    assert named["leaf"].children[0].title == "b"


@pytest.mark.parametrize("name", ["a", "_a", "A-b_9", "x" * 64])
def test_good_names(name: str) -> None:
    assert tool(name=name)(plain).name == name


@pytest.mark.parametrize("name", ["", "9a", "-a", "my tool", "工具", "a.b", "x" * 65, "a\n", "<lambda>"])
def test_bad_names(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match=r"plain\(\).*letter"):
        tool(name=name)(plain)


def no_annotation(a) -> None: ...  # type: ignore[no-untyped-def]
def star(*rest: int) -> None: ...
def stars(**rest: int) -> None: ...
def late_context(a: int, ctx: RunContext[None]) -> None: ...
def only_checked(a: Decimal) -> None: ...
def unknown(a: NoSuchThing) -> None: ...  # type: ignore[name-defined] # noqa: F821


class Opaque:
    def method(self, a: int) -> int:
        """Give it back."""
        return a


def opaque(good: int, bad: Opaque) -> None: ...


REFUSED = {
    no_annotation: r"no_annotation\(\), argument 'a'.*annotation",
    star: r"star\(\), argument '\*rest'",
    stars: r"stars\(\), argument '\*\*rest'",
    late_context: r"late_context\(\), argument 'ctx'.*first",
    only_checked: r"only_checked\(\), argument 'a'.*TYPE_CHECKING",
    unknown: r"unknown\(\), argument 'a'.*NoSuchThing",
    opaque: r"opaque\(\), argument 'bad'.*schema",
    Opaque.method: r"Opaque.method\(\), argument 'self'.*bound method",
    functools.partial(plain, 1): "partial",
    (lambda: None): "lambda",
    Opaque: "function or a bound method",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: getattr(f, "__qualname__", "partial"))
def test_refused_functions_are_named(function: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=REFUSED[function]):
        tool(function)


def test_generators_and_doubled_decorators_are_refused() -> None:
    def numbers() -> Iterator[int]:
        yield 1

    async def later() -> AsyncIterator[int]:
        yield 1

    for function in (numbers, later):
        with pytest.raises(ToolDefinitionError, match="yields"):
            tool(function)
    with pytest.raises(ToolDefinitionError, match="already"):
        tool(stock)


@pytest.mark.parametrize("options", [{"timeout": 0}, {"retries": -1}, {"max_result_tokens": 0}])
def test_impossible_options(options: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=next(iter(options))):
        tool(**options)(plain)


def test_local_types_under_postponed_annotations() -> None:
    class Local(BaseModel):
        x: int

    @tool
    def use(item: Local) -> int:
        return item.x

    _, named = use.bind({"item": {"x": 3}})
    assert use(**named) == 3


def test_bound_methods() -> None:
    made = tool(Opaque().method)
    assert made.name == "method"
    assert made.bind({"a": 1}) == ((), {"a": 1})


def test_positional_only_arguments_are_passed_by_place() -> None:
    @tool
    def function(a: int, b: int = 2, /, c: int = 3) -> tuple[int, int, int]:
        return a, b, c

    assert function.bind({"a": 1}) == ((1,), {})
    assert function.bind({"a": 1, "b": 5, "c": 6}) == ((1, 5), {"c": 6})


def test_problems_are_listed_for_the_model() -> None:
    @tool
    def function(size: int, leaf: Leaf, when: Annotated[str, Field(pattern="^[0-9]+$")] = "1") -> None: ...

    with pytest.raises(Retry) as caught:
        function.bind({"siez": 3, "leaf": {"title": "a", "children": [{"title": 1}]}, "when": "x"})
    lines = str(caught.value).splitlines()
    assert lines[0] == "The arguments of function are not valid."
    assert "- size: this argument is required" in lines
    assert "- siez: there is no such argument; did you mean 'size'?" in lines
    assert any(line.startswith("- leaf.children.0.title: ") and line.endswith("not 1") for line in lines)
    assert any(line.startswith("- when: ") and line.endswith("not 'x'") for line in lines)


def test_from_schema_checks_arguments_against_the_schema() -> None:
    made = Tool.from_schema(
        from_mapping,
        name="remote",
        description="Far away.",
        parameters={"properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
    )
    assert made.parameters["type"] == "object"
    assert made.bind({"n": 2}) == (({"n": 2},), {})
    with pytest.raises(Retry, match=r"n: 0 is less than the minimum"):
        made.bind({"n": 0})
    with pytest.raises(Retry, match="arguments: 'n' is a required"):
        made.bind({})
    with pytest.raises(ToolDefinitionError, match="schema of an object"):
        Tool.from_schema(from_mapping, name="x", description="", parameters={"type": "string"})
    with pytest.raises(ToolDefinitionError, match="letter"):
        Tool.from_schema(from_mapping, name="x y", description="", parameters={})


def test_toolset_names_both_places_of_a_double_name() -> None:
    assert list(toolset([stock, plain, order])) == ["stock", "plain", "order-now"]
    with pytest.raises(ToolDefinitionError, match=r"Two tools.*plain\(\).*test_tool_definition.*plain\(\)"):
        toolset([plain, tool(plain)])


def test_tools_pickle_by_reference_or_by_parts() -> None:
    assert pickle.loads(pickle.dumps(stock)) is stock  # noqa: S301
    assert copy.deepcopy(order) is order
    renamed = pickle.loads(pickle.dumps(tool(name="other", timeout=1.0)(plain)))  # noqa: S301
    assert (renamed.name, renamed.options.timeout, renamed(1)) == ("other", 1.0, 2)
    made = Tool.from_schema(
        from_mapping, name="remote", description="d", parameters={"properties": {"n": {}}}
    )
    assert pickle.loads(pickle.dumps(made)).declaration == made.declaration  # noqa: S301


@pytest.mark.parametrize("name", ["timeout", "retries", "max_result_tokens"])
@pytest.mark.parametrize("value", ["5", True, ()])
def test_options_of_a_wrong_type(name: str, value: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=name):
        tool(**{name: value})


def test_nothing_is_no_tool() -> None:
    with pytest.raises(ToolDefinitionError, match="not from None"):
        toolset([None])  # type: ignore[list-item]
