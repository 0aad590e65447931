"""Trains the 8k byte-level BPE of k3-mini and writes it in tiktoken's format.

    python -m training.tokenizer [FOLDER]

The text is what the model will see (generated conversations with their tool declarations) and broad English
(the packaged dictionary), so that unseen words split sensibly. Numbers are cut digit by digit while merges
are learnt; so there is no token of two digits, and the unchanged K3 pattern yields single digits at run time.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from kimi_sdk.messages import Message, Reasoning, Text, ToolCall, ToolResult
from kimi_sdk.protocol.tokenizer import PATTERN
from training.data.encode import EFFORT, FORMAT, compact, wire
from training.data.mix import FAMILIES, STAGES
from training.data.sample import Sample
from training.data.shipped import dictionary_entries

VOCABULARY, SLOTS = 8192, 64
FOLDER = Path("kimi_sdk/checkpoints/k3-mini")


def texts_of(sample: Sample) -> Iterator[str]:
    """The text segments of a conversation, as the renderer would cut them."""
    if sample.tools:
        yield compact(sample.tools)
    if sample.response_format is not None:
        yield compact(sample.response_format["json_schema"]["schema"])
    for message in sample.messages:
        yield from _texts(message)


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, (Text, Reasoning, ToolResult)):
            yield part.text
        elif isinstance(part, ToolCall):
            yield part.name
            for key, value in part.args.items():
                yield key
                yield wire(value)[1]


def corpus(conversations: int, seed: int = 0) -> Iterator[str]:
    """Generated conversations, then the dictionary's words and definitions."""
    rng = random.Random(seed)
    names, weights = list(STAGES["main"]), list(STAGES["main"].values())
    for _ in range(conversations):
        family = rng.choices(names, weights)[0]
        yield from texts_of(FAMILIES[family](rng, False))
    yield from [EFFORT.format(effort) for effort in ("low", "high", "max")] * 20
    yield from [FORMAT] * 50
    for tag in [
        "message",
        "role",
        "system",
        "user",
        "assistant",
        "tool",
        "tool-declare",
        "thinking-effort",
        "tool-choice",
        "response-format",
    ]:
        yield from [tag, f" {tag}"] * 200
    for tag in [
        "think",
        "response",
        "tools",
        "call",
        "argument",
        "key",
        "type",
        "string",
        "number",
        "boolean",
        "index",
        "image",
    ]:
        yield from [tag, f" {tag}", '="', '"'] * 200
    for word, definition in dictionary_entries():
        yield f"{word}: {definition}"


def train(conversations: int = 6000) -> list[bytes]:
    """Base tokens in rank order."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    pattern = PATTERN.replace(r"\p{N}{1,3}", r"\p{N}")
    assert pattern != PATTERN
    model = Tokenizer(models.BPE())
    model.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(expanded(pattern)), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - SLOTS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        limit_alphabet=256,
    )
    model.train_from_iterator(corpus(conversations), trainer)
    described = json.loads(model.to_str())["model"]
    letters = byte_letters()
    ranks = [bytes([value]) for value in range(256)]
    seen = set(ranks)
    for merge in described["merges"]:
        left, right = merge if isinstance(merge, list) else merge.split(" ")
        token = bytes(letters[char] for char in left + right)
        if token not in seen:
            seen.add(token)
            ranks.append(token)
    return ranks


def expanded(pattern: str) -> str:
    """The pattern without class intersections, for a regex engine that has none."""
    return pattern.replace("&&[^\\p{Han}]", "")


def byte_letters() -> dict[str, int]:
    """Which byte each letter of the byte-level alphabet stands for."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [value for value in range(256) if value not in visible]
    letters = {chr(value): value for value in visible}
    letters.update({chr(256 + index): value for index, value in enumerate(others)})
    return letters


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    ranks = train()
    lines = [f"{base64.b64encode(token).decode()} {rank}" for rank, token in enumerate(ranks)]
    (folder / "tiktoken.model").write_text("\n".join(lines) + "\n", encoding="ascii")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"special_slots": SLOTS}) + "\n", encoding="ascii"
    )
    print(f"{len(ranks)} base tokens, {SLOTS} special slots -> {folder}")


if __name__ == "__main__":
    main()
