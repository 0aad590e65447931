"""Runs a file of wire-format fixtures: ``python -m kimi_sdk.protocol.check FIXTURES.json TIKTOKEN_MODEL``.

The file has lists ``tokenize``, ``render``, ``parse_k3``, ``parse_k2`` and ``image_tokens``. Prints every
failure, ends with ``N passed, M failed`` and exits with 0 only if nothing failed, 2 if a file cannot be used.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from kimi_sdk.errors import KimiError
from kimi_sdk.protocol.k2_parse import K2TurnParser
from kimi_sdk.protocol.parse import TurnParser
from kimi_sdk.protocol.render import render
from kimi_sdk.protocol.segments import Prompt
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.protocol.turn import (
    ArgumentPiece,
    CallOpened,
    ContentPiece,
    ParsedTurn,
    ReasoningPiece,
    ThinkSkipped,
    TurnEvent,
)
from kimi_sdk.vision.preprocess import plan, token_count

Case: TypeAlias = Mapping[str, Any]
Outcome: TypeAlias = tuple[str, object, object]

CHUNKS = (1, 3, 7, None)
_SIZE = re.compile(r"(\d+)x(\d+)")


def outcomes(fixtures: Case, model: Path) -> Iterator[Outcome]:
    """What was checked: a label, what came out and what was expected. An error is what came out, too."""
    k3 = Tokenizer.load(model)
    k2 = Tokenizer.load(model, family="k2")
    digest = fixtures.get("tiktoken_model_sha256")
    if digest is not None:
        yield "tiktoken model sha256", hashlib.sha256(model.read_bytes()).hexdigest(), digest
    for number, case in enumerate(_cases(fixtures, "tokenize")):
        yield from _guarded(f"tokenize[{number}]", _tokenize(case, k3))
    for number, case in enumerate(_cases(fixtures, "render")):
        yield from _guarded(f"render {case.get('name', number)}", _render(case, k3))
    for number, case in enumerate(_cases(fixtures, "parse_k3")):
        yield from _guarded(f"parse_k3 {case.get('id', number)}", _parse_k3(case, k3))
    for number, case in enumerate(_cases(fixtures, "parse_k2")):
        yield from _guarded(f"parse_k2 {case.get('id', number)}", _parse_k2(case, k2))
    for number, case in enumerate(_cases(fixtures, "image_tokens")):
        yield from _guarded(f"image_tokens[{number}]", _image(case))


def _cases(fixtures: Case, section: str) -> Sequence[Case]:
    cases = fixtures.get(section, [])
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise ValueError(f"{section} of the fixtures must be a list of objects")
    return cases


def _guarded(label: str, checks: Iterator[Outcome]) -> Iterator[Outcome]:
    try:
        for name, got, expected in checks:
            yield f"{label} {name}", got, expected
    except (KimiError, LookupError, TypeError, ValueError, AttributeError) as error:
        yield label, f"{type(error).__name__}: {error}", "no error"


def _digest(ids: Sequence[int]) -> str:
    return hashlib.sha256(json.dumps(list(ids), separators=(",", ":")).encode()).hexdigest()


def _tokenize(case: Case, tokenizer: Tokenizer) -> Iterator[Outcome]:
    text = case["text"] * case.get("repeat", 1)
    for mode, special in (("text", False), ("special", True)):
        ids = tokenizer.encode(text, special=special)
        yield f"{mode} mode decoded", tokenizer.decode(ids), text
        for key, got in (
            (f"ids_{mode}_mode", ids),
            (f"n_ids_{mode}_mode", len(ids)),
            (f"sha256_{mode}_mode", _digest(ids)),
        ):
            if key in case:
                yield key, got, case[key]


def _render(case: Case, tokenizer: Tokenizer) -> Iterator[Outcome]:
    options = dict(case.get("options", {}))
    prompts = options.pop("image_prompts", None)
    if prompts is not None:
        options["images"] = [_size_in(prompt) for prompt in prompts]
    if "gen" in options:
        options["add_generation_prompt"] = options.pop("gen")
    prompt: Prompt = render(case["messages"], **options)
    ids = prompt.encode(tokenizer).ids
    for key, got in (
        ("text", prompt.text),
        ("segments", [[segment.control, segment.text] for segment in prompt.segments]),
        ("ids", ids),
        ("n_ids", len(ids)),
        ("sha256", _digest(ids)),
    ):
        if key in case:
            yield key, got, case[key]


def _size_in(prompt: str) -> tuple[int, int]:
    match = _SIZE.search(prompt)
    if match is None:
        raise ValueError(f"image prompt {prompt!r} names no size")
    return int(match.group(1)), int(match.group(2))


def _parse_k3(case: Case, tokenizer: Tokenizer) -> Iterator[Outcome]:
    modes = case.get("modes", "token text").split()
    expect = case["expect"]

    def parser() -> TurnParser:
        return TurnParser(
            start=case["initial"], tokenizer=tokenizer, tools_declared=case.get("tools_declared", True)
        )

    if "token" in modes:
        ids = case.get("ids")
        if ids is None:
            pieces = case["segments"]
            ids = [token for special, text in pieces for token in tokenizer.encode(text, special=special)]
        yield from _turn("token mode", *_tokens(parser(), ids), expect)
    if "text" in modes:
        for size in CHUNKS:
            yield from _turn(
                f"text mode, chunks of {size or 'all'}", *_text(parser(), case["text"], size), expect
            )


def _parse_k2(case: Case, tokenizer: Tokenizer) -> Iterator[Outcome]:
    expect = case["expect"]

    def parser() -> K2TurnParser:
        return K2TurnParser(start=case["initial"], tokenizer=None, tools=case.get("tools"))

    for size in CHUNKS:
        yield from _turn(
            f"text mode, chunks of {size or 'all'}", *_text(parser(), case["text"], size), expect
        )
    if "ids" in case:
        by_id = K2TurnParser(start=case["initial"], tokenizer=tokenizer, tools=case.get("tools"))
        yield from _turn("token mode", *_tokens(by_id, case["ids"]), expect)


def _tokens(parser: TurnParser | K2TurnParser, ids: Sequence[int]) -> tuple[list[TurnEvent], ParsedTurn]:
    events = [event for token in ids for event in parser.push_token(token)]
    return events + parser.finish(), parser.turn()


def _text(
    parser: TurnParser | K2TurnParser, text: str, size: int | None
) -> tuple[list[TurnEvent], ParsedTurn]:
    step = size or max(1, len(text))
    events = [event for at in range(0, len(text), step) for event in parser.push_text(text[at : at + step])]
    return events + parser.finish(), parser.turn()


def _turn(label: str, events: list[TurnEvent], turn: ParsedTurn, expect: Case) -> Iterator[Outcome]:
    calls = [{"wire_id": call.wire_id, "name": call.name, "arguments": call.arguments} for call in turn.calls]
    got = {
        "reasoning": turn.reasoning,
        "content": turn.content,
        "tool_calls": calls,
        "finish_reason": turn.finish,
    }
    if "tool_calls" in expect:
        for call, wanted in zip(calls, expect["tool_calls"], strict=False):
            for key in set(call) - set(wanted):
                del call[key]
    yield label, {key: got.get(key) for key in expect}, dict(expect)
    yield f"{label}, streamed", _streamed(events, turn), _summed(turn)


def _streamed(events: list[TurnEvent], turn: ParsedTurn) -> object:
    reasoning = content = ""
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for event in events:
        if isinstance(event, ReasoningPiece):
            reasoning += event.text
        elif isinstance(event, ContentPiece):
            content += event.text
        elif isinstance(event, ThinkSkipped):
            reasoning = ""
        elif isinstance(event, CallOpened):
            names[event.index] = event.name
        elif isinstance(event, ArgumentPiece):
            arguments[event.index] = arguments.get(event.index, "") + event.json
    complete = [(call.index, names[call.index], arguments[call.index]) for call in turn.calls]
    return reasoning or None, content or None, complete


def _summed(turn: ParsedTurn) -> object:
    calls = [(call.index, call.name, call.arguments) for call in turn.calls]
    return turn.reasoning, turn.content, calls


def _image(case: Case) -> Iterator[Outcome]:
    size = case["width"], case["height"]
    sizes = plan(size)
    for key, got in (
        ("num_tokens", token_count(size)),
        ("new_w", sizes.resized[0]),
        ("new_h", sizes.resized[1]),
        ("padded_w", sizes.padded[0]),
        ("padded_h", sizes.padded[1]),
    ):
        if key in case:
            yield f"{size[0]}x{size[1]} {key}", got, case[key]


def main(arguments: Sequence[str]) -> int:
    """Runs the check; the exit code is 0 if everything passed, 1 if not, 2 if a file cannot be used."""
    if len(arguments) != 2:
        print("usage: python -m kimi_sdk.protocol.check FIXTURES.json TIKTOKEN_MODEL", file=sys.stderr)
        return 2
    passed = failed = 0
    try:
        fixtures = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        if not isinstance(fixtures, dict):
            raise ValueError("the fixtures must be one JSON object")
        for label, got, expected in outcomes(fixtures, Path(arguments[1])):
            if got == expected:
                passed += 1
            else:
                failed += 1
                print(f"FAILED {label}\n  expected {expected!r:.2000}\n  got      {got!r:.2000}")
    except (KimiError, OSError, ValueError, RecursionError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
