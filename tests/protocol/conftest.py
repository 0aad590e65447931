"""A small tokenizer of the real format, so that the wire format is tested without any download."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest

from kimi_sdk.protocol import Tokenizer

WORDS = (
    b" t",
    b"he",
    b" the",
    b"in",
    b"me",
    b"ss",
    b"mess",
    b"age",
    b"message",
    b"th",
    b"think",
    b"\xe6\xbc",
    b"<|",
)


def rank_lines(words: tuple[bytes, ...] = WORDS) -> bytes:
    tokens = [bytes((value,)) for value in range(256)] + list(words)
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tokenizer")
    (place / "tiktoken.model").write_bytes(rank_lines())
    (place / "tokenizer_config.json").write_text(json.dumps({"special_slots": 64}))
    return place


@pytest.fixture(scope="session")
def tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.load(folder)


@pytest.fixture(scope="session")
def k2_tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.load(folder, family="k2")


@pytest.fixture(scope="session")
def real_tokenizer() -> Tokenizer:
    path = os.environ.get("KIMI_TIKTOKEN")
    if not path:
        pytest.skip("KIMI_TIKTOKEN names no rank file")
    return Tokenizer.load(path)
