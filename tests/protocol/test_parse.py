from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kimi_sdk.errors import ConfigError
from kimi_sdk.protocol import ParsedTurn, Tokenizer, TurnEvent, TurnParser, parse, render, start_of
from kimi_sdk.protocol.segments import Start
from kimi_sdk.protocol.turn import (
    ArgumentPiece,
    CallClosed,
    CallDropped,
    CallOpened,
    ContentPiece,
    ReasoningPiece,
    ThinkSkipped,
    TurnFold,
)

O, C, S, E = "<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"  # noqa: E741
END = f"{C}message{S}{E}"
THINK_RESPONSE = f"{C}think{S}{O}response{S}"


def call(name: str, *elements: str, index: int = 1) -> str:
    return f'{O}call tool="{name}" index="{index}"{S}{"".join(elements)}{C}call{S}'


def argument(key: str, kind: str, value: str) -> str:
    return f'{O}argument key="{key}" type="{kind}"{S}{value}{C}argument{S}'


def tools(*calls: str) -> str:
    return f"{O}tools{S}{''.join(calls)}{C}tools{S}"


def answer(text: str = "", *calls: str) -> str:
    return f"r{THINK_RESPONSE}{text}{C}response{S}{tools(*calls) if calls else ''}{END}"


@dataclass(frozen=True)
class Case:
    text: str
    reasoning: str | None = "r"
    content: str | None = None
    calls: list[tuple[str, str]] = field(default_factory=list)
    start: Start = "think"
    finish: str | None = None
    declared: bool = True


CASES = {
    # The shape a well-behaved model writes.
    "answer": Case(answer("Six."), content="Six.", finish="stop"),
    "empty answer": Case(answer(), finish="stop"),
    "nothing at all": Case(E, None, finish="stop"),
    "no thoughts": Case(f"{THINK_RESPONSE}hi{C}response{S}{END}", None, "hi"),
    "without thinking": Case(f"hi{C}response{S}{END}", None, "hi", start="response"),
    "stripped stop token": Case(
        f"r{THINK_RESPONSE}hi{C}response{S}{C}message{S}", content="hi", finish="stop"
    ),
    "a call": Case(
        answer("", call("f", argument("x", "number", "2"))), calls=[("f", '{"x":2}')], finish="tool_calls"
    ),
    "prose and two calls": Case(
        answer("Both.", call("f"), call("g", argument("s", "string", "v"), index=2)),
        content="Both.",
        calls=[("f", "{}"), ("g", '{"s":"v"}')],
    ),
    # Values.
    "string is raw": Case(
        answer("", call("f", argument("s", "string", ' "a"\\\n&quot; '))),
        calls=[("f", '{"s":" \\"a\\"\\\\\\n&quot; "}')],
    ),
    "blank string": Case(
        answer("", call("f", argument("s", "string", " \n "))), calls=[("f", '{"s":" \\n "}')]
    ),
    "empty string": Case(answer("", call("f", argument("s", "string", ""))), calls=[("f", '{"s":""}')]),
    "lexemes survive": Case(
        answer("", call("f", argument("a", "number", "1.50"), argument("b", "integer", "9" * 30))),
        calls=[("f", '{"a":1.50,"b":' + "9" * 30 + "}")],
    ),
    "an integer beyond Python's limit": Case(
        answer("", call("f", argument("a", "number", "7" * 5000))), calls=[("f", '{"a":' + "7" * 5000 + "}")]
    ),
    "blanks around JSON": Case(
        answer("", call("f", argument("a", "array", " [1, 2]\n"))), calls=[("f", '{"a":[1, 2]}')]
    ),
    "not JSON": Case(
        answer("", call("f", argument("a", "object", "{x"), argument("b", "number", " -Infinity"))),
        calls=[("f", '{"a":"{x","b":" -Infinity"}')],
    ),
    "nesting beyond reason": Case(
        answer("", call("f", argument("a", "array", "[" * 100_000))),
        calls=[("f", '{"a":"' + "[" * 100_000 + '"}')],
    ),
    "unknown type": Case(
        answer("", call("f", argument("a", "date", "1"), argument("b", "date", "x"))),
        calls=[("f", '{"a":1,"b":"x"}')],
    ),
    "no type": Case(
        answer("", call("f", f'{O}argument key="a"{S}1{C}argument{S}')), calls=[("f", '{"a":"1"}')]
    ),
    "no key": Case(
        answer("", call("f", f'{O}argument type="string"{S}1{C}argument{S}')), calls=[("f", "{}")]
    ),
    "attributes in any order": Case(
        answer("", f'{O}call x="1"  index = "3" tool="f"{S}{C}call{S}'), calls=[("f", "{}")]
    ),
    "escaped attributes": Case(
        answer("", call("a&amp;quot;b", argument("&quot;k", "string", "v"))),
        calls=[("a&quot;b", '{"\\"k":"v"}')],
    ),
    "duplicate keys": Case(
        answer("", call("f", argument("k", "null", "null"), argument("k", "boolean", "true"))),
        calls=[("f", '{"k":null,"k":true}')],
    ),
    "JSON block": Case(
        answer("", call("f", f'{O}json type="object"{S}{{ "z":1e2 }}{C}json{S}')),
        calls=[("f", '{ "z":1e2 }')],
    ),
    "empty JSON block": Case(answer("", call("f", f"{O}json{S}{C}json{S}")), calls=[("f", "{}")]),
    # Markers that are none.
    "opener of no tag": Case(answer(f"see {O}tool box"), content=f"see {O}tool box"),
    "closer of no tag": Case(answer(f"see {C}x{S} y"), content=f"see {C}x{S} y"),
    "lone separator": Case(answer(f"a{S}b"), content=f"a{S}b"),
    "markers in a value": Case(
        answer("", call("f", argument("s", "string", f"a{O}call{S}b{C}think{S}c{C}argument d{S}"))),
        calls=[("f", '{"s":"' + f"a{O}call{S}b{C}think{S}c{C}argument d{S}" + '"}')],
    ),
    "call while thinking": Case(
        f'so {O}call tool="f"{S} it{THINK_RESPONSE}x{END}', f'so {O}call tool="f"{S} it', "x"
    ),
    # Markers left out or repeated.
    "elided separator": Case(f"r{C}think{O}response{S}x{C}response{C}message{E}", content="x", finish="stop"),
    "response without think closer": Case(f"r{O}response{S}x{C}response{S}{END}", content="x"),
    "tools without think closer": Case(f"r{tools(call('f'))}{END}", calls=[("f", "{}")]),
    "tools inside response": Case(
        f"r{THINK_RESPONSE}x{tools(call('f'))}{END}", content="x", calls=[("f", "{}")]
    ),
    "repeated think opener": Case(f"{O}think{S}{answer('x')}", content="x"),
    "second think": Case(f"r{THINK_RESPONSE}x{C}response{S}{O}think{S} s{C}think{S}{END}", "r s", "x"),
    "second response": Case(
        f"r{THINK_RESPONSE}x{C}response{S}{O}response{S}y{C}response{S}{END}", content="xy"
    ),
    "orphan think closer": Case(
        f"{C}think{S}{O}response{S}x{C}response{S}{END}", None, "x", start="response"
    ),
    "blanks at markers": Case(f"r{C} think {S}\n{O} response {S}x{C} response {S}\n{END}", content="x"),
    "bare JSON after thinking": Case(f'r{C}think{S}\n{{"a": 1}}', content='{"a": 1}'),
    "a marker in bare JSON": Case(f'r{C}think{S}["{O}x"]', content=f'["{O}x"]'),
    "noise before the response": Case(f"r{C}think{S}{O}foo{S}", content="foo<|sep|>"),
    "text after the response": Case(f"r{THINK_RESPONSE}x{C}response{S}never{END}", content="x"),
    "text after the message": Case(answer("x") + f'{O}message role="user"{S}y{END}', content="x"),
    "message header again": Case(
        f'{O}message role="assistant"{S}{O}think{S}{answer("x")}', content="x", start="idle"
    ),
    "idle text": Case(" plain", None, "plain", start="idle"),
    # Calls in disorder.
    "call without tools": Case(f"r{THINK_RESPONSE}{C}response{S}{call('f')}{END}", calls=[("f", "{}")]),
    "two tools channels": Case(
        f"r{THINK_RESPONSE}{C}response{S}{tools(call('f'))}{tools(call('g'))}{END}",
        calls=[("f", "{}"), ("g", "{}")],
    ),
    "nameless call": Case(
        answer("", f'{O}call index="1"{S}{argument("a", "string", "x")}{C}call{S}', call("g")),
        calls=[("g", "{}")],
    ),
    "noise between calls": Case(answer("", "x ", call("f"), " y "), calls=[("f", "{}")]),
    "no call closer": Case(
        answer("", f'{O}call tool="f"{S}{argument("a", "string", "x")}', call("g")),
        calls=[("f", '{"a":"x"}'), ("g", "{}")],
    ),
    "no argument closer": Case(
        answer("", f'{O}call tool="f"{S}{O}argument key="a" type="number"{S}4{C}call{S}'),
        calls=[("f", '{"a":4}')],
    ),
    "no closer before tools end": Case(
        answer("", f'{O}call tool="f"{S}{O}argument key="a" type="string"{S}4'), calls=[("f", '{"a":"4"}')]
    ),
    "no tools declared": Case(answer("x", call("f")), content="x", declared=False, finish="stop"),
    "blank content beside calls": Case(answer(" \n", call("f")), calls=[("f", "{}")]),
    "blank content alone": Case(answer(" \n"), content=" \n"),
    # Cut off.
    "cut while thinking": Case("r and", "r and", finish="length"),
    "cut in a value": Case(
        f'r{THINK_RESPONSE}x{O}tools{S}{call("f")}{O}call tool="g"{S}{O}argument key="a"{S}half',
        content="x",
        calls=[("f", "{}")],
        finish="length",
    ),
    "ended in a value": Case(
        f'r{THINK_RESPONSE}x{O}tools{S}{call("f")}{O}call tool="g"{S}{O}argument key="a"{S}half{E}',
        content="x",
        calls=[("f", "{}")],
        finish="tool_calls",
    ),
    "cut in a closer": Case(f"r{THINK_RESPONSE}x{C}resp", content="x", finish="length"),
    "cut after a closer": Case(f"r{THINK_RESPONSE}x{C}", content="x"),
    "a lone angle bracket": Case(f"r{THINK_RESPONSE}x <", content="x <"),
    # The think channel skipped.
    "skipped think": Case(f"Rome.{C}response{S}{END}", None, "Rome."),
    "skipped think, cut": Case(f"Rome.{C}response{S}", None, "Rome.", finish="length"),
    "skipped to the end": Case(f"Rome.{END}", None, "Rome."),
    "skipped with calls": Case(f"Look.{C}response{S}{tools(call('f'))}{END}", "Look.", calls=[("f", "{}")]),
    "not skipped": Case(f"{O}think{S}Rome.{C}response{S}{END}", "Rome."),
    "no closer seen": Case(f"Rome.{E}", "Rome."),
}


def read(turn: ParsedTurn) -> tuple[object, ...]:
    return turn.reasoning, turn.content, [(call.name, call.arguments) for call in turn.calls]


def by_text(case: Case, sizes: list[int]) -> tuple[list[TurnEvent], ParsedTurn]:
    parser = TurnParser(start=case.start, tools_declared=case.declared)
    events = []
    at = turn = 0
    while at < len(case.text):
        size = sizes[turn % len(sizes)]
        events += parser.push_text(case.text[at : at + size])
        at, turn = at + size, turn + 1
    return events + parser.finish(), parser.turn()


@pytest.mark.parametrize("name", CASES)
def test_cases_as_text_and_as_tokens(name: str, tokenizer: Tokenizer) -> None:
    case = CASES[name]
    wanted = (case.reasoning, case.content, case.calls)
    ids = tokenizer.encode(case.text, special=True)
    parsed = parse(ids, start=case.start, tools_declared=case.declared, tokenizer=tokenizer)
    assert read(parsed) == wanted
    for size in (1, 2, 3, 5, 7, 11, 1 << 20):
        events, turn = by_text(case, [size])
        assert read(turn) == wanted
        assert turn.finish == parsed.finish
        assert case.finish in (None, turn.finish)
        assert streamed(events) == wanted


def streamed(events: list[TurnEvent]) -> tuple[object, ...]:
    names: dict[int, str] = {}
    pieces: dict[int, str] = {}
    for event in events:
        if isinstance(event, CallOpened):
            names[event.index] = event.name
            pieces[event.index] = ""
        elif isinstance(event, ArgumentPiece):
            assert event.json
            pieces[event.index] += event.json
        elif isinstance(event, CallDropped):
            del pieces[event.index]
        elif isinstance(event, CallClosed):
            assert event.call.index == list(names)[-1]
    fold = TurnFold()
    fold.add(events)
    turn = fold.turn(complete=True)
    return turn.reasoning, turn.content, [(names[index], text) for index, text in pieces.items()]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(CASES)), st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_chunks_do_not_matter(name: str, sizes: list[int]) -> None:
    case = CASES[name]
    assert read(by_text(case, sizes)[1]) == (case.reasoning, case.content, case.calls)


SNIPPETS = [
    O,
    C,
    S,
    E,
    "think",
    "response",
    "tools",
    "call",
    ' tool="f"',
    "argument",
    ' key="k"',
    ' type="string"',
]
SNIPPETS += [' type="number"', "json", "message", "<", "<|", "x", " ", "\n", "12", '"', "&quot;", "漢", "🦦"]
SNIPPETS += [
    call("f"),
    f'{O}argument key="k" type="string"{S}',
    f"{C}argument{S}",
    THINK_RESPONSE,
    f"{O}tools{S}",
]
ANY_TURN = st.lists(st.sampled_from(SNIPPETS), max_size=25).map("".join)
STARTS = st.sampled_from(["think", "response", "idle"])


@settings(max_examples=400, deadline=None)
@given(ANY_TURN, STARTS, st.lists(st.integers(1, 12), min_size=1, max_size=5), st.booleans())
def test_any_text_is_read_alike_in_any_chunks(
    text: str, start: Start, sizes: list[int], declared: bool
) -> None:
    case = Case(text, start=start, declared=declared)
    whole_events, whole = by_text(case, [1 << 20])
    events, turn = by_text(case, sizes)
    assert turn == whole
    assert streamed(events) == streamed(whole_events)


@settings(max_examples=300, deadline=None)
@given(ANY_TURN, STARTS)
@example(f"{O}think{S}x", "think")
def test_any_text_is_read_alike_as_tokens(tokenizer: Tokenizer, text: str, start: Start) -> None:
    # Up to a marker cut in two at the very end, which in ordinary tokens is text.
    text += "."
    parsed = parse(tokenizer.encode(text, special=True), start=start, tokenizer=tokenizer)
    assert read(parsed) == read(parse(text, start=start))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(CASES)), st.integers(0, 400))
def test_a_cut_never_shows_a_marker(name: str, length: int) -> None:
    case = CASES[name]
    if length > len(case.text) or any(marker in (case.content or "") for marker in (O, C, S)):
        return
    if any(marker in str(case.reasoning) + str(case.calls) for marker in (O, C, S)) or "noise" in name:
        return
    turn = parse(case.text[:length], start=case.start, tools_declared=case.declared)
    for shown in (turn.reasoning or "", turn.content or "", *(c.arguments for c in turn.calls)):
        assert "<|" not in shown


def spelled(tokenizer: Tokenizer, *pieces: tuple[bool, str]) -> list[int]:
    return [token for special, text in pieces for token in tokenizer.encode(text, special=special)]


def test_spelled_markers_are_text_when_there_are_ids(tokenizer: Tokenizer) -> None:
    ids = spelled(
        tokenizer,
        (False, f"Say {O}tools{S}!"),
        (True, THINK_RESPONSE),
        (False, f"{C}response{S} ends it"),
        (True, f"{C}response{S}{END}"),
    )
    turn = parse(ids, start="think", tokenizer=tokenizer)
    assert read(turn) == (f"Say {O}tools{S}!", f"{C}response{S} ends it", [])


@pytest.mark.parametrize("pieces", [
    ((False, f"{O}think{S}"), (False, "r")),
    ((False, f"{O}think<|sep|"), (True, S), (False, "r")),
    ((True, O), (False, f"think{S}r")),
    ((True, f"{O}think{S}"), (False, "r")),
])  # fmt: skip
def test_a_repeated_think_opener_is_dropped_in_any_spelling(
    tokenizer: Tokenizer, pieces: tuple[tuple[bool, str], ...]
) -> None:
    turn = parse(
        spelled(tokenizer, *pieces, (True, f"{THINK_RESPONSE}x{END}")), start="think", tokenizer=tokenizer
    )
    assert read(turn) == ("r", "x", [])


def test_what_only_begins_like_an_opener_stays(tokenizer: Tokenizer) -> None:
    ids = spelled(tokenizer, (False, f"{O}thin"), (True, f"{THINK_RESPONSE}x{END}"))
    assert read(parse(ids, start="think", tokenizer=tokenizer)) == (f"{O}thin", "x", [])


def test_other_special_tokens_are_ignored(tokenizer: Tokenizer) -> None:
    ids = spelled(
        tokenizer, (False, "r"), (True, "<|media_pad|>"), (False, "s"), (True, f"{THINK_RESPONSE}x{END}")
    )
    turn = parse(ids, start="think", tokenizer=tokenizer)
    assert read(turn) == ("rs", "x", [])
    assert "<|media_pad|>" in turn.diagnostics[0]


def test_characters_cut_by_a_marker_or_by_the_end(tokenizer: Tokenizer) -> None:
    half = [0xE6]
    head = spelled(tokenizer, (False, "r"))
    tail = spelled(tokenizer, (True, THINK_RESPONSE), (False, "x"))
    assert read(parse(head + half + tail + half, start="think", tokenizer=tokenizer)) == ("r\ufffd", "x", [])


def test_strings_stream_before_they_end() -> None:
    parser = TurnParser(start="think")
    events = parser.push_text(f'r{THINK_RESPONSE}{O}tools{S}{O}call tool="f"{S}')
    assert events[-1] == CallOpened(0, "f")
    events = parser.push_text(f'{O}argument key="path" type="string"{S}a "')
    assert events == [
        ArgumentPiece(0, "path", "", '{"path":"'),
        ArgumentPiece(0, "path", 'a "', 'a \\"'),
    ]
    assert parser.state == "argument"
    assert parser.push_text(f'{C}argument{S}{O}argument key="n" type="number"{S}4') == [
        ArgumentPiece(0, "path", "", '"')
    ]
    assert parser.push_text(f"{C}argument{S}") == [ArgumentPiece(0, "n", "4", ',"n":4')]
    closed = parser.push_text(f"{C}call{S}")
    assert closed[0] == ArgumentPiece(0, "", "", "}")
    assert isinstance(closed[1], CallClosed)
    assert closed[1].call.args == {"path": 'a "', "n": 4}
    assert json.loads(closed[1].call.arguments) == closed[1].call.args


def test_the_first_piece_comes_at_once() -> None:
    parser = TurnParser(start="response")
    assert parser.push_text("H") == [ContentPiece("H")]
    assert parser.push_text("i<|cl") == [ContentPiece("i")]
    assert not parser.done


def test_a_skipped_think_channel_is_taken_back() -> None:
    parser = TurnParser(start="think")
    assert parser.push_text("Rome.") == [ReasoningPiece("Rome.")]
    assert parser.push_text(f"{C}response{S}") == []
    assert parser.push_text(END) == [ThinkSkipped(), ContentPiece("Rome.")]
    assert parser.done
    kept = parse(f"Rome.{C}response{S}{END}", start="think", skipped_think="reasoning")
    assert (kept.reasoning, kept.content) == ("Rome.", None)


def test_a_json_block_that_is_no_object_has_no_args() -> None:
    turn = parse(answer("", call("f", f"{O}json{S}[1]{C}json{S}")), start="think")
    assert turn.calls[0].args is None
    assert turn.calls[0].arguments == "[1]"


def test_recovered_calls_say_so() -> None:
    turn = parse(answer("", f'{O}call tool="f"{S}', call("g")), start="think")
    assert [one.recovered for one in turn.calls] == [True, False]
    assert [one.index for one in turn.calls] == [0, 1]


def test_a_header_without_end_is_text() -> None:
    long = f'{O}message x="' + "y" * 20_000
    assert parse(long, start="response").content == long


def test_the_start_is_read_from_the_prompt(tokenizer: Tokenizer) -> None:
    user = {"role": "user", "content": "hi <|open|>think<|sep|>"}
    half = {"role": "assistant", "content": "It is", "partial": True}
    for messages, options, start in (
        ([user], {}, "think"),
        ([user], {"thinking": False}, "response"),
        ([user], {"add_generation_prompt": False}, "idle"),
        ([user, half], {}, "response"),
    ):
        prompt = render(messages, **options)  # type: ignore[arg-type]
        encoded = prompt.encode(tokenizer)
        assert (prompt.start, encoded.start, start_of(encoded.ids, tokenizer)) == (start, start, start)
    opened = tokenizer.encode(f'{O}message role="assistant"{S}', special=True)
    assert start_of(opened, tokenizer) == start_of([], tokenizer) == "idle"


def test_wrong_use(tokenizer: Tokenizer) -> None:
    with pytest.raises(ConfigError, match="start"):
        TurnParser(start="thinking")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="skipped_think"):
        TurnParser(start="think", skipped_think="drop")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="needs TurnParser"):
        TurnParser(start="think").push_token(1)
    with pytest.raises(ConfigError, match="outside the vocabulary"):
        TurnParser(start="think", tokenizer=tokenizer).push_token(1 << 30)
