"""What the token mask lets through, judged by the jsonschema package: any walk under it gives valid JSON."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from kimi_sdk.output import JsonSchema
from kimi_sdk.protocol.grammar import TurnGrammar
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.source import BUNDLED

SCHEMAS: dict[str, dict[str, Any]] = {
    "object": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 8},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "tags": {"type": "array", "items": {"enum": ["a", "b", 3]}, "maxItems": 3},
        },
        "required": ["name", "age"],
        "additionalProperties": False,
    },
    "alternatives": {
        "anyOf": [
            {"type": "object", "properties": {"kind": {"const": "x"}}, "required": ["kind"]},
            {
                "type": "array",
                "items": {"type": "number", "exclusiveMinimum": -1, "maximum": 1},
                "minItems": 1,
            },
        ]
    },
    "recursive": {
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {"v": {"type": "boolean"}, "next": {"$ref": "#/$defs/tree"}},
                "required": ["v"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/tree",
    },
    "pattern": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
    "nullable": {"type": ["null", "integer"], "minimum": 10, "maximum": 12},
}


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.load(BUNDLED / "k3-mini")


def walk(grammar: TurnGrammar, seed: int) -> str | None:
    """The text of one random turn; None where chance would not end it."""
    draw, mask = random.Random(seed), grammar.matcher()
    row = torch.zeros((tokenizer().vocab_size + 31) // 32, dtype=torch.int32)
    ends = [tokenizer().encode(sign)[0] for sign in '"}]'] + [tokenizer().end_of_msg_id]
    ids: list[int] = []
    while not mask.finished:
        row.fill_(-1)
        mask.fill(row)
        bits = np.unpackbits(row.numpy().view(np.uint8), bitorder="little")
        allowed = bits.nonzero()[0].tolist()
        closing = [token for token in ends if token in allowed]
        token = draw.choice(closing) if closing and draw.random() < 0.3 else draw.choice(allowed)
        mask.accept(token)
        ids.append(token)
        if len(ids) > 300:
            return None
    return tokenizer().decode(token for token in ids if token < tokenizer().base_size)


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_whatever_the_mask_allows_is_valid(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = SCHEMAS[name]
    judge = jsonschema.Draft202012Validator(schema)
    grammar = TurnGrammar.build(tokenizer(), start="text", output=JsonSchema(schema))
    texts = [text for text in (walk(grammar, seed) for seed in range(12)) if text is not None]
    assert len(texts) >= 4
    for text in texts:
        judge.validate(json.loads(text))
