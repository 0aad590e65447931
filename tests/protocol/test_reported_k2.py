"""Faults that users reported of other servers' K2 parsers and templates, each as a case of our own.

| id | what went wrong there |
|---|---|
| vllm#28543 | pieces of headers shown as content |
| vllm#31207, vllm#38579 | long arguments cut, ids with newlines refused, content before the section lost |
| vllm#32216, llama.cpp#17376 | calls within an unclosed thought; singular section markers |
| dynamo#8208, vllm#38274 | calls without their end marker were lost |
| xgrammar#622 | calls without a section shown as content |
| sglang#21377, sglang#25358 | damaged ids |
| sglang#10600, vllm#50768 | ids counted in each message instead of the conversation |
| dotted-names | `mcp.find` read as `find` |
| kimi-cli#1378 | raw newlines in JSON strings |
| vllm#49316 | values coerced in one mode only |
| vllm#54701 | empty sections made empty deltas |
| sglang#25676 | calls without arguments |
| sglang#19120 | arguments over several lines |
| opencode#20650 | a header begun twice |
| vllm#36207, dynamo#10533 | orphan think closers; think tags in arguments |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from kimi_sdk.protocol import ParsedTurn, Tokenizer
from kimi_sdk.protocol.k2 import K2Start, K2TurnParser, parse_k2, render_k2
from kimi_sdk.protocol.turn import ArgumentPiece, CallOpened

OPEN, CLOSE, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|im_end|>"
BEGIN, ARGUMENTS, DONE = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"


def call(wire_id: str, arguments: str = "{}") -> str:
    return f"{BEGIN}{wire_id}{ARGUMENTS}{arguments}{DONE}"


@dataclass(frozen=True)
class Case:
    id: str
    text: str
    reasoning: str | None = None
    content: str | None = None
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    start: K2Start = "content"
    tools: tuple[str, ...] | None = None


F = "functions.f:0"
G = "functions.g:1"
LONG = '{"s":"' + "0123456789" * 2_000 + '"}'
CASES = [
    Case("vllm#28543", f"ok{OPEN}{call(F)}{CLOSE}{END}", None, "ok", [(F, "f", "{}")]),
    Case("vllm#31207 long", OPEN + call(F, LONG) + CLOSE + END, calls=[(F, "f", LONG)]),
    Case("vllm#31207 id", OPEN + call(f"\n {F} \n", ' {"x": 2} ') + CLOSE, calls=[(F, "f", '{"x": 2}')]),
    Case(
        "vllm#38579",
        f"so{OPEN}\n{call(F)}\n{call(G)}\n{CLOSE} and more{END}",
        None,
        "so",
        [(F, "f", "{}"), (G, "g", "{}")],
    ),
    Case("vllm#32216", f"a plan{OPEN}{call(F)}{CLOSE}{END}", "a plan", None, [(F, "f", "{}")], "think"),
    Case("vllm#32216 bare", f"a plan{call(F)}{END}", "a plan", None, [(F, "f", "{}")], "think"),
    Case(
        "llama.cpp#17376",
        f"ok <|tool_call_section_begin|>{call(F)}<|tool_call_section_end|>{END}",
        None,
        "ok ",
        [(F, "f", "{}")],
    ),
    Case("dynamo#8208", f"{OPEN}{call(F, '[]')}{END}", calls=[(F, "f", "[]")]),
    Case("vllm#38274", f'{OPEN}{BEGIN}{F}{ARGUMENTS}{{"x":2}}{CLOSE}{END}', calls=[(F, "f", '{"x":2}')]),
    Case("vllm#38274 message", f'{OPEN}{BEGIN}{F}{ARGUMENTS}{{"x":2}}{END}', calls=[(F, "f", '{"x":2}')]),
    Case("vllm#38274 cut", f'{OPEN}{BEGIN}{F}{ARGUMENTS}{{"x":'),
    Case("vllm#38274 cut marker", f"{OPEN}{BEGIN}{F}{ARGUMENTS}{{}}<|tool_call", calls=[(F, "f", "{}")]),
    Case("xgrammar#622", f"{call(F)}{END}", calls=[(F, "f", "{}")]),
    Case(
        "sglang#21377",
        OPEN + call("functionsshell12", '{"cmd":"pwd"}') + CLOSE,
        calls=[("functionsshell12", "shell", '{"cmd":"pwd"}')],
        tools=("shell", "edit"),
    ),
    Case("sglang#25358", OPEN + call("call00007") + CLOSE + END, tools=("shell",)),
    Case(
        "dotted-names",
        OPEN + call("functions.web.find:3") + CLOSE,
        calls=[("functions.web.find:3", "web.find", "{}")],
        tools=("web.find", "find"),
    ),
    Case(
        "kimi-cli#1378",
        OPEN + call(F, '{"t":"a\nb\tc"}') + CLOSE,
        calls=[(F, "f", '{"t":"a\\nb\\tc"}')],
    ),
    Case("vllm#49316", OPEN + call(F, '{"n":"12","m":1e1}'), calls=[(F, "f", '{"n":"12","m":1e1}')]),
    Case("vllm#54701", f"ok{OPEN}{CLOSE}{END}", None, "ok"),
    Case("sglang#25676", OPEN + call(F, "") + CLOSE + END, calls=[(F, "f", "{}")]),
    Case("sglang#19120", OPEN + call(F, '{\n  "x": 2\n}') + CLOSE, calls=[(F, "f", '{\n  "x": 2\n}')]),
    Case("opencode#20650", f"{OPEN}{BEGIN}{F}{call(G)}{CLOSE}{END}", calls=[(G, "g", "{}")]),
    Case("vllm#36207", f"</think>hi{END}", None, "hi"),
    Case("vllm#36207 thought", f"hm </think> hi{END}", "hm ", " hi", start="think"),
    Case(
        "dynamo#10533",
        "</think>" + OPEN + call(F, '{"q":"a <think> b </thi"}') + CLOSE + END,
        calls=[(F, "f", '{"q":"a <think> b </thi"}')],
        start="think",
    ),
]
ELSEWHERE = {"sglang#10600", "vllm#50768"}


def read(turn: ParsedTurn) -> tuple[object, ...]:
    return turn.reasoning, turn.content, [(one.wire_id, one.name, one.arguments) for one in turn.calls]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.parametrize("size", [1, 3, 7, 1 << 20])
def test_as_text_in_chunks(case: Case, size: int) -> None:
    parser = K2TurnParser(start=case.start, tools=case.tools)
    for at in range(0, len(case.text), size):
        parser.push_text(case.text[at : at + size])
    parser.finish()
    assert read(parser.turn()) == (case.reasoning, case.content, case.calls)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_as_tokens(case: Case, k2_tokenizer: Tokenizer) -> None:
    if case.id == "vllm#38274 cut marker":
        pytest.skip("half a marker has no ids")
    ids = k2_tokenizer.encode(case.text, special=True)
    turn = parse_k2(ids, start=case.start, tools=case.tools, tokenizer=k2_tokenizer)
    assert read(turn) == (case.reasoning, case.content, case.calls)


def test_every_report_of_the_table_has_a_case() -> None:
    assert __doc__ is not None
    named = {
        name for line in __doc__.splitlines()[4:] for name in line.split("|")[1].replace(" ", "").split(",")
    }
    assert named == {case.id.split()[0] for case in CASES} | ELSEWHERE


def test_an_empty_section_has_no_events() -> None:
    """vllm#54701."""
    assert K2TurnParser(start="content").push_text(OPEN + CLOSE + END) == []


def test_arguments_are_the_same_streamed_and_whole() -> None:
    """vllm#49316."""
    parser = K2TurnParser(start="content")
    pieces = [event for char in call(F, '{"n":"12"}') for event in parser.push_text(char)]
    assert isinstance(pieces[0], CallOpened)
    streamed = "".join(event.json for event in pieces if isinstance(event, ArgumentPiece))
    assert streamed == parser.turn().calls[0].arguments == '{"n":"12"}'


def assistant(*ids: str) -> dict[str, Any]:
    calls = [{"id": one, "function": {"name": "f", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call_id, "content": call_id}


def test_ids_count_over_the_conversation() -> None:
    """sglang#10600: ids that clients made up are written as the model knows them."""
    messages = [assistant("x", "y"), result("y"), result("x"), assistant("z"), result("z")]
    text = render_k2(messages, variant="k2").text
    assert [text.count(f"{BEGIN}functions.f:{n}{ARGUMENTS}") for n in range(4)] == [1, 1, 1, 0]
    for own, given in (("functions.f:1", "y"), ("functions.f:0", "x"), ("functions.f:2", "z")):
        assert f"## Return of {own}\n{given}" in text


def test_ids_come_back_as_they_went() -> None:
    """vllm#50768: the id that the parser gives is the one that the renderer writes."""
    (made,) = parse_k2(call("functions.f:5"), start="content").calls
    text = render_k2([assistant(made.wire_id), result(made.wire_id)], variant="k2").text
    assert f"{BEGIN}functions.f:5{ARGUMENTS}" in text
    assert "## Return of functions.f:5\n" in text


def test_a_spelled_section_marker_in_a_string_is_text(k2_tokenizer: Tokenizer) -> None:
    """llama.cpp#17376's other side: singular markers have no id, so only their place tells what they are."""
    arguments = '{"q":"<|tool_call_section_end|>"}'
    ids = k2_tokenizer.encode(OPEN + call(F, arguments) + CLOSE + END, special=True)
    assert read(parse_k2(ids, start="content", tokenizer=k2_tokenizer))[2] == [(F, "f", arguments)]


def test_blanks_before_a_repeated_opener() -> None:
    turn = parse_k2(f"\n<think>hm</think>ok{END}", start="think")
    assert read(turn) == ("\nhm", "ok", [])


@pytest.mark.parametrize(("tail", "content"), [("<", "a <"), ("</thi", "a "), ("<|im_", "a ")])
def test_half_a_marker_at_the_end_is_dropped(tail: str, content: str) -> None:
    assert parse_k2("a " + tail, start="content").content == content
