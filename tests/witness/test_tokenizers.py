"""The bundled vocabulary as tiktoken and Hugging Face tokenizers read it: the same ids of any text."""

from __future__ import annotations

import importlib.util
import unicodedata
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kimi_sdk.engine.config import K3Config
from kimi_sdk.export import vocabulary
from kimi_sdk.protocol.tokenizer import PATTERN, Tokenizer
from kimi_sdk.source import BUNDLED

MINI = BUNDLED / "k3-mini"
WORDS = [
    "Hello",
    " world",
    "'s",
    "'LL",
    " 12345",
    "\r\n\n",
    "\t ",
    "中文",
    "混合",
    "naïve",
    " ",
    "{}();",
    "É",
    "\u0301",
]
TEXTS = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=12).map("".join)


@cache
def ours() -> Tokenizer:
    return Tokenizer.load(MINI)


@cache
def by_tiktoken() -> Any:
    """tiktoken's own reading of the rank file, with the special names of the model card."""
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(str(MINI / "tiktoken.model"))
    specials = {
        "<|end_of_msg|>": len(ranks) + 2,
        "<|open|>": len(ranks) + 3,
        "<|media_pad|>": len(ranks) + 21,
    }
    return tiktoken.Encoding("witness", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=specials)


@cache
def by_merges() -> Any:
    """Another implementation of byte-pair merging, over the merges that an export writes."""
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers import Regex, models, pre_tokenizers

    keys: Any = vocabulary(ours(), K3Config.load(MINI))
    tokens = keys["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in keys["tokenizer.ggml.merges"]]
    model = models.BPE(vocab={token: at for at, token in enumerate(tokens)}, merges=merges)
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return made


@given(TEXTS)
@example("<|open|>")
@settings(max_examples=200)
def test_tiktoken(text: str) -> None:
    ids = ours().encode(text)
    assert ids == by_tiktoken().encode_ordinary(text)
    assert by_tiktoken().decode_bytes(ids) == text.encode()
    assert ours().decode(ids) == text


def test_special_ids() -> None:
    for name in ("<|end_of_msg|>", "<|open|>", "<|media_pad|>"):
        assert ours().encode(name, special=True) == by_tiktoken().encode(name, allowed_special="all")


@pytest.mark.skipif(importlib.util.find_spec("tokenizers") is None, reason="tokenizers is not installed")
@given(TEXTS.filter(lambda text: all(unicodedata.category(char) != "Cn" for char in text)))
@settings(max_examples=200)
def test_merging_by_pairs(text: str) -> None:
    """Unassigned characters are left out: two libraries need not know the same edition of Unicode."""
    assert ours().encode(text) == by_merges().encode(text, add_special_tokens=False).ids
