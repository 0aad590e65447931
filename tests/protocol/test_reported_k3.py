"""Faults that users reported of other servers' K3 parsers, each as a case of our own.

The id of a case names the public report (repository#number, or the project whose tests or notes show it):

| id | what went wrong there |
|---|---|
| vllm#51399 | the message's closer reached the streamed text |
| vllm#53246 | calls were lost when the think channel was not closed before them |
| sglang#33995 | the whole answer came as reasoning, because the model skipped its think channel |
| vllm#53249 | prose before calls in a skipped think channel: reasoning here, calls never lost |
| sglang#34187 | a thought cut by the token limit was shown as the answer |
| sglang#32567 | a header without its separator swallowed the answer |
| sglang#32677 | the model repeated the think opener, even spelled in ordinary tokens |
| vllm#50367 | blanks that a detokenizer put around markers |
| vllm#52889, vllm#51355 | a marker that never became one, in prose or in a value |
| senpi#465 | a second think channel after the answer |
| sglang-detector | a think closer in an answer without thoughts |
| vllm-plugin-das#122 | nothing was streamed until the end |
| vllm-ascend#13204 | JSON right behind the think closer, without a response channel |
| dynamo, smg#1873 | the prompt ended before the channel's opener |
| vllm-k3-tests | text behind the message; half a marker at the end of the stream |
| frontend-crates#152 | several calls in one delta |
| vllm#50604 | a long string argument was silent until it was closed |
| atom#1727 | an argument of blanks was trimmed |
| vllm-smg-units | entities in bodies and in attributes; types and names left out, indices repeated |
| colibri#1143 | numbers respelled |
| value-fallback | values that are not the JSON they claim to be |
| json-block | arguments as one JSON block |
| recovery | closers left out within the tools channel |
| smg-nesting | calls without the tools channel, or two of these channels |
| sglang#39583 | calls shown as text when no tools were declared |
| free-claude-code#1572 | the same call id in two turns |
| kvv | blank content beside calls |
| unknown-name | calls of undeclared tools vanished |
| utf-8 | characters cut between two tokens |
| sglang#33019 | call indices that do not begin at 1 |
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from kimi_sdk.protocol import ParsedTurn, Tokenizer, TurnEvent, TurnParser, parse
from kimi_sdk.protocol.segments import Start
from kimi_sdk.protocol.turn import ArgumentPiece, CallOpened, ContentPiece, ReasoningPiece
from kimi_sdk.turn_reader import TurnReader

O, C, S, E = "<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"  # noqa: E741
END = f"{C}message{S}{E}"
TO_RESPONSE = f"{C}think{S}{O}response{S}"


def call(name: str, body: str = "", index: int = 1) -> str:
    return f'{O}call tool="{name}" index="{index}"{S}{body}{C}call{S}'


def argument(key: str, kind: str, value: str) -> str:
    return f'{O}argument key="{key}" type="{kind}"{S}{value}{C}argument{S}'


def tools(*calls: str) -> str:
    return f"{O}tools{S}{''.join(calls)}{C}tools{S}"


def calling(*calls: str, content: str = "") -> str:
    return f"hm{TO_RESPONSE}{content}{C}response{S}{tools(*calls)}{END}"


@dataclass(frozen=True)
class Case:
    """``text`` may hold ordinary tokens that spell a marker, written ``{open}``: those have no text mode."""

    id: str
    text: str
    reasoning: str | None = "hm"
    content: str | None = None
    calls: list[tuple[str, str]] = field(default_factory=list)
    start: Start = "think"
    declared: bool = True
    finish: str | None = None


CASES = [
    Case("vllm#51399", f"hm{TO_RESPONSE}Nine.{C}response{S}{END}", content="Nine.", finish="stop"),
    Case(
        "vllm#51399 stripped",
        f"hm{TO_RESPONSE}Nine.{C}response{S}{C}message{S}",
        content="Nine.",
        finish="stop",
    ),
    Case("vllm#51399 short", f"hm{TO_RESPONSE}Nine.{E}", content="Nine.", finish="stop"),
    Case("vllm#53246", f"hm{tools(call('look'))}{END}", calls=[("look", "{}")]),
    Case(
        "vllm#53246 response",
        f"hm{TO_RESPONSE}one moment{tools(call('look'))}{END}",
        content="one moment",
        calls=[("look", "{}")],
    ),
    Case("sglang#33995", f"Oslo.{C}response{S}{END}", None, "Oslo."),
    Case("sglang#33995 message", f"Oslo.{END}", None, "Oslo."),
    Case("sglang#33995 opened", f"{O}think{S}Oslo?{C}response{S}{END}", "Oslo?"),
    Case(
        "vllm#53249",
        f"Let me see.{C}response{S}{tools(call('find', argument('q', 'string', 'fjord')))}{END}",
        "Let me see.",
        calls=[("find", '{"q":"fjord"}')],
    ),
    Case("sglang#34187", "So the tide is", "So the tide is", finish="length"),
    Case("sglang#34187 ended", f"So it is{E}", "So it is", finish="stop"),
    Case("sglang#32567", f"hm{C}think{O}response{S}ok{C}response{S}{END}", content="ok"),
    Case("sglang#32677", f"{O}think{S}hm{TO_RESPONSE}ok{C}response{S}{END}", content="ok"),
    Case(
        "sglang#32677 in part", f"{{open}}think{{sep-}}{S}hm{TO_RESPONSE}ok{C}response{S}{END}", content="ok"
    ),
    Case("sglang#32677 in whole", f"{{open}}think{{sep}}hm{TO_RESPONSE}ok{C}response{S}{END}", content="ok"),
    Case(
        "vllm#50367",
        f" hm {C} think {S} {O} response {S} ok {C} response {S} {C} message {S}{E}",
        " hm ",
        " ok ",
    ),
    Case(
        "vllm#52889",
        f"hm{TO_RESPONSE}An {O}tools channel opens so.{C}response{S}{END}",
        content=f"An {O}tools channel opens so.",
    ),
    Case(
        "vllm#51355",
        f"hm{TO_RESPONSE}Of {O}tools then.{C}response{S}{tools(call('f'))}{END}",
        content=f"Of {O}tools then.",
        calls=[("f", "{}")],
    ),
    Case(
        "vllm#52889 in a value",
        calling(call("f", argument("s", "string", f"1{C}argument 2"))),
        calls=[("f", f'{{"s":"1{C}argument 2"}}')],
    ),
    Case(
        "vllm#52889 spelled",
        f"A {{open}}tools{{sep}}?{TO_RESPONSE}Then {{close}}response{{sep}}{{end}} ends.{C}response{S}"
        f"{tools(call('f', argument('s', 'string', '{close}argument{sep}{close}call{sep}')))}{END}",
        f"A {O}tools{S}?",
        f"Then {C}response{S}{E} ends.",
        [("f", f'{{"s":"{C}argument{S}{C}call{S}"}}')],
    ),
    Case(
        "senpi#465",
        f"hm{TO_RESPONSE}a{C}response{S}{O}think{S}, so{TO_RESPONSE}b{C}response{S}{END}",
        "hm, so",
        "ab",
    ),
    Case(
        "senpi#465 after calls",
        f"hm{TO_RESPONSE}{C}response{S}{tools(call('f'))}{O}think{S} more{C}think{S}{END}",
        "hm more",
        calls=[("f", "{}")],
    ),
    Case("sglang-detector", f"{C}think{S}{O}response{S}hi{C}response{S}{END}", None, "hi", start="response"),
    Case("sglang-detector twice", f"hm{C}think{S}{TO_RESPONSE}hi{C}response{S}{END}", content="hi"),
    Case("vllm-plugin-das#122", f"{O}response{S}hi{C}response{S}{END}", None, "hi", start="response"),
    Case("vllm-ascend#13204", f'hm{C}think{S}{{{{"n":1}}}}', content='{"n":1}'),
    Case(
        "vllm-ascend#13204 opened",
        f'hm{C}think{S}{O}response{S}{{{{"n":1}}}}{C}response{S}{END}',
        content='{"n":1}',
    ),
    Case(
        "dynamo",
        f'{O}message role="assistant"{S}{O}think{S}hm{TO_RESPONSE}hi{C}response{S}{END}',
        content="hi",
        start="idle",
    ),
    Case("smg#1873", "only text", None, "only text", start="idle"),
    Case(
        "vllm-k3-tests next turn",
        f'hm{TO_RESPONSE}hi{C}response{S}{END}{O}message role="user"{S}and?{END}',
        content="hi",
    ),
    Case("vllm-k3-tests bracket", f"hm{TO_RESPONSE}we <3", content="we <3", finish="length"),
    Case("vllm-k3-tests closer", f"hm{TO_RESPONSE}part{C}respon", content="part", finish="length"),
    Case("vllm-k3-tests opener", f"hm{TO_RESPONSE}part{O}", content="part", finish="length"),
    Case("vllm-k3-tests closer, ended", f"hm{TO_RESPONSE}part{C}respon{E}", content="part", finish="stop"),
    Case(
        "frontend-crates#152",
        calling(
            call("on", argument("now", "boolean", "true") + argument("why", "null", "null")),
            call("set", argument("to", "array", '[1, {{"k": 2}}]'), 2),
            content="Both.",
        ),
        content="Both.",
        calls=[("on", '{"now":true,"why":null}'), ("set", '{"to":[1, {"k": 2}]}')],
        finish="tool_calls",
    ),
    Case(
        "vllm#50604",
        calling(call("save", argument("s", "string", 'so "x" \\ \n\tend'))),
        calls=[("save", '{"s":"so \\"x\\" \\\\ \\n\\tend"}')],
    ),
    Case("atom#1727", calling(call("f", argument("s", "string", " \n\t"))), calls=[("f", '{"s":" \\n\\t"}')]),
    Case("atom#1727 empty", calling(call("f", argument("s", "string", ""))), calls=[("f", '{"s":""}')]),
    Case(
        "vllm-smg-units bodies",
        calling(call("f", argument("s", "string", "&quot;a&quot; &amp; <b>"))),
        calls=[("f", '{"s":"&quot;a&quot; &amp; <b>"}')],
    ),
    Case(
        "vllm-smg-units attributes",
        calling(call("a&lt;b<c", argument("x&quot; &amp;amp;quot;", "string", "v"))),
        calls=[("a&lt;b<c", '{"x\\" &amp;quot;":"v"}')],
    ),
    Case(
        "vllm-smg-units nameless",
        calling(f'{O}call index="1"{S}{argument("k", "string", "v")}{C}call{S}', call("b", index=2)),
        calls=[("b", "{}")],
    ),
    Case(
        "vllm-smg-units indices",
        calling(call("a", index=3), call("b", index=3)),
        calls=[("a", "{}"), ("b", "{}")],
    ),
    Case(
        "vllm-smg-units typeless",
        calling(call("f", f'{O}argument key="k"{S}7{C}argument{S}' + argument("l", "", "8"))),
        calls=[("f", '{"k":"7","l":"8"}')],
    ),
    Case(
        "colibri#1143",
        calling(
            call(
                "f",
                argument("a", "number", "3E5")
                + argument("b", "number", "2.0")
                + argument("c", "integer", "1" * 25),
            )
        ),
        calls=[("f", '{"a":3E5,"b":2.0,"c":' + "1" * 25 + "}")],
    ),
    Case(
        "value-fallback",
        calling(
            call(
                "f",
                argument("a", "number", "some 4")
                + argument("b", "object", "{{x")
                + argument("c", "number", "NaN"),
            )
        ),
        calls=[("f", '{"a":"some 4","b":"{x","c":"NaN"}')],
    ),
    Case(
        "json-block",
        calling(call("f", f'{O}json type="object"{S}{{{{ "z": 1,"a":[ ] }}}}{C}json{S}')),
        calls=[("f", '{ "z": 1,"a":[ ] }')],
    ),
    Case(
        "recovery argument",
        calling(f'{O}call tool="f" index="1"{S}{O}argument key="k" type="string"{S}v{C}call{S}'),
        calls=[("f", '{"k":"v"}')],
    ),
    Case(
        "recovery message",
        f"hm{TO_RESPONSE}{C}response{S}{O}tools{S}{call('f')}{E}",
        calls=[("f", "{}")],
        finish="tool_calls",
    ),
    Case(
        "recovery open call",
        f'hm{TO_RESPONSE}{O}tools{S}{O}call tool="f" index="1"{S}{argument("k", "string", "v")}{E}',
    ),
    Case(
        "recovery cut",
        f"hm{TO_RESPONSE}{C}response{S}{O}tools{S}{call('f')}"
        f'{O}call tool="g" index="2"{S}{O}argument key="k" type="string"{S}cu',
        calls=[("f", "{}")],
        finish="length",
    ),
    Case("smg-nesting bare", f"hm{TO_RESPONSE}{C}response{S}{call('f')}{END}", calls=[("f", "{}")]),
    Case(
        "smg-nesting twice",
        f"hm{TO_RESPONSE}{C}response{S}{tools(call('f'))}{tools(call('g'))}{END}",
        calls=[("f", "{}"), ("g", "{}")],
    ),
    Case("smg-nesting noise", calling("so ", call("f"), " and "), calls=[("f", "{}")]),
    Case("sglang#39583", calling(call("f"), content="hi"), content="hi", declared=False, finish="stop"),
    Case("kvv", calling(call("f"), content="\n \n"), calls=[("f", "{}")]),
    Case(
        "kvv noise",
        f"hm{TO_RESPONSE}x{C}response{S} \n {tools(call('f'))}\n{C}message{S}{E}",
        content="x",
        calls=[("f", "{}")],
    ),
    Case("unknown-name", calling(call("no_such_tool")), calls=[("no_such_tool", "{}")]),
    Case(
        "utf-8",
        f"漢字 🦦{TO_RESPONSE}👩‍👩 é{C}response{S}"
        + tools(call("f", argument("k", "string", "ü🦦\n")))
        + END,
        "漢字 🦦",
        "👩‍👩 é",
        [("f", '{"k":"ü🦦\\n"}')],
    ),
    Case(
        "sglang#33019",
        calling(call("f", argument("k", "string", "v"), 7), call("g", index=8)),
        calls=[("f", '{"k":"v"}'), ("g", "{}")],
    ),
]
SPELLED = {"open": O, "close": C, "sep": S, "end": E, "sep-": S[:-2]}


def ordinary(text: str) -> list[tuple[bool, str]]:
    """Pieces of (whether specials count, text): what stands in braces is spelled in ordinary tokens."""
    pieces: list[tuple[bool, str]] = []
    text = text.replace("{{", "\0").replace("}}", "\1")
    for number, piece in enumerate(text.replace("}", "{").split("{")):
        pieces.append((number % 2 == 0, SPELLED[piece] if number % 2 else piece))
    return [(special, piece.replace("\0", "{").replace("\1", "}")) for special, piece in pieces]


def read(turn: ParsedTurn) -> tuple[object, ...]:
    return turn.reasoning, turn.content, [(one.name, one.arguments) for one in turn.calls]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_as_tokens(case: Case, tokenizer: Tokenizer) -> None:
    ids = [
        token for special, piece in ordinary(case.text) for token in tokenizer.encode(piece, special=special)
    ]
    turn = parse(ids, start=case.start, tools_declared=case.declared, tokenizer=tokenizer)
    assert read(turn) == (case.reasoning, case.content, case.calls)
    assert case.finish in (None, turn.finish)


@pytest.mark.parametrize(
    "case", [case for case in CASES if len(ordinary(case.text)) == 1], ids=lambda case: case.id
)
@pytest.mark.parametrize("size", [1, 3, 7, 1 << 20])
def test_as_text_in_chunks(case: Case, size: int) -> None:
    ((_, text),) = ordinary(case.text)
    parser = TurnParser(start=case.start, tools_declared=case.declared)
    for at in range(0, len(text), size):
        parser.push_text(text[at : at + size])
    parser.finish()
    assert read(parser.turn()) == (case.reasoning, case.content, case.calls)
    assert case.finish in (None, parser.turn().finish)


def test_every_report_of_the_table_has_a_case() -> None:
    assert __doc__ is not None
    named = [
        name for line in __doc__.splitlines()[6:] for name in line.split("|")[1].replace(" ", "").split(",")
    ]
    tested = {case.id.split()[0] for case in CASES} | {"free-claude-code#1572"}
    assert sorted(set(named)) == sorted(tested)


def test_a_skipped_think_channel_can_stay_reasoning() -> None:
    """sglang#33995, where taking it for the answer is opt-in."""
    turn = parse(f"Oslo.{C}response{S}{END}", start="think", skipped_think="reasoning")
    assert (turn.reasoning, turn.content) == ("Oslo.", None)


def test_a_long_string_streams() -> None:
    """vllm#50604: the name first, then the string as it comes."""
    parser = TurnParser(start="response")
    events = parser.push_text(f'{O}tools{S}{O}call tool="save" index="1"{S}')
    assert events == [CallOpened(0, "save")]
    events = parser.push_text(f'{O}argument key="s" type="string"{S}so "x')
    assert "".join(event.json for event in events if isinstance(event, ArgumentPiece)) == '{"s":"so \\"x'
    assert parser.push_text("yz") == [ArgumentPiece(0, "s", "yz", "yz")]


def test_the_first_text_is_an_event_at_once() -> None:
    """vllm-plugin-das#122."""
    assert TurnParser(start="response").push_text("A") == [ContentPiece("A")]
    assert TurnParser(start="think").push_text("A") == [ReasoningPiece("A")]


def test_all_calls_of_one_delta_are_events() -> None:
    """frontend-crates#152."""
    events: list[TurnEvent] = TurnParser(start="response").push_text(tools(call("f"), call("g"), call("h")))
    assert [event.name for event in events if isinstance(event, CallOpened)] == ["f", "g", "h"]


def test_ids_of_calls_differ_between_turns(tokenizer: Tokenizer) -> None:
    """free-claude-code#1572."""
    ids: list[str] = []
    for step in (1, 2, 1, 2):  # two runs of one session
        reader = TurnReader(tokenizer, start="think", tools_declared=True, step=step, stop=(), taken=ids)
        for token in tokenizer.encode(calling(call("ping")), special=True):
            reader.push(token)
        reader.finish()
        (made,) = reader.message().calls
        ids.append(made.id)
    assert ids == ["ping:1:1", "ping:1:2", "ping:1:3", "ping:1:4"]
