"""The grammar of a turn: channels, tool choice, outputs, the bound on thoughts, and what is refused."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch
from grammar_walk import Walker

from kimi_sdk.errors import ConfigError, EngineError, SchemaError, ToolDefinitionError
from kimi_sdk.output import Choice, Constraint, Grammar, JsonSchema, OneOf, Regex, constraint_for
from kimi_sdk.protocol import Tokenizer, parse
from kimi_sdk.protocol.grammar import TurnGrammar

THINK = "<|close|>think<|sep|><|open|>response<|sep|>"
ANSWERED = "<|close|>response<|sep|>"
END = "<|close|>message<|sep|><|end_of_msg|>"


def declare(name: str, parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def call(name: str, arguments: str = "", index: int = 1) -> str:
    return f'<|open|>call tool="{name}" index="{index}"<|sep|>{arguments}<|close|>call<|sep|>'


def argument(key: str, kind: str, value: str) -> str:
    return f'<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'


def calls(*inside: str) -> str:
    return f"<|open|>tools<|sep|>{''.join(inside)}<|close|>tools<|sep|>"


ADD = declare(
    "add",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["a", "b"],
    },
)
NOW = declare("now", {"type": "object", "properties": {}})
GOOD_CALL = call("add", argument("a", "number", "1") + argument("b", "number", "-2"))


@pytest.fixture(scope="module")
def walker(tokenizer: Tokenizer) -> Walker:
    return Walker(tokenizer)


def accepts(walker: Walker, text: str, **settings: Any) -> bool:
    mask = TurnGrammar.build(walker.tokenizer, **{"start": "response", **settings}).matcher()
    return walker.write(mask, text) and mask.finished


def test_a_turn_without_tools(walker: Walker) -> None:
    assert accepts(walker, "why" + THINK + "so" + ANSWERED + END, start="think")
    assert accepts(walker, THINK + ANSWERED + END, start="think")
    assert accepts(walker, "hé 漢 <|x|>" + ANSWERED + END)
    assert not accepts(walker, "why" + ANSWERED + END, start="think")
    assert not accepts(walker, ANSWERED + calls(call("now")) + END)
    assert not accepts(walker, "a<|open|>b" + ANSWERED + END)
    assert not accepts(walker, "a[EOS]" + ANSWERED + END)
    assert not accepts(walker, "a<|end_of_msg|>")


@pytest.mark.parametrize("choice", ["auto", "required", "add"])
def test_calls_of_a_declared_tool(walker: Walker, choice: str) -> None:
    settings = {"tools": [ADD, NOW], "tool_choice": choice}
    assert accepts(walker, ANSWERED + calls(GOOD_CALL, GOOD_CALL.replace("1", "7")) + END, **settings)
    assert accepts(walker, "let me see" + ANSWERED + calls(GOOD_CALL) + END, **settings) is (choice != "add")
    assert accepts(walker, ANSWERED + calls(call("now")) + END, **settings) is (choice != "add")
    assert accepts(walker, "no call" + ANSWERED + END, **settings) is (choice == "auto")
    assert not accepts(walker, ANSWERED + calls() + END, **settings)
    assert not accepts(walker, ANSWERED + calls(call("sub")) + END, **settings)


def test_no_calls_where_none_are_wanted(walker: Walker) -> None:
    assert not accepts(walker, ANSWERED + calls(GOOD_CALL) + END, tools=[ADD], tool_choice="none")
    assert accepts(walker, "so" + ANSWERED + END, tools=[ADD], tool_choice="none")


def test_one_call_only_without_parallel(walker: Walker) -> None:
    assert accepts(walker, ANSWERED + calls(GOOD_CALL) + END, tools=[ADD], parallel=False)
    assert not accepts(walker, ANSWERED + calls(GOOD_CALL, GOOD_CALL) + END, tools=[ADD], parallel=False)


@pytest.mark.parametrize(
    ("arguments", "legal"),
    [
        (argument("b", "number", "2") + argument("a", "number", "1"), True),
        (argument("b", "number", "2") + argument("note", "string", "") + argument("a", "number", "1"), True),
        (argument("a", "number", "1"), False),
        (argument("a", "number", "1") * 2 + argument("b", "number", "2"), False),
        (argument("a", "string", "1") + argument("b", "number", "2"), False),
        (argument("a", "number", "1.5") + argument("b", "number", "2"), False),
        (argument("a", "number", "1") + argument("c", "number", "2"), False),
    ],
)
def test_required_arguments_once_in_any_order(walker: Walker, arguments: str, legal: bool) -> None:
    assert accepts(walker, ANSWERED + calls(call("add", arguments)) + END, tools=[ADD]) is legal


@pytest.mark.parametrize(
    ("index", "legal"), [("1", True), ("12345", True), ("0", False), ("01", False), ("", False)]
)
def test_index_is_any_positive_number(walker: Walker, index: str, legal: bool) -> None:
    written = f'<|open|>call tool="now" index="{index}"<|sep|><|close|>call<|sep|>'
    assert accepts(walker, ANSWERED + calls(written) + END, tools=[NOW]) is legal


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string"}, [("string", ' {"<\n')], [("number", "1"), ("null", "null")]),
        ({"type": "string", "maxLength": 2}, [("string", "漢é"), ("string", "")], [("string", "abc")]),
        ({"type": "string", "pattern": "b"}, [("string", "abc")], [("string", "ac")]),
        ({"type": "string", "pattern": "^b$", "minLength": 1}, [("string", "b")], [("string", "bb")]),
        ({"enum": ["a", 1, None]}, [("string", "a"), ("number", "1"), ("null", "null")], [("string", "1")]),
        ({"const": True}, [("boolean", "true")], [("boolean", "false"), ("string", "true")]),
        (
            {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]},
            [("string", "x"), ("null", "null")],
            [("null", "x"), ("string", "null")],
        ),
        ({"type": ["integer", "string"]}, [("number", "5"), ("string", "5")], [("number", "5.5")]),
        ({"type": "integer", "nullable": True}, [("number", "5"), ("null", "null")], [("string", "5")]),
        ({"type": "number", "minimum": 1, "maximum": 5}, [("number", "3.14")], [("number", "5.7")]),
        (
            {"type": "number"},
            [("number", "1e-07"), ("number", "-0.5")],
            [("number", "NaN"), ("number", "1e999")],
        ),
        (
            {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
            [("object", '{"x": 1}')],
            [("object", '{"x":1}'), ("object", "{}"), ("object", '{"x": 1, "y": 2}')],
        ),
        ({"type": "array", "items": {"type": "integer"}}, [("array", "[1, 2]")], [("array", "[1,2]")]),
        ({}, [("string", "x"), ("object", "{}"), ("array", "[null]")], [("object", "[]")]),
        ({"type": "string", "format": "date"}, [("string", "2024-02-29")], [("string", "2021-02-29")]),
    ],
)
def test_typed_values(
    walker: Walker, schema: Any, good: list[tuple[str, str]], bad: list[tuple[str, str]]
) -> None:
    tool = declare("t", {"type": "object", "properties": {"v": schema}, "required": ["v"]})
    for kind, value in good:
        written = ANSWERED + calls(call("t", argument("v", kind, value))) + END
        assert accepts(walker, written, tools=[tool]), (kind, value)
    for kind, value in bad:
        written = ANSWERED + calls(call("t", argument("v", kind, value))) + END
        assert not accepts(walker, written, tools=[tool]), (kind, value)


def test_markers_in_names_and_values_are_text(walker: Walker) -> None:
    tokenizer = walker.tokenizer
    name, key = 'a"&<|close|>', "<|sep|>&"
    tool = declare(
        name, {"type": "object", "properties": {key: {"const": "<|end_of_msg|>"}}, "required": [key]}
    )
    grammar = TurnGrammar.build(tokenizer, start="response", tools=[tool], tool_choice=name, parallel=False)
    for seed in range(5):
        ids = walker.turn(grammar, seed)
        assert ids is not None
        assert ids.count(tokenizer.end_of_msg_id) == 1
        turn = parse(ids, start="response", tokenizer=tokenizer)
        assert (turn.calls[0].name, turn.calls[0].args) == (name, {key: "<|end_of_msg|>"})


def test_argument_counts(walker: Walker) -> None:
    names = ["r", "x", "y"]
    tool = declare(
        "t",
        {
            "type": "object",
            "properties": {name: {"type": "null"} for name in names},
            "required": ["r"],
            "minProperties": 2,
            "maxProperties": 2,
        },
    )
    r, x, y = (argument(name, "null", "null") for name in names)
    for arguments, legal in [(r + x, True), (y + r, True), (r, False), (x + y, False), (r + x + y, False)]:
        assert accepts(walker, ANSWERED + calls(call("t", arguments)) + END, tools=[tool]) is legal


def test_many_arguments_keep_their_order(walker: Walker) -> None:
    names = [f"n{number}" for number in range(70)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "null"} for name in names},
        "required": names[3:5],
    }
    arguments = [argument(name, "null", "null") for name in ("n3", "n4", "n60")]
    assert accepts(
        walker, ANSWERED + calls(call("t", "".join(arguments))) + END, tools=[declare("t", schema)]
    )
    assert not accepts(walker, ANSWERED + calls(call("t", arguments[0])) + END, tools=[declare("t", schema)])


def test_keys_of_the_models_choice(walker: Walker) -> None:
    tool = declare("t", {"type": "object", "additionalProperties": {"type": "integer"}})
    good = argument("any &quot;key&quot;", "number", "1") + argument("b", "number", "2")
    assert accepts(walker, ANSWERED + calls(call("t", good)) + END, tools=[tool])
    assert accepts(walker, ANSWERED + calls(call("t")) + END, tools=[tool])
    assert not accepts(walker, ANSWERED + calls(call("t", argument("a", "string", "1"))) + END, tools=[tool])


def test_alternative_sets_of_arguments(walker: Walker) -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
    }
    for arguments, legal in [
        (argument("id", "number", "1"), True),
        (argument("name", "string", "x"), True),
        ("", False),
    ]:
        assert (
            accepts(walker, ANSWERED + calls(call("t", arguments)) + END, tools=[declare("t", schema)])
            is legal
        )


@pytest.mark.parametrize(
    ("output", "good", "bad"),
    [
        (JsonSchema({"type": "integer", "minimum": 5}), "7", "4"),
        (constraint_for(bool), "true", "yes"),
        (constraint_for(list[int]), "[1, 2]", "[1, 2"),
        (constraint_for({"type": "string"}), '"x"', "x"),
        (Regex(r"^\d{3}-\d+$"), "123-4", "12-4"),
        (Regex("a|bc"), "bc", "abc"),
        (Choice(["yes", "no"]), "no", "maybe"),
        (Choice({"1": 1, "": 0}), "", "0"),
        (Grammar('root ::= "(" root ")" | "x"'), "((x))", "((x)"),
        (Grammar("start: /[a-z]+/ | /[0-9]+/", root="start"), "abc", "a1"),
    ],
)
def test_constrained_output(walker: Walker, output: Constraint[Any], good: str, bad: str) -> None:
    output.validate(good)
    for tools in ([], [NOW]):
        assert accepts(walker, good + ANSWERED + END, output=output, tools=tools)
        assert not accepts(walker, bad + ANSWERED + END, output=output, tools=tools)
        assert accepts(walker, ANSWERED + calls(call("now")) + END, output=output, tools=tools) is bool(tools)
    assert accepts(walker, "hm" + THINK + good + ANSWERED + END, output=output, start="think")
    assert accepts(walker, good + "<|end_of_msg|>", output=output, start="text")
    assert not accepts(walker, good + ANSWERED + END, output=output, tools=[NOW], tool_choice="required")


@pytest.mark.parametrize("bound", [0, 1, 2, 3, 4, 9])
def test_thoughts_end_at_their_bound(walker: Walker, bound: int) -> None:
    tokenizer = walker.tokenizer
    grammar = TurnGrammar.build(tokenizer, start="think", thinking_tokens=bound)
    first_bytes = set(range(0xC2, 0xF5))
    for seed in range(20):
        mask, ids = grammar.matcher(), []
        while len(ids) < bound:
            allowed = [token for token in walker.allowed(mask) if token != tokenizer.close_id]
            heads = [token for token in allowed if tokenizer.token_bytes(token)[0] in first_bytes]
            token = (heads or allowed)[(seed * 31 + len(ids)) % len(heads or allowed)]
            mask.accept(token)
            ids.append(token)
        assert walker.allowed(mask) == [tokenizer.close_id]
        assert tokenizer.decode(mask.forced()) == THINK
        b"".join(map(tokenizer.token_bytes, ids)).decode()  # whole characters
        with pytest.raises(EngineError, match="last token of thought"):
            mask.accept(ids[0] if ids else tokenizer.sep_id)
        for token in mask.forced():
            mask.accept(token)
        assert walker.write(mask, "so" + ANSWERED + END)


def test_thoughts_may_end_before_their_bound(walker: Walker) -> None:
    assert accepts(walker, "a" + THINK + "long answer" + ANSWERED + END, start="think", thinking_tokens=3)


def test_nothing_after_the_end(walker: Walker) -> None:
    mask = TurnGrammar.build(walker.tokenizer, start="response").matcher()
    assert walker.write(mask, ANSWERED + END)
    assert mask.finished
    assert mask.forced() == []
    with pytest.raises(EngineError, match="after the turn had ended"):
        mask.accept(5)
    with pytest.raises(EngineError, match="after its turn ended"):
        walker.allowed(mask)


def test_refused_token_is_an_error(walker: Walker) -> None:
    mask = TurnGrammar.build(walker.tokenizer, start="response").matcher()
    with pytest.raises(EngineError, match="matcher failed"):
        mask.accept(walker.tokenizer.sep_id)
    again = TurnGrammar.build(walker.tokenizer, start="response").matcher()
    assert walker.write(again, ANSWERED + END)


def test_row_longer_than_the_vocabulary(walker: Walker) -> None:
    words = (walker.tokenizer.vocab_size + 31) // 32
    row = torch.full((words + 5,), -1, dtype=torch.int32)
    mask = TurnGrammar.build(walker.tokenizer, start="response").matcher()
    mask.fill(row)
    assert row[:words].any()
    assert not row[words:].any()
    with pytest.raises(EngineError, match="too short"):
        mask.fill(torch.zeros(words - 1, dtype=torch.int32))


def test_equal_grammars_are_compiled_once(tokenizer: Tokenizer) -> None:
    first = TurnGrammar.build(tokenizer, start="think", tools=[ADD], output=OneOf(int, bool))
    again = TurnGrammar.build(
        tokenizer, start="think", tools=[ADD], output=OneOf(int, bool), thinking_tokens=4
    )
    other = TurnGrammar.build(tokenizer, start="think", tools=[NOW], output=OneOf(int, bool))
    assert first._compiled is again._compiled
    assert first._compiled is not other._compiled
    assert "add" in first.text


def test_matchers_do_not_disturb_each_other(walker: Walker) -> None:
    grammar = TurnGrammar.build(walker.tokenizer, start="response", tools=[ADD])
    one, other = grammar.matcher(), grammar.matcher()
    assert walker.write(one, ANSWERED)
    gc.collect()
    assert walker.write(other, "text" + ANSWERED + END)
    assert walker.write(one, calls(GOOD_CALL) + END)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"tools": [NOW, NOW]}, ToolDefinitionError, "twice"),
        ({"tools": [{"type": "function", "function": {}}]}, ToolDefinitionError, "needs a name"),
        ({"tool_choice": "required"}, ConfigError, "needs tools"),
        ({"tools": [NOW], "tool_choice": "other"}, ConfigError, "no declared tool"),
        ({"tools": [NOW], "tool_choice": "required", "start": "text"}, ConfigError, "bare text"),
        ({"thinking_tokens": -1}, ConfigError, "negative"),
        ({"output": JsonSchema(False)}, SchemaError, "No value"),
        ({"output": Grammar("root ::= root")}, SchemaError, "no text"),
        ({"output": Regex(r"[^\s\S]")}, SchemaError, "no text"),
        ({"output": Regex("(?=a)b")}, SchemaError, "look-around"),
        ({"tools": [declare("t", {"type": "string"})]}, SchemaError, "must describe an object"),
    ],
)
def test_what_cannot_be_a_turn(
    tokenizer: Tokenizer, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        TurnGrammar.build(tokenizer, **{"start": "response", **settings})
