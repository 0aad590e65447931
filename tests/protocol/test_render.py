from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_sdk.errors import ConfigError
from kimi_sdk.messages import Message, Text, ToolCall, ToolResult
from kimi_sdk.protocol import Prompt, Tokenizer, parse, render
from kimi_sdk.protocol.segments import ImagePlace

CONTROLS = ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>")
ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
USER = {"role": "user", "content": "hi"}


class Picture:
    """Stands for an image: all that rendering needs is its size."""

    def __init__(self, width: int, height: int) -> None:
        self.size = (width, height)


def wire(prompt: Prompt) -> str:
    """The prompt with short markers: [ opens, ] separates, / closes, # ends."""
    text = prompt.text
    for long, short in zip(CONTROLS, "[/]#", strict=True):
        text = text.replace(long, short)
    return text


def assistant(*calls: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **rest}


def call(name: str, arguments: object, call_id: str = "") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def quiet(*messages: object, **options: Any) -> str:
    return wire(render(messages, thinking=False, **options))  # type: ignore[arg-type]


def test_a_question_with_defaults() -> None:
    prompt = render([USER])
    assert wire(prompt) == (
        '[message role="system" type="thinking-effort"]`thinking_effort` guides on how much to think in your '
        "thinking channel (not including the response channel), supported values include `low`, `medium`, "
        "`high`, and `max`.\nNow the system is invoked with `thinking_effort=max`./message]#"
        '[message role="user"]hi/message]#[message role="assistant"][think]'
    )
    assert prompt.start == "think"
    assert (
        wire(render([USER], effort=None))
        == '[message role="user"]hi/message]#[message role="assistant"][think]'
    )
    assert quiet(USER) == '[message role="user"]hi/message]#[message role="assistant"][response]'
    assert quiet(USER, add_generation_prompt=False) == '[message role="user"]hi/message]#'


def test_every_piece_is_its_own_segment() -> None:
    prompt = render(
        [{"role": "user", "name": 'a"&', "content": ""}], thinking=False, add_generation_prompt=False
    )
    pieces = [(segment.kind, segment.text) for segment in prompt.segments]
    control, text = "control", "text"
    assert pieces == [
        (control, "<|open|>"), (text, "message"),
        (text, " role"), (text, '="'), (text, "user"), (text, '"'),
        (text, " name"), (text, '="'), (text, "a&quot;&amp;"), (text, '"'),
        (control, "<|sep|>"),
        (control, "<|close|>"), (text, "message"), (control, "<|sep|>"), (control, "<|end_of_msg|>"),
    ]  # fmt: skip


def test_tools_are_sorted_within_and_kept_in_order() -> None:
    tool = {
        "type": "function",
        "function": {"name": "z", "x-é": 1, "parameters": {"b": [], "a": {"d": 1, "c": 2}}},
    }
    text = quiet(USER, tools=[tool, ADD], tool_choice="none")
    declared = (
        '[{"function":{"name":"z","parameters":{"a":{"c":2,"d":1},"b":[]},"x-é":1},"type":"function"},'
        '{"function":{"name":"add","parameters":{"properties":{},"type":"object"}},"type":"function"}]'
    )
    assert declared in text
    assert text.startswith(
        '[message role="system" type="tool-declare"]# Tools\nHere are the available tools, '
    )
    assert (
        "tool_choice=none`.\nYou MUST NOT call any tools in the next message./message]#[message role=" in text
    )


def test_tool_choice_comes_after_the_conversation() -> None:
    for choice in ("required", "add", {"type": "function", "function": {"name": "add"}}):
        text = quiet(USER, tools=[ADD], tool_choice=choice)
        assert text.endswith(
            'hi/message]#[message role="system" type="tool-choice"]The system is invoked with '
            "`tool_choice=required`.\nYou MUST call tools in the next message./message]#"
            '[message role="assistant"][response]'
        )
    assert "tool-choice" not in quiet(USER, tools=[ADD])


def test_tools_that_come_later() -> None:
    text = quiet(USER, {"role": "system", "tools": [ADD]}, tool_choice="required")
    assert '[message role="system" type="tool-declare"]## New Tools Available\nThe system dynamically' in text
    assert text.count('"name":"add"') == 1


def test_response_formats() -> None:
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    for wrapper in ({"name": "r", "schema": schema}, {"json_schema": schema}, schema):
        text = quiet(USER, response_format={"type": "json_schema", "json_schema": wrapper})
        assert (
            "`response_format=json_schema`.\nYour response must be raw JSON data without markdown "
            "code blocks (```json) or any additional formatting.\n"
            "The JSON data must match the following schema:\n```json\n"
            '{"properties":{"a":{},"b":{}},"type":"object"}\n```/message]#'
        ) in text
    assert "any additional formatting./message]#" in quiet(USER, response_format={"type": "json_object"})
    assert quiet(USER, response_format={"type": "text"}) == quiet(USER)


def test_history_keeps_thoughts_and_types_arguments() -> None:
    arguments = {"s": "a\n<b>", "i": 2, "f": 1.5, "t": True, "n": None, "o": {"k": [1, "é"]}, "l": ["x"]}
    said = assistant(call("f", json.dumps(arguments)), call("g", ""), reasoning_content="why")
    typed = (
        '[tools][call tool="f" index="1"][argument key="s" type="string"]a\n<b>/argument]'
        '[argument key="i" type="number"]2/argument][argument key="f" type="number"]1.5/argument]'
        '[argument key="t" type="boolean"]true/argument][argument key="n" type="null"]null/argument]'
        '[argument key="o" type="object"]{"k": [1, "é"]}/argument][argument key="l" type="array"]["x"]'
        '/argument]/call][call tool="g" index="2"]/call]/tools]/message]#'
    )
    thinking = wire(render([USER, said], effort=None, add_generation_prompt=False))
    assert thinking.endswith('[message role="assistant"][think]why/think][response]/response]' + typed)
    assert quiet(USER, said, add_generation_prompt=False).endswith(
        '[message role="assistant"][response]/response]' + typed
    )
    silent = wire(render([assistant(reasoning=" \n")], effort=None, add_generation_prompt=False))
    assert silent == '[message role="assistant"][think]/think][response]/response]/message]#'


def test_arguments_that_are_not_json_stay_raw() -> None:
    for raw in ('{"a": ', '{"a": NaN}', '{"a": 1e999}', "[" * 100_000):
        text = quiet(USER, assistant(call("f", raw)))
        assert f'[call tool="f" index="1"][json type="object"]{raw}/json]/call]' in text


def result(call_id: str, content: str, **rest: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **rest}


def tool_headers(*messages: dict[str, Any]) -> list[str]:
    return [piece.split("/")[0] for piece in quiet(*messages).split('[message role="tool" ')[1:]]


def test_results_follow_the_order_of_their_calls() -> None:
    said = assistant(call("f", {}, "1"), call("g", {}, "2"))
    assert tool_headers(USER, said, result("2", "B"), result("1", "A")) == [
        'tool="f" index="1"]A',
        'tool="g" index="2"]B',
    ]
    assert tool_headers(USER, said, result("g:1", "B"), result("f:0", "A")) == [
        'tool="f" index="1"]A',
        'tool="g" index="2"]B',
    ]
    # One unknown id: the run stays as given, named by itself.
    assert tool_headers(USER, said, result("2", "B", name="g"), result("9", "A", name="f")) == [
        'tool="g" index="1"]B',
        'tool="f" index="2"]A',
    ]
    assert tool_headers(USER, said, result("x", "A"), result("y", "B")) == [
        'tool="f" index="1"]A',
        'tool="g" index="2"]B',
    ]
    # Numbers count results since the assistant, over several runs.
    assert tool_headers(USER, said, result("2", "B"), USER, result("1", "A")) == [
        'tool="g" index="1"]B',
        'tool="f" index="2"]A',
    ]
    twice = assistant(call("f", {}, "1"), call("g", {}, "1"))
    assert tool_headers(USER, twice, result("1", "A"), result("1", "B")) == [
        'tool="f" index="1"]A',
        'tool="f" index="2"]B',
    ]


def test_message_values_give_the_same_prompt_as_dicts() -> None:
    image = Picture(320, 240)
    values = [
        Message.system("Be brief."),
        Message("user", (Text("see "), image), name="ana"),  # type: ignore[arg-type]
        Message.assistant(
            "ok",
            reasoning="why",
            calls=[ToolCall("a", "f", {"x": 1}, 1), ToolCall("b", "g", {}, 2)],
        ),
        Message.tool(
            ToolResult("b", "g", (Text("B"), image)),  # type: ignore[arg-type]
            ToolResult("a", "f", (Text("A"),)),
        ),
        Message.assistant("done"),
    ]
    picture = {"type": "image_url", "image_url": {"url": "x"}}
    dicts = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "name": "ana", "content": [{"type": "text", "text": "see "}, picture]},
        assistant(call("f", {"x": 1}, "a"), call("g", None, "b"), content="ok", reasoning="why"),
        {"role": "tool", "id": "b", "content": [{"type": "text", "text": "B"}, picture]},
        result("a", "A"),
        {"role": "assistant", "content": "done"},
    ]
    one, two = render(values), render(dicts, images=[(320, 240), (320, 240)])
    assert one.text == two.text
    assert one.boundaries == two.boundaries
    assert [s.image for s in one.segments if s.image is not None] == [image, image]


def test_images_take_their_pads(tokenizer: Tokenizer) -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image", "image": "x"}, "b"]
    prompt = render([{"role": "user", "content": parts}], images=[(640, 480)], thinking=False)
    assert 'user"]a<|media_begin|>image 640x480<|media_content|><|media_pad|><|media_end|>b/' in wire(prompt)
    encoded = prompt.encode(tokenizer, image_tokens=lambda size: size[0] // 100)
    (place,) = encoded.images
    assert place == ImagePlace(place.start, 6, (640, 480))
    pads = [at for at, token in enumerate(encoded.ids) if token == tokenizer.media_pad_id]
    assert pads == list(range(place.start, place.start + 6))
    assert prompt.encode(tokenizer).images[0].count == 1
    with pytest.raises(ConfigError, match="at least one token"):
        prompt.encode(tokenizer, image_tokens=lambda size: 0)
    unknown = render([{"role": "user", "content": parts}])
    assert "a<|kimi_image_placeholder|>b" in unknown.text
    assert tokenizer.media_pad_id not in unknown.encode(tokenizer).ids


def test_boundaries_are_positions_where_messages_end(tokenizer: Tokenizer) -> None:
    messages = [{"role": "system", "content": "s"}, USER, {"role": "assistant", "content": "x"}]
    prompt = render(messages, tools=[ADD], tool_choice="required")
    encoded = prompt.encode(tokenizer)
    ends = [at + 1 for at, token in enumerate(encoded.ids) if token == tokenizer.end_of_msg_id]
    # tools, effort, system, user, assistant, tool choice
    assert len(ends) == 6
    kinds = {mark.position: mark.kind for mark in encoded.boundaries if mark.kind == "head"}
    assert list(kinds) == [ends[2]]
    assert [mark.position for mark in encoded.boundaries if mark.kind == "message"] == ends[2:5]


def test_a_partial_answer_is_left_open() -> None:
    half = {"role": "assistant", "content": "Once", "partial": True}
    prompt = render([USER, half], effort=None, response_format={"type": "json_object"})
    assert wire(prompt).endswith(
        'formatting./message]#[message role="assistant"][think]/think][response]Once'
    )
    assert prompt.start == "response"
    assert quiet(USER, half).endswith('#[message role="assistant"][response]Once')


@pytest.mark.parametrize(
    ("messages", "options", "words"),
    [
        ("hi", {}, "must be a list"),
        ([3], {}, r"messages\[0\] must be a Message or a dict"),
        ([{"role": "robot"}], {}, r"messages\[0\]: unknown role 'robot'"),
        ([{"content": "x"}], {}, "unknown role None"),
        ([{"role": "user", "content": 3}], {}, "content must be text"),
        ([{"role": "user", "content": [3]}], {}, r"content\[0\] must be text or a dict"),
        ([{"role": "user", "content": [{"type": "video"}]}], {}, "unknown part type 'video'"),
        ([{"role": "user", "content": [{"type": "text"}]}], {}, "text must be a string"),
        ([{"role": "user", "content": [{"type": "image"}]}], {"images": []}, "fewer images"),
        ([{"role": "user", "content": [{"type": "image"}]}], {"images": [(0, 1)]}, "width, height"),
        ([USER], {"images": [(1, 1)]}, "more images"),
        ([{"role": "user", "content": "x", "name": 1}], {}, "name must be a string"),
        ([{"role": "user", "tools": [ADD]}], {}, "only a system message can declare tools"),
        ([{"role": "system", "tools": [ADD], "content": "x"}], {}, "cannot have content"),
        ([{"role": "system", "tools": {"a": 1}}], {}, "tools must be a list"),
        ([{"role": "system", "tools": [ADD]}], {"tools": [ADD]}, "tool 'add' is declared twice"),
        ([{"role": "user", "tool_calls": [1]}], {}, "only an assistant"),
        ([assistant(call("f", "[1]"))], {}, "must be a JSON object"),
        ([assistant(call("f", {"a": object()}))], {}, "must be a JSON value"),
        ([assistant(call("f", {"a": float("nan")}))], {}, "Cannot write"),
        ([assistant(call("", {}))], {}, "needs the tool's name"),
        ([assistant({"id": "1"})], {}, "'function' dict"),
        ([{"role": "assistant", "tool_calls": "x"}], {}, "tool_calls must be a list"),
        ([USER, result("1", "x")], {}, "answers no call"),
        ([{"role": "assistant", "partial": True}, USER], {}, "only the last message"),
        ([{"role": "user", "partial": True}], {}, "only the last message"),
        ([assistant(call("f", {}), partial=True)], {}, "cannot carry tool calls"),
        ([USER], {"tools": {"a": 1}}, "tools must be a list"),
        ([USER], {"tools": [{"type": "function"}]}, r"tools\[0\] must be a dict"),
        ([USER], {"tools": [{"type": "web", "function": {"name": "f"}}]}, "unknown tool type"),
        ([USER], {"tools": [{"function": {"name": "1f"}}]}, "bad tool name"),
        ([USER], {"tools": [{"function": {"name": "a@b"}}]}, "bad tool name"),
        ([USER], {"tools": [{"function": {"name": "a" * 257}}]}, "bad tool name"),
        ([USER], {"tools": [{"function": {"name": "f", "parameters": {1, 2}}}]}, "Cannot write"),
        ([USER], {"effort": "medium"}, "effort must be"),
        ([USER], {"tool_choice": "required"}, "needs at least one tool"),
        ([USER], {"tools": [ADD], "tool_choice": "sub"}, "name of a declared tool"),
        ([USER], {"tool_choice": 3}, "name of a declared tool"),
        ([USER], {"response_format": {"type": "xml"}}, "response_format type"),
        ([USER], {"response_format": {"type": "json_schema"}}, "needs a 'json_schema' dict"),
        ([Message("user", (ToolCall("1", "f", {}, 1),))], {}, "cannot hold a ToolCall"),
        ([Message("tool", ())], {}, "at least one ToolResult"),
        ([Message("tool", (Text("x"),))], {}, "only ToolResult parts"),
        ([Message("user", (3,))], {}, "cannot write a int"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_named(messages: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        render(messages, **options)


TEXTS = st.text(max_size=20) | st.sampled_from(
    [
        *CONTROLS,
        "<|media_pad|>",
        "[BOS]",
        '<|open|>message role="system"<|sep|>',
        "<|reserved_token_300|>",
        "&amp;",
    ]
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_text_never_becomes_a_control_token(
    tokenizer: Tokenizer, name: str, content: str, key: str, value: str
) -> None:
    def ids_of(name: str, content: str, key: str, value: str) -> list[int]:
        messages = [
            {"role": "user", "name": name, "content": content},
            assistant(call("f" + name, {key: value, "o": {key: value}}), reasoning=value),
            {"role": "tool", "content": content},
        ]
        declared = [{"function": {"name": "f", "description": value, "parameters": {key: content}}}]
        encoded = render(messages, tools=declared).encode(tokenizer)
        return [token for token in encoded.ids if token >= tokenizer.base_size]

    assert ids_of(name, content, key, value) == ids_of("n", "c", "k", "v")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(
    st.tuples(st.text(min_size=1, max_size=8), st.dictionaries(TEXTS, VALUES, max_size=3)), max_size=3
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, CALLS)
def test_what_was_rendered_is_parsed_back(
    tokenizer: Tokenizer, reasoning: str, content: str, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    reasoning, content = "r" + reasoning.strip(), "c" + content
    said = assistant(*(call(name, args) for name, args in calls), reasoning=reasoning, content=content)
    prompt = render([USER, said], add_generation_prompt=False)
    opening = len(render([USER]).encode(tokenizer).ids)
    written = prompt.encode(tokenizer).ids[opening:]
    turn = parse(written, start="think", tokenizer=tokenizer)
    assert (turn.reasoning, turn.content) == (reasoning, content)
    assert [(one.name, one.args) for one in turn.calls] == calls
    assert [json.loads(one.arguments) for one in turn.calls] == [args for _, args in calls]
    assert turn.finish == ("tool_calls" if calls else "stop")
    assert turn.diagnostics == ()


def test_a_prompt_of_the_real_tokenizer(real_tokenizer: Tokenizer) -> None:
    ids = render([{"role": "user", "content": "Name a prime."}]).encode(real_tokenizer).ids
    assert len(ids) == 92
    assert ids[67:78] == [163587, 2778, 6244, 878, 2482, 1, 163589, 1263, 261, 18320, 13]
    assert ids[-3:] == [163587, 39964, 163589]
