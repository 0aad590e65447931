"""Conversations full of text that spells special tokens, and checks that none of it becomes one.

``python tests/protocol/injection.py [COUNT] [TIKTOKEN_MODEL]`` runs COUNT of them (10,000) for K3 and for K2.
Every conversation is rendered twice: with hostile text in every place that takes text, and with harmless
text. Both prompts must hold the same control ids in the same order. Then the hostile answer is parsed back.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kimi_sdk
from kimi_sdk.protocol import Prompt, Tokenizer, parse, render
from kimi_sdk.protocol.k2 import parse_k2, render_k2
from kimi_sdk.protocol.tokenizer import K2_NAMES, K3_NAMES

VARIANTS = ("k2-early", "k2", "kimi-linear", "k2-thinking", "k2.5", "k2.6")
FRAGMENTS = (
    *K3_NAMES.values(), *K2_NAMES.values(), "<|reserved_token_163700|>", "<|kimi_image_placeholder|>",
    "<|kimi_k25_video_placeholder|>", "<|tool_call_section_begin|>", "<|media_start|>", "<|im_start|>",
    'message role="system"', ' role="', "message", "think", "response", "tools", 'call tool="rm" index="1"',
    'argument key="k" type="string"', "functions.rm:0", "system", "image 1x1", "```", '{"a":1}', '"',
    "&quot;", "&amp;", "<", "|", ">", "<|", "|>", " ", "\n", "é", "漢", "🦦", "word", "\u2028", "\x00",
)  # fmt: skip


class Hostile:
    """Texts made of special spellings, whole, cut and joined."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.count = 0

    def __call__(self) -> str:
        self.count += 1
        rng = self._rng
        pieces = rng.choices(FRAGMENTS, k=rng.randint(1, 6))
        if rng.random() < 0.3:
            at = rng.randrange(len(pieces))
            pieces[at] = pieces[at][rng.randint(0, 3) :]
        return "".join(pieces)


def harmless() -> str:
    return "x"


@dataclass
class Conversation:
    """Messages and options; ``rng`` decides the form, ``text`` what is said, so that twins have one form."""

    rng: random.Random
    text: Callable[[], str]
    k2: bool
    messages: list[dict[str, Any]] = field(default_factory=list)
    images: list[tuple[int, int]] = field(default_factory=list)
    names: int = 0

    def build(self) -> Prompt:
        rng, text = self.rng, self.text
        tools = [self._tool() for _ in range(rng.randint(0, 2))]
        for _ in range(rng.randint(0, 2)):
            self.messages.append({"role": "system", "content": text(), "name": text()})
        if not self.k2 and rng.random() < 0.3:
            self.messages.append({"role": "system", "tools": [self._tool()]})
        for _ in range(rng.randint(1, 2)):
            self.messages.append({"role": "user", "content": self._content(), "name": text()})
            self._answer()
        last = self.messages[-1]
        if last["role"] == "assistant" and not last["tool_calls"] and rng.random() < 0.5:
            last["partial"] = True
        options: dict[str, Any] = {"tools": tools, "thinking": rng.random() < 0.7}
        options["images"] = self.images
        if self.k2:
            return render_k2(self.messages, variant=rng.choice(VARIANTS), **options)
        form = rng.choice(("text", "json_object", "json_schema"))
        options["response_format"] = {
            "type": form,
            "json_schema": {"name": text(), "schema": {text(): text()}},
        }
        options["tool_choice"] = "none"
        return render(self.messages, **options)

    def _tool(self) -> dict[str, Any]:
        self.names += 1
        schema = {
            "type": "object",
            "properties": {self.text(): {"type": "string", "description": self.text()}},
        }
        return {
            "type": "function",
            "function": {
                "name": f"t{self.names}{self.text()}",
                "description": self.text(),
                "parameters": schema,
            },
        }

    def _content(self) -> Any:
        if self.rng.random() < 0.5:
            return self.text()
        parts: list[Any] = []
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.choice(("text", "plain", "image"))
            if kind == "image":
                self.images.append((self.rng.randint(1, 900), 20))
                parts.append({"type": "image_url", "image_url": {"url": self.text()}})
            else:
                parts.append({"type": "text", "text": self.text()} if kind == "text" else self.text())
        return parts

    def _answer(self) -> None:
        rng, text = self.rng, self.text
        ids = [f"{number}{text()}" for number in range(rng.randint(0, 2))]
        calls = [
            {"id": one, "function": {"name": f"n{text()}", "arguments": self._arguments()}} for one in ids
        ]
        said = {"role": "assistant", "content": text(), "name": text(), "tool_calls": calls}
        self.messages.append({**said, "reasoning_content": text()})
        rng.shuffle(ids)
        for one in ids:
            self.messages.append(
                {"role": "tool", "tool_call_id": one, "content": self._content(), "name": text()}
            )

    def _arguments(self) -> Any:
        text = self.text
        given = {f"{n}{text()}": self.rng.choice((text(), {text(): [text()]})) for n in range(2)}
        form = self.rng.choice(("dict", "text", "broken"))
        if form == "dict":
            return given
        return json.dumps(given) if form == "text" else '{"' + text()


def check(seed: int, k3: Tokenizer, k2: Tokenizer) -> int:
    """One conversation, as K3 and K2: how many hostile texts it held; AssertionError if one got through."""
    injected = 0
    for tokenizer in (k3, k2):
        is_k2 = tokenizer.family == "k2"
        hostile = Hostile(random.Random(~seed))
        evil = Conversation(random.Random(seed), hostile, is_k2)
        twin = Conversation(random.Random(seed), harmless, is_k2)
        placed, expected = (
            [token for token in one.build().encode(tokenizer).ids if token >= tokenizer.base_size]
            for one in (evil, twin)
        )
        assert placed == expected, f"seed {seed}, {tokenizer.family}: {evil.messages!r}"
        for message in evil.messages:
            if message["role"] == "assistant" and not message.get("partial"):
                (_read_k2 if is_k2 else _read)(message, tokenizer)
        injected += hostile.count
    return injected


def _read(message: dict[str, Any], tokenizer: Tokenizer) -> None:
    """The answer, written down as history, is read back as it was."""
    prompt = render([message], effort=None, add_generation_prompt=False).encode(tokenizer)
    turn = parse(prompt.ids, start="idle", tokenizer=tokenizer)
    assert turn.reasoning == _said(message["reasoning_content"], True), message
    assert turn.content == _said(message["content"], bool(turn.calls)), message
    assert [call.name for call in turn.calls] == [one["function"]["name"] for one in message["tool_calls"]]
    for call, one in zip(turn.calls, message["tool_calls"], strict=True):
        given = one["function"]["arguments"]
        if isinstance(given, str) and call.args is None:
            assert call.arguments == given, message
        else:
            assert call.args == (json.loads(given) if isinstance(given, str) else given), message


def _read_k2(message: dict[str, Any], tokenizer: Tokenizer) -> None:
    prompt = render_k2([message], variant="k2.5", add_generation_prompt=False).encode(tokenizer)
    start = prompt.ids.index(tokenizer.special("<|im_middle|>")) + 1
    turn = parse_k2(prompt.ids[start:], start="content", tokenizer=tokenizer)
    # Singular section markers have no id: their spelling in content or in a thought counts.
    if "<|tool_call_section" not in json.dumps(message):
        final = not message["tool_calls"]
        assert turn.reasoning == (None if final else message["reasoning_content"] or None), message
        assert turn.content == _said(message["content"], bool(turn.calls)), message


def _said(text: str, blank_is_nothing: bool) -> str | None:
    return None if not text or (blank_is_nothing and not text.strip()) else text


def bundled() -> tuple[Tokenizer, Tokenizer]:
    """The tokenizer of the bundled checkpoint, with K3's and with K2's special names."""
    folder = Path(kimi_sdk.__file__).parent / "checkpoints" / "k3-mini"
    return Tokenizer.load(folder, family="k3"), Tokenizer.load(folder, family="k2")


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else 10_000
    k3, k2 = bundled()
    if len(arguments) > 1:
        k3, k2 = (Tokenizer.load(arguments[1], family=family) for family in ("k3", "k2"))
    injected = sum(check(seed, k3, k2) for seed in range(count))
    sys.stdout.write(
        f"{injected} texts in {count} conversations for K3 and K2: none became a control token\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
