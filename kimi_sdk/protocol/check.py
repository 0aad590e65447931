"""Runs a file of wire-format fixtures: ``python -m kimi_sdk.protocol.check FIXTURES.json TIKTOKEN_MODEL``.

The file has lists ``tokenize``, ``render``, ``parse_k3``, ``parse_k2`` and ``image_tokens``. Prints every
failure, ends with ``N passed, M failed`` and exits with 0 only if nothing failed, 2 if a file cannot be used.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from kimi_sdk.errors import ConfigError, KimiError
from kimi_sdk.protocol.k2_parse import K2TurnParser
from kimi_sdk.protocol.k2_render import render_k2
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
from kimi_sdk.vision.preprocess import MediaLimits, plan, token_count

Case: TypeAlias = Mapping[str, Any]
Outcome: TypeAlias = tuple[str, object, object]
Parser: TypeAlias = TurnParser | K2TurnParser

CHUNKS = (1, 3, 7, None)
_SIZE = re.compile(r"(\d+)x(\d+)")
_LIMITS = {"in_patch_limit": "patches", "patch_limit_on_one_side": "side"}


def outcomes(fixtures: Case, model: Path) -> Iterator[Outcome]:
    """What was checked: a label, what came out and what was expected. An error is what came out, too."""
    k3 = Tokenizer.load(model, family="k3")
    k2 = Tokenizer.load(model, family="k2")
    digest = fixtures.get("tiktoken_model_sha256")
    if digest is not None:
        yield "tiktoken model sha256", hashlib.sha256(model.read_bytes()).hexdigest(), digest
    for number, case in enumerate(_cases(fixtures, "tokenize")):
        yield from _guarded(f"tokenize[{number}]", _tokenize(case, k3))
    for number, case in enumerate(_cases(fixtures, "render")):
        label = f"render {case.get('name', number)}"
        if "error" in case:
            yield label, _refusal(case), "an error" if case["error"] else "no error"
        else:
            yield from _guarded(label, _render(case, k3, k2))
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
    text = case.get("prefix", "") + case["text"] * case.get("repeat", 1) + case.get("suffix", "")
    for mode, special in (("text", False), ("special", True)):
        ids = tokenizer.encode(text, special=special)
        # No encoding can hold half of a surrogate pair.
        yield f"{mode} mode decoded", tokenizer.decode(ids), _whole_characters(text)
        # A key without a mode is about special mode.
        endings = (f"_{mode}_mode", "") if special else (f"_{mode}_mode",)
        for key, got in (("ids", ids), ("n_ids", len(ids)), ("sha256", _digest(ids))):
            for name in (key + ending for ending in endings):
                if name in case:
                    yield name, got, case[name]


def _whole_characters(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _prompt(case: Case) -> Prompt:
    options = dict(case.get("options") or {})
    prompts = options.pop("image_prompts", None)
    if prompts is not None:
        options["images"] = [_size_in(prompt) for prompt in prompts]
    if "gen" in options:
        options["add_generation_prompt"] = options.pop("gen")
    return (render_k2 if "variant" in options else render)(case["messages"], **options)


def _refusal(case: Case) -> str:
    try:
        _prompt(case)
    except ConfigError:
        return "an error"
    return "no error"


def _render(case: Case, k3: Tokenizer, k2: Tokenizer) -> Iterator[Outcome]:
    prompt = _prompt(case)
    encoded = prompt.encode(k2 if "variant" in (case.get("options") or {}) else k3)
    ids = encoded.ids
    for key, got in (
        ("text", prompt.text),
        ("segments", [[segment.control, segment.text] for segment in prompt.segments]),
        ("ids", ids),
        ("n_ids", len(ids)),
        ("sha256", _digest(ids)),
        ("billed_tokens", encoded.billed_tokens),
        ("start", prompt.start),
    ):
        if key in case:
            yield key, got, case[key]


def _size_in(prompt: str) -> tuple[int, int]:
    match = _SIZE.search(prompt)
    if match is None:
        raise ValueError(f"image prompt {prompt!r} names no size")
    return int(match.group(1)), int(match.group(2))


def _parse_k3(case: Case, tokenizer: Tokenizer) -> Iterator[Outcome]:
    def parser() -> TurnParser:
        return TurnParser(
            start=case["initial"],
            tokenizer=tokenizer,
            tools_declared=case.get("tools_declared", True),
            skipped_think=case.get("skipped_think", "content"),
        )

    yield from _modes(case, tokenizer, parser, parser)


def _parse_k2(case: Case, tokenizer: Tokenizer) -> Iterator[Outcome]:
    def parser(by_id: Tokenizer | None) -> K2TurnParser:
        return K2TurnParser(
            start=case["initial"],
            tokenizer=by_id,
            tools=case.get("tools"),
            tools_declared=case.get("tools_declared", True),
        )

    yield from _modes(case, tokenizer, partial(parser, tokenizer), partial(parser, None))


def _modes(
    case: Case, tokenizer: Tokenizer, by_id: Callable[[], Parser], by_text: Callable[[], Parser]
) -> Iterator[Outcome]:
    modes = case.get("modes", "token text")
    modes = modes.split() if isinstance(modes, str) else modes
    expect = case["expect"]
    ids = case.get("ids")
    if "segments" in case:
        pieces = case["segments"]
        encoded = [token for special, text in pieces for token in tokenizer.encode(text, special=special)]
        if ids is not None:
            yield "segments as ids", encoded, ids
        ids = encoded
    text = case.get("text", "".join(text for _, text in case.get("segments", ())) or None)
    if ids is None and text is None:
        raise ValueError("the case has neither text nor segments nor ids")
    if ids is None and "modes" in case:
        ids = tokenizer.encode(text, special=True)
    if "token" in modes and ids is not None:
        yield from _turn("token mode", *_tokens(by_id(), ids), expect)
    if "text" in modes and text is not None:
        for size in CHUNKS:
            yield from _turn(f"text mode, chunks of {size or 'all'}", *_text(by_text(), text, size), expect)


def _tokens(parser: Parser, ids: Sequence[int]) -> tuple[list[TurnEvent], ParsedTurn]:
    events = [event for token in ids for event in parser.push_token(token)]
    return events + parser.finish(), parser.turn()


def _text(parser: Parser, text: str, size: int | None) -> tuple[list[TurnEvent], ParsedTurn]:
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
    own = {ours: case[key] for key, ours in _LIMITS.items() if key in case}
    limits = MediaLimits(**own)
    sizes = plan(size, limits)
    for key, got in (
        ("num_tokens", token_count(size, limits)),
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
