"""Any text, any tokens, any chunks, any cut: no exception, no marker shown, and the pieces are the whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_sdk.protocol import ParsedTurn, Tokenizer, TurnEvent, TurnParser
from kimi_sdk.protocol.k2 import K2TurnParser
from kimi_sdk.protocol.tokenizer import K2_NAMES, K3_NAMES
from kimi_sdk.protocol.turn import ArgumentPiece, CallClosed, CallOpened, TurnFold

Parser: TypeAlias = TurnParser | K2TurnParser

O, C, S, E = "<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"  # noqa: E741
SPELLINGS = sorted({*K3_NAMES.values(), *K2_NAMES.values()})
WORDS = [
    *SPELLINGS,
    "think",
    "response",
    "tools",
    "message",
    'call tool="f" index="1"',
    "functions.f:0",
    '{"a":',
]
WORDS += [
    'argument key="k" type="string"',
    'argument key="k" type="number"',
    "json",
    '"',
    "\\",
    "<",
    "<|",
    "12",
    "é",
    "🦦",
]
MIXED = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=5)), max_size=20).map("".join)
SIZES = st.lists(st.integers(1, 20), min_size=1, max_size=6)
STARTS = st.sampled_from(["think", "response", "idle"])


def by_text(parser: Parser, text: str, sizes: Sequence[int]) -> tuple[list[TurnEvent], ParsedTurn]:
    events: list[TurnEvent] = []
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        events += parser.push_text(text[at : at + size])
        at, number = at + size, number + 1
    return events + parser.finish(), parser.turn()


def by_token(parser: Parser, ids: Sequence[int]) -> tuple[list[TurnEvent], ParsedTurn]:
    events = [event for token in ids for event in parser.push_token(token)]
    return events + parser.finish(), parser.turn()


def check_fold(events: list[TurnEvent], turn: ParsedTurn) -> dict[int, str]:
    """The events add up to the turn; returns the argument text of every call that was begun."""
    fold = TurnFold()
    fold.add(events)
    whole = fold.turn(complete=turn.finish != "length")
    assert (whole.reasoning, whole.content, whole.calls) == (turn.reasoning, turn.content, turn.calls)
    written: dict[int, str] = {}
    for event in events:
        if isinstance(event, CallOpened):
            assert event.index == len(written)
            written[event.index] = ""
        elif isinstance(event, ArgumentPiece):
            assert event.json
            written[event.index] += event.json
        elif isinstance(event, CallClosed):
            assert event.call.arguments == written[event.call.index]
    return written


def parsers(tokenizer: Tokenizer | None, start: str, declared: bool = True) -> Parser:
    if tokenizer is not None and tokenizer.family == "k2":
        return K2TurnParser(start=start, tokenizer=tokenizer, tools_declared=declared)  # type: ignore[arg-type]
    return TurnParser(start=start, tokenizer=tokenizer, tools_declared=declared)  # type: ignore[arg-type]


@settings(max_examples=200)
@given(MIXED, STARTS, SIZES, st.booleans())
@pytest.mark.parametrize("kind", [TurnParser, K2TurnParser])
def test_any_text(
    kind: Callable[..., Parser], text: str, start: str, sizes: list[int], declared: bool
) -> None:
    events, turn = by_text(kind(start=start, tools_declared=declared), text, sizes)
    check_fold(events, turn)
    assert turn == by_text(kind(start=start, tools_declared=declared), text, [1 << 20])[1]
    assert declared or not turn.calls


@settings(max_examples=200)
@given(st.data(), STARTS, st.booleans())
@pytest.mark.parametrize("family", ["k3", "k2"])
def test_any_tokens(
    tokenizer: Tokenizer,
    k2_tokenizer: Tokenizer,
    family: str,
    data: st.DataObject,
    start: str,
    declared: bool,
) -> None:
    own = tokenizer if family == "k3" else k2_tokenizer
    token = st.one_of(st.integers(0, own.vocab_size - 1), st.integers(own.base_size, own.base_size + 24))
    pieces = data.draw(st.lists(st.one_of(token.map(lambda one: [one]), MIXED.map(own.encode)), max_size=20))
    ids = [one for piece in pieces for one in piece]
    check_fold(*by_token(parsers(own, start, declared), ids))


PLAIN = st.text(st.one_of(st.sampled_from('<|>/ \n"\\{}&é漢🦦'), st.characters(codec="utf-8")), max_size=12)
PLAIN = PLAIN.filter(lambda text: "<|" not in text and "think>" not in text and "\ufffd" not in text)
VALUES = st.one_of(
    PLAIN.map(lambda text: ("string", text)),
    st.integers().map(lambda number: ("number", str(number))),
    st.dictionaries(PLAIN, PLAIN, max_size=2).map(
        lambda value: ("object", json.dumps(value, ensure_ascii=False))
    ),
)


@dataclass(frozen=True)
class Turn:
    """A well-formed turn as it is written, and what it says."""

    text: str
    reasoning: str
    content: str
    arguments: list[str]


@st.composite
def k3_turns(draw: st.DrawFn) -> Turn:
    reasoning, content = draw(PLAIN), draw(PLAIN)
    calls = draw(st.lists(st.dictionaries(st.sampled_from("abc"), VALUES, max_size=2), max_size=2))
    wire, arguments = [], []
    for number, call in enumerate(calls, 1):
        elements = (
            f'{O}argument key="{key}" type="{kind}"{S}{text}{C}argument{S}'
            for key, (kind, text) in call.items()
        )
        wire.append(f'{O}call tool="f" index="{number}"{S}{"".join(elements)}{C}call{S}')
        spelled = (
            f'"{key}":{json.dumps(text, ensure_ascii=False) if kind == "string" else text}'
            for key, (kind, text) in call.items()
        )
        arguments.append("{" + ",".join(spelled) + "}")
    tools = f"{O}tools{S}{''.join(wire)}{C}tools{S}" if wire else ""
    answer = f"{O}response{S}{content}{C}response{S}"
    return Turn(f"{reasoning}{C}think{S}{answer}{tools}{C}message{S}{E}", reasoning, content, arguments)


@st.composite
def k2_turns(draw: st.DrawFn) -> Turn:
    reasoning, content = draw(PLAIN), draw(PLAIN)
    objects = st.dictionaries(PLAIN, st.one_of(PLAIN, st.integers()), max_size=2)
    arguments = [json.dumps(value, ensure_ascii=False) for value in draw(st.lists(objects, max_size=2))]
    calls = "".join(
        f"<|tool_call_begin|>functions.f:{number}<|tool_call_argument_begin|>{text}<|tool_call_end|>"
        for number, text in enumerate(arguments)
    )
    section = f"<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>" if arguments else ""
    return Turn(f"{reasoning}</think>{content}{section}<|im_end|>", reasoning, content, arguments)


def check_cut(turn: Turn, got: ParsedTurn, written: dict[int, str], *, whole: bool) -> None:
    """What a cut turn shows is the beginning of what the whole turn says."""
    reasoning, content = got.reasoning or "", got.content or ""
    if whole:
        blank = bool(turn.arguments) and not turn.content.strip()
        assert (reasoning, content) == (turn.reasoning, "" if blank else turn.content)
        assert [call.arguments for call in got.calls] == turn.arguments
        return
    # A lone angle bracket at the very end is text, by rule, though it may have begun a marker.
    assert turn.reasoning.startswith(reasoning) or turn.reasoning.startswith(reasoning.removesuffix("<"))
    assert turn.content.startswith(content) or turn.content.startswith(content.removesuffix("<"))
    assert [call.arguments for call in got.calls] == turn.arguments[: len(got.calls)]
    for index, text in written.items():
        assert turn.arguments[index].startswith(text) or turn.arguments[index].startswith(
            text.removesuffix("<")
        )


@settings(max_examples=250)
@given(st.data(), SIZES)
@pytest.mark.parametrize("family", ["k3", "k2"])
def test_a_turn_cut_anywhere_shows_no_marker(
    tokenizer: Tokenizer, k2_tokenizer: Tokenizer, family: str, data: st.DataObject, sizes: list[int]
) -> None:
    own, turns = (tokenizer, k3_turns()) if family == "k3" else (k2_tokenizer, k2_turns())
    turn = data.draw(turns)
    cut = data.draw(st.integers(0, len(turn.text)))
    for length in (cut, len(turn.text)):
        kind = TurnParser if family == "k3" else K2TurnParser
        events, got = by_text(kind(start="think"), turn.text[:length], sizes)
        check_cut(turn, got, check_fold(events, got), whole=length == len(turn.text))
    ids = own.encode(turn.text, special=True)
    for count in (min(cut, len(ids)), len(ids)):
        events, got = by_token(parsers(own, "think"), ids[:count])
        check_cut(turn, got, check_fold(events, got), whole=count == len(ids))


LONG = 100_000
K3_VALUE = f'{O}call tool="f"{S}{O}argument key="k"{S}'
K2_VALUE = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("kind", "head", "unit", "size"),
    [
        (TurnParser, "", S, 1 << 30),
        (TurnParser, K3_VALUE, O, 1 << 30),
        (TurnParser, "", " ", 1),
        (K2TurnParser, "x", "<think>", 1 << 30),
        (K2TurnParser, "", " ", 1),
        (K2TurnParser, K2_VALUE, " ", 1),
    ],
)
def test_long_disorder_takes_linear_time(
    kind: Callable[..., Parser], head: str, unit: str, size: int
) -> None:
    check_fold(*by_text(kind(start="response"), head + unit * LONG, [size]))
